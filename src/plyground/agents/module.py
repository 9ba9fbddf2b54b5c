"""Torch modules that play: an encoder's observations in, one number for each action out. Nothing is unpickled."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.agents.network import NetworkAgent
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.game import Game, agent_repr
from plyground.models.network import NetworkModel


class ModuleAgent(NetworkAgent):
    """Plays the legal action with the highest output of a module, or samples from the softmax of the outputs."""

    def __init__(self, game: Game, encoder: str, module: nn.Module, name: str, sample: bool = False) -> None:
        view = View(game, encoder)
        super().__init__(NetworkModel(view, Checked(module, view, name)))
        self.name, self.sample = name, sample

    __repr__ = agent_repr

    def __str__(self) -> str:
        return self.name

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        return self.act_by_chance(states, rngs)

    def choose(self, states: Tensor, numbers: Tensor) -> Tensor:
        return self.sample_actions(states, numbers) if self.sample else super().choose(states, numbers)

    def _evaluate(self, rows: Tensor) -> tuple[Tensor, float, bool]:
        return self.network(self.view.observe(rows)), 0.0, False

    def to(self, device: str) -> ModuleAgent:
        """It stays on the CPU: a person's module may not be made for another device."""
        return self


class Checked(nn.Module):
    """A person's module: gets observations in the encoder's own number type, and its outputs are checked."""

    def __init__(self, module: nn.Module, view: View, name: str) -> None:
        super().__init__()
        self.module, self.name, self.actions = module, name, view.game.num_actions
        self.dtype = torch.from_numpy(np.zeros(1, view.game.encoder(view.observed).dtype)).dtype

    def forward(self, x: Tensor) -> Tensor:
        found = self.module(x.to(self.dtype))
        wanted = (len(x), self.actions)
        shape = tuple(getattr(found, "shape", ()))
        if shape != wanted:
            got = shape or type(found).__name__
            raise InvalidValue(
                f"{self.name} maps {tuple(x.shape)} to {wanted}, one number for each action, not to {got}"
            )
        if bool(torch.isnan(found).any()):
            raise InvalidValue(f"{self.name} answers with numbers that are not numbers (NaN)")
        return found.float()


def load_file(module: nn.Module, path: Path) -> None:
    """Fill a module from a safetensors file, or from a state dict that `torch.save` wrote."""
    try:
        if path.suffix == ".safetensors":
            state = safetensors.torch.load_file(path)
        else:
            places = [each.device for each in module.parameters()]  # a GPU's weights may be read without one
            state = torch.load(path, map_location=places[0] if places else None, weights_only=True)
        module.load_state_dict(state)
    except OSError as error:
        raise InvalidValue(f"cannot read weights from {str(path)!r}: {error.strerror or error}") from None
    except Exception as error:  # of many kinds, by torch and safetensors
        if type(error).__name__ == "UnpicklingError":
            what = "it is no state dict, or holds objects that would have to be unpickled"
            raise InvalidValue(f"{path} is refused: {what}; save model.state_dict(), or use safetensors") from None
        why = " ".join(str(error).split())
        raise InvalidValue(f"{path} does not fit {type(module).__name__}: {why}") from None
