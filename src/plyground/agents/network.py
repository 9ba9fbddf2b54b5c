"""Networks that play: the agent that plays the legal action with the highest value, and its checkpoints."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.backend.view import View
from plyground.errors import InvalidValue, command, shorten
from plyground.game import Game
from plyground.networks import Valued, describe, make_network
from plyground.position import Position
from plyground.runs.directory import Checkpoint, find_checkpoint, game_of, read_config, told
from plyground.runs.files import is_file
from plyground.runs.fingerprints import rules_fingerprint
from plyground.search.analysis import Analysis, check_running, scored
from plyground.search.network_search import Q_TEMPERATURE, NetworkEvaluator

Records = NDArray[np.void]


class NetworkAgent:
    """Plays the legal action that its network values most."""

    leaves_circles = True
    folder: Path | None = None  # the run that has learned it
    spec = ""  # by which `make` makes it again, where there is one

    def __init__(self, view: View, network: Any) -> None:
        self.view, self.network = view, network

    def __repr__(self) -> str:
        return f"<agent for {self.game}: {told(self.folder) if self.folder else 'a network'}>"

    @property
    def game(self) -> Game:
        return self.view.game

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        rows = self.view.rows(states)
        return self.choose(rows, torch.zeros(len(rows), device=self.view.device)).cpu().numpy()

    def compile_kernels(self) -> None:
        rows = self.view.rows(self.game.blank[:0].copy())
        self.view.action_of(rows, self.view.legal(rows)[:, 0].long())
        self.view.observe(rows)

    def choose(self, states: Tensor, numbers: Tensor) -> Tensor:
        """[N] int32 actions for states on the view's device. Agents that sample use `numbers` [N] in [0, 1)."""
        with torch.inference_mode():
            values = self.network(self.view.observe(states))
        outputs = values.masked_fill(~self.view.legal(states), -torch.inf).argmax(1)
        return self.view.action_of(states, outputs)

    def analyse(self, position: Position, rngs: NDArray[np.uint64]) -> Analysis:
        """The network's policy; the values of actions, where its outputs are such; the value of the position."""
        check_running(position)
        begun, view, rows = time.perf_counter(), self.view, self.view.rows(position.states)
        with torch.inference_mode():
            logits, value, is_value = self._evaluate(rows)
        places = view.legal(rows)[0].nonzero()[:, 0]  # [L] outputs of legal actions
        actions: list[int] = view.action_of(rows.expand(len(places), *rows.shape[1:]), places).tolist()
        shares: list[float] = torch.softmax(logits[0, places], 0).tolist()
        outputs: list[float] = (Q_TEMPERATURE * logits[0, places]).tolist() if is_value else []
        priors, values = dict(zip(actions, shares, strict=True)), dict(zip(actions, outputs, strict=False))
        found = scored(position, values, time.perf_counter() - begun, priors)
        return replace(found, value=value)

    def _evaluate(self, rows: Tensor) -> tuple[Tensor, float, bool]:
        """Logits [1, outputs] and value of a position, and whether the logits are action values / Q_TEMPERATURE."""
        logits, values = NetworkEvaluator(self.view, self.network)(rows)
        return logits, float(values[0]), not isinstance(self.network.head, Valued)

    def to(self, device: str) -> NetworkAgent:
        """The same agent on a device."""
        view = View(self.game, str(self.view.encoder), self.view.outputs, device)
        return type(self)(view, self.network.to(view.device))


def load_weights(network: nn.Module, checkpoint: Checkpoint) -> None:
    """Fill a network from a checkpoint, if every shape fits."""
    found = _fitting_weights(network, checkpoint)
    network.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in found.items()})


def _fitting_weights(network: nn.Module, checkpoint: Checkpoint) -> dict[str, NDArray[Any]]:
    """The weights of a checkpoint; an error where their names or shapes are not those of the network."""
    found = checkpoint.tensors("network")
    wanted = {name: tuple(values.shape) for name, values in network.state_dict().items()}
    there = {name: tuple(values.shape) for name, values in found.items()}
    if wanted != there:
        odd = [f"{name} {there.get(name)}" for name in there if there[name] != wanted.get(name)]
        raise InvalidValue(f"{checkpoint.path} holds another network: {', '.join(odd) or 'some tensors are missing'}")
    if odd := [f"{name} {values.dtype}" for name, values in found.items() if values.dtype.kind != "f"]:
        raise InvalidValue(f"{checkpoint.path} holds weights that are no numbers with fractions: {', '.join(odd)}")
    return found


def begin_with(network: nn.Module, path: str, view: View, identity: Mapping[str, str]) -> None:
    """Fill a network from the best checkpoint of a run that has learned the same: game, encoder and sizes."""
    if not is_file(Path(path) / "config.toml"):
        name, how = shorten(path), command("train", "imitation", "--data", "FILE", "--out", shorten(path))
        raise InvalidValue(f"{name!r} is no run to begin with: make one with `{how}`, or name another with --init")
    checkpoint = find_checkpoint(Path(path), "best")
    checkpoint.check(identity, rules_fingerprint(view.game))
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
    checkpoint.check(identity(view, word, dueling), rules_fingerprint(own))
    with torch.device("meta"):  # shapes alone: config.toml may name a network that no memory holds
        _fitting_weights(make_network(word, view.shape, view.outputs, dueling, view.parts), checkpoint)
    network = make_network(word, view.shape, view.outputs, dueling, view.parts)
    load_weights(network, checkpoint)
    return NetworkAgent(view, network)


def identity(view: View, word: str, dueling: bool = False) -> dict[str, str]:
    """What a checkpoint of a network belongs to."""
    sizes = describe(word, view.shape, view.outputs, dueling)
    return {"game": str(view.game), "encoder": str(view.encoder), "network": sizes}
