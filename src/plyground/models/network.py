"""`NetworkModel`: a torch network as a model, with the view that it has of its game."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.graph import compiled_network
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.models.model import Arrays, Records
from plyground.networks import Network, Valued, copy_weights, count_parameters, describe, inference_copy, make_network

Q_TEMPERATURE = 0.1  # of the softmax over action values that stands for a policy


class NetworkModel:
    """A network of a game's observations, with an output for each action."""

    kind, compiled = "network", False
    spec, folder = "", None

    def __init__(self, view: View, network: Any, word: str = "", dueling: bool = False) -> None:
        """`word` and `dueling` are the network's spec; one that somebody else has made has none."""
        self.view, self.network, self.word, self.dueling = view, network, word, dueling
        self.folder: Path | None = None

    @classmethod
    def make(cls, view: View, word: str, dueling: bool = False) -> NetworkModel:
        """A new network by its spec; weights are drawn from torch's global generator."""
        return cls(view, _make(view, word, dueling).to(view.device), word, dueling)

    @property
    def game(self) -> Game:
        return self.view.game

    @property
    def identity(self) -> dict[str, str]:
        sizes = describe(self.word, self.view.shape, self.view.outputs, self.dueling)
        return {"game": str(self.game), "encoder": str(self.view.encoder), "network": sizes}

    @property
    def words(self) -> str:
        return f"Network {self.word} ({count_parameters(self.network):,} weights) on {self.view.encoder}"

    def code(self) -> dict[str, tuple[Any, ...]]:
        encoder = self.view.encoder
        classes = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in map(type, self.network.modules())}
        shown = encoder.shape, np.dtype(encoder.dtype), encoder.write, encoder.slot, encoder.spread
        return {"encoder": shown, "network": tuple(classes[name] for name in sorted(classes))}

    def evaluator(self) -> NetworkEvaluator:
        """For searches: a copy of the weights as they are now."""
        return NetworkEvaluator(self.view, self.network)

    def judge(self, states: Records) -> NDArray[np.float64]:
        with torch.inference_mode():
            _, values = self.evaluator()(self.view.rows(states))
        return values.double().cpu().numpy()

    def state(self) -> Mapping[str, NDArray[Any]]:
        return {name: values.detach().cpu().numpy() for name, values in self.network.state_dict().items()}

    def load_state(self, state: Arrays) -> None:
        wanted = {name: tuple(values.shape) for name, values in self.network.state_dict().items()}
        there = {name: tuple(values.shape) for name, values in state.items()}
        if wanted != there:
            odd = [f"{name} {there[name]}" for name in there if there[name] != wanted.get(name)]
            raise InvalidValue(f"weights of another network: {', '.join(odd) or 'some tensors are missing'}")
        if odd := [f"{name} {values.dtype}" for name, values in state.items() if values.dtype.kind != "f"]:
            raise InvalidValue(f"weights that are no numbers with fractions: {', '.join(odd)}")
        if any(each.is_meta for each in self.network.parameters()):
            self.network = _make(self.view, self.word, self.dueling).to(self.view.device)
        self.network.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in state.items()})

    def copy(self) -> NetworkModel:
        return NetworkModel(self.view, copy.deepcopy(self.network), self.word, self.dueling)

    def take(self, other: NetworkModel) -> None:
        self.network.load_state_dict(other.network.state_dict())

    def to(self, device: str) -> NetworkModel:
        """The same model on a device."""
        view = View(self.game, str(self.view.encoder), self.view.outputs, device)
        found = NetworkModel(view, self.network.to(view.device), self.word, self.dueling)
        found.spec, found.folder = self.spec, self.folder
        return found


def of_config(config: Mapping[str, Any], game: Game) -> NetworkModel:
    """The network that a run's config describes, without memory yet: config.toml may name one that no memory holds."""
    view = View(game, config["encoder"], config["outputs"])
    word, dueling = config["network"], config.get("dueling", False)
    with torch.device("meta"):
        return NetworkModel(view, _make(view, word, dueling), word, dueling)


def _make(view: View, word: str, dueling: bool) -> Network:
    return make_network(word, view.shape, view.outputs, dueling, view.parts)


class NetworkEvaluator:
    """An `Evaluator` made of a network. On a GPU it is a compiled copy in bfloat16, which `refresh` updates."""

    def __init__(self, view: View, network: Network) -> None:
        self.view, self.copy = view, inference_copy(network)
        self.dtype = next(self.copy.parameters()).dtype
        function = self._with_value if isinstance(network.head, Valued) else self._values_of_actions
        self.function: Callable[..., Any] = compiled_network(view.device_name, function)

    def __call__(self, states: Tensor) -> tuple[Tensor, Tensor]:
        observed = self.view.observe(states).to(self.dtype)
        if isinstance(self.copy.head, Valued):
            return self.function(observed)
        return self.function(observed, self.view.legal(states))

    def _with_value(self, observed: Tensor) -> tuple[Tensor, Tensor]:
        """A network with a value head. The conversion to float32 is compiled with it: no further pass over them."""
        logits, values = self.copy.with_value(observed)
        return logits.float().contiguous(), values.float().contiguous()

    def _values_of_actions(self, observed: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """A network of action values: its softmax is the policy, its best legal action the value."""
        q = self.copy(observed).float()
        best = q.masked_fill(~legal, -math.inf).amax(1).clamp(-1.0, 1.0)
        return (q / Q_TEMPERATURE).contiguous(), best.contiguous()

    def refresh(self, network: Network) -> None:
        """Evaluate with the network's present weights from now on."""
        copy_weights(self.copy, network)
