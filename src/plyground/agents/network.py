"""`NetworkAgent`: plays the legal action that a network values most."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.device import fill_selected
from plyground.backend.view import View
from plyground.batch import Batch
from plyground.game import Game
from plyground.games.rng import draw
from plyground.models.network import Q_TEMPERATURE, NetworkModel
from plyground.networks import Valued, log_probabilities, sample_actions
from plyground.position import Position
from plyground.runs.directory import told
from plyground.search.analysis import Analysis, check_running, scored

Records = NDArray[np.void]
FINE = 2**24  # steps between 0 and 1 that a 32-bit float distinguishes


class NetworkAgent:
    """Plays the legal action that its network values most."""

    leaves_circles = True
    spec = ""  # by which `make` makes it again, where there is one

    def __init__(self, model: NetworkModel) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"<agent for {self.game}: {told(self.model.folder) if self.model.folder else 'a network'}>"

    @property
    def game(self) -> Game:
        return self.model.game

    @property
    def view(self) -> View:
        return self.model.view

    @property
    def network(self) -> Any:
        return self.model.network

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

    def act_by_chance(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """`act` of agents that sample."""
        numbers = (draw(rngs, np.full(len(states), FINE)) / FINE).astype(np.float32)
        return self.choose(self.view.rows(states), torch.from_numpy(numbers).to(self.view.device)).cpu().numpy()

    def sample_actions(self, states: Tensor, numbers: Tensor) -> Tensor:
        """`choose` of agents that sample from the softmax of the outputs."""
        with torch.inference_mode():
            log_probs = log_probabilities(self.network(self.view.observe(states)), self.view.legal(states))
            return self.view.action_of(states, sample_actions(log_probs, numbers))

    def act_on(self, batch: Batch, turn: Tensor, rngs: Tensor, generator: torch.Generator, actions: Tensor) -> None:
        """Fill in actions [N] where `turn` [N] is set, on the device of the games."""
        numbers = torch.rand(len(turn), generator=generator, device=turn.device)
        fill_selected(turn, actions, lambda rows: self.choose(batch.states[rows], numbers[rows]))

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
        logits, values = self.model.evaluator()(rows)
        return logits, float(values[0]), not isinstance(self.network.head, Valued)

    def to(self, device: str) -> NetworkAgent:
        """The same agent on a device."""
        found = type(self)(self.model.to(device))
        found.spec = self.spec
        return found


class SamplingAgent(NetworkAgent):
    """Samples actions from its network's policy: snapshots of a policy play as it did."""

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        return self.act_by_chance(states, rngs)

    def choose(self, states: Tensor, numbers: Tensor) -> Tensor:
        return self.sample_actions(states, numbers)
