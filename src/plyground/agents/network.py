"""Networks that play: how a network sees a game, and the agent that plays its best legal action."""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.backend.device import CUDA
from plyground.backend.games import on_gpu
from plyground.errors import InvalidValue, command
from plyground.game import Game
from plyground.networks import describe, make_network
from plyground.runs.directory import Checkpoint, find_checkpoint, game_of, read_config

Records = NDArray[np.void]


class View:
    """What a network sees of states, and which of its outputs stands for which action.

    It may have fewer outputs than there are actions: the others are then never played. An encoder that turns the board
    for a seat turns the actions too. States on the GPU, rows of bytes, are seen there, and all answers stay there.
    """

    def __init__(self, game: Game, encoder: str, outputs: int = 0, device: str = "cpu") -> None:
        self.game, self.encoder = game, game.encoder(encoder)
        self.uses_gpu, self.device = device == "cuda", CUDA if device == "cuda" else torch.device(device)
        self.outputs = outputs or game.num_actions
        if not 1 <= self.outputs <= game.num_actions:
            raise InvalidValue(f"a network for {game} has 1 to {game.num_actions} outputs, not {outputs}")
        self.short = self.encoder if self.encoder.spread is not None else game.index_form(self.encoder)
        self.shape = tuple(self.observe(game.start().states).shape[1:])
        slots = game.slots(str(self.encoder))  # [SEATS, A]
        self.turned = bool((slots != np.arange(game.num_actions)).any())
        self.slots, self.actions = slots, np.argsort(slots, axis=1).astype(np.int32)

    def observe(self, states: Records | Tensor) -> Tensor:
        """[N, *shape] float32."""
        if isinstance(states, Tensor):
            name = self.encoder.dense if self.encoder.expand is not None else str(self.encoder)
            return on_gpu(self.game).encode(name, states, dtype=torch.float32)
        if self.uses_gpu and self.short is not None:  # indices go over, which are far fewer bytes
            tokens = self.game.encode(str(self.short), states)
            return on_gpu(self.game).expand(self.short, torch.from_numpy(tokens))
        shown: NDArray[Any] = self.game.encode(str(self.encoder), states)
        if self.encoder.expand is not None:
            shown = self.encoder.expand(shown)
        return torch.from_numpy(shown.astype(np.float32, copy=False)).to(self.device)

    def legal(self, states: Records | Tensor) -> Tensor:
        """[N, outputs] which outputs stand for legal actions."""
        if isinstance(states, Tensor):
            legal = on_gpu(self.game).legal_mask(states)
            return (self._turned(legal, states) if self.turned else legal)[:, : self.outputs]
        legal = self._turned_mask(states) if self.turned else self.game.legal_mask(states)
        return torch.from_numpy(np.ascontiguousarray(legal[:, : self.outputs])).to(self.device)

    def _turned(self, legal: Tensor, states: Tensor) -> Tensor:
        """[N, A] a mask of actions as one of outputs, seat by seat: an index for each row would be far larger."""
        found, seats = legal, on_gpu(self.game).seats(states)[:, None]
        for seat, actions in enumerate(self.actions):
            if (actions != np.arange(len(actions))).any():
                found = torch.where(seats == seat, legal[:, self._tables[1][seat]], found)
        return found

    def _turned_mask(self, states: Records) -> NDArray[np.bool_]:
        """[N, A + 1] by lists: there are far fewer legal actions than actions. The last column means nothing."""
        rows, most = len(states), self.game.rules.MAX_LEGAL
        lists, counts = np.empty((rows, most), np.int32), np.empty(rows, np.int32)
        self.game.kernels().legal_lists(states, lists, counts, self.game.work())
        lists = lists[:, : counts.max(initial=0)]
        places = np.where(lists >= 0, self.slots[self._seats(states)[:, None], lists], self.game.num_actions)
        mask = np.zeros((rows, self.game.num_actions + 1), np.bool_)
        mask[np.arange(rows)[:, None], places] = True
        return mask

    def output_of(self, states: Any, actions: Any) -> Any:
        """[N] the outputs that stand for actions; too large where the network has none."""
        if isinstance(states, Tensor):
            return self._tables[0][on_gpu(self.game).seats(states), actions] if self.turned else actions.long()
        return (self.slots[self._seats(states), actions] if self.turned else actions).astype(np.int64)

    def action_of(self, states: Any, outputs: Any) -> Any:
        """[N] the actions that outputs stand for."""
        if isinstance(states, Tensor):
            seats = on_gpu(self.game).seats(states) if self.turned else None
            return (outputs if seats is None else self._tables[1][seats, outputs]).int()
        return (self.actions[self._seats(states), outputs] if self.turned else outputs).astype(np.int32)

    @functools.cached_property
    def _tables(self) -> tuple[Tensor, Tensor]:
        """[SEATS, A] `slots` and `actions` on the GPU."""
        slots, actions = (torch.from_numpy(table.astype(np.int64)).to(CUDA) for table in (self.slots, self.actions))
        return slots, actions

    def _seats(self, states: Records) -> NDArray[np.int32]:
        seats = np.empty(len(states), np.int32)
        self.game.kernels().seats_to_act(states, seats)
        return seats


class NetworkAgent:
    """Plays the legal action that its network values most."""

    def __init__(self, view: View, network: nn.Module) -> None:
        self.view, self.network = view, network

    @property
    def game(self) -> Game:
        return self.view.game

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        return self.view.action_of(states, self._best(states).cpu().numpy())

    def choose(self, states: Tensor, numbers: Tensor) -> Tensor:
        """[N] actions for states on the GPU. Chance, where it has a part, comes from `numbers` [N] in 0 to 1."""
        return self.view.action_of(states, self._best(states))

    def _best(self, states: Any) -> Tensor:
        """[N] the outputs it likes best."""
        with torch.inference_mode():
            values = self.network(self.view.observe(states))
        return values.masked_fill(~self.view.legal(states), -torch.inf).argmax(1)


def load_weights(network: nn.Module, checkpoint: Checkpoint) -> None:
    """Fill a network from a checkpoint, if every shape fits."""
    found = checkpoint.tensors("network")
    wanted = {name: tuple(values.shape) for name, values in network.state_dict().items()}
    there = {name: tuple(values.shape) for name, values in found.items()}
    if wanted != there:
        odd = [f"{name} {there.get(name)}" for name in there if there[name] != wanted.get(name)]
        raise InvalidValue(f"{checkpoint.path} holds another network: {', '.join(odd) or 'some tensors are missing'}")
    network.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in found.items()})


def begin_with(network: nn.Module, path: str, identity: Mapping[str, str]) -> None:
    """Fill a network from the best checkpoint of a run that has learned the same: game, encoder and sizes."""
    if not (Path(path) / "config.toml").is_file():
        how = command("teach", "imitate", "--data", "FILE", "--out", path)
        raise InvalidValue(f"{path!r} is no run to begin with: make one with `{how}`, or name another with --init")
    checkpoint = find_checkpoint(Path(path), "best")
    checkpoint.check(identity)
    load_weights(network, checkpoint)


def load_run(path: str, game: Game | None = None, which: str = "best") -> NetworkAgent:
    """The agent that a run has learned: `best`, `last`, or the one of a step."""
    config, checkpoint = read_config(Path(path)), find_checkpoint(Path(path), which)
    own = game_of(Path(path), game)
    try:
        view = View(own, config["encoder"], config["outputs"])
        word, dueling = config["network"], config.get("dueling", False)
    except KeyError as error:
        raise InvalidValue(f"{path}/config.toml does not say {error}") from None
    checkpoint.check(identity(view, word, dueling))
    network = make_network(word, view.shape, view.outputs, dueling)
    load_weights(network, checkpoint)
    return NetworkAgent(view, network)


def identity(view: View, word: str, dueling: bool = False) -> dict[str, str]:
    """What a checkpoint of a network belongs to."""
    sizes = describe(word, view.shape, view.outputs, dueling)
    return {"game": str(view.game), "encoder": str(view.encoder), "network": sizes}
