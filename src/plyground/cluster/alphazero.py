"""AlphaZero on a cluster: actors search and play, the learner stores and learns.

A block holds the plies of the games that ended in it, with their final value targets: a λ-return needs the rest of its
game, which only the actor has. The learner stores them as plies whose own value ends the λ-return, so that its replay
buffer, its sampling and its checkpoints are those of one machine.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from plyground.backend.parts import Parts
from plyground.cluster.blocks import EXPLORED, USABLE, Columns
from plyground.cluster.streams import Updates, plies_at, to_rings
from plyground.learners.alphazero import AlphaZeroLearner, Learned, Targets
from plyground.learners.config import AlphaZero
from plyground.learners.state import Metrics


class SearchPlayer:
    """Plays blocks of `rows` plies in every environment; keeps the plies of unfinished games."""

    def __init__(self, config: AlphaZero, rows: int) -> None:
        self.rows = rows
        self.learner = AlphaZeroLearner(_to_play(config, rows))
        self.games, self.rng, self.replay = self.learner.games, self.learner.rng, self.learner.replay
        self.found = self.learner.found

    def weights(self) -> Parts:
        return {"network": self.learner.player, "snapshots": self.learner.model.snapshots}

    def play(self, progress: float) -> Columns:
        """The plies of the games that end within `rows` plies, game by game."""
        self.learner.state.progress = progress
        for _ in range(self.rows):
            self.learner.play()
        indices = self._indices(self.replay.usable[self._by_age()])
        columns, config = self._columns(indices), self.learner.config
        targets = self.replay.lambda_returns(indices, self.found.values, config.gamma, config.td_lambda)
        self.replay.usable.zero_()
        columns["values"] = targets.cpu().numpy()
        columns["flags"] = columns["flags"] | np.uint8(EXPLORED | USABLE)  # its own value is its target
        return columns

    def unfinished(self) -> Columns:
        """The plies of the games that go on, environment by environment."""
        age = torch.arange(self.replay.filled, device=self.replay.games.device)  # from the oldest row
        return self._columns(self._indices(age[:, None] >= self.replay.filled - self.games.batch.plies[None]))

    def resume(self, unfinished: Columns) -> None:
        """Store such plies so that each environment's newest one is in the newest row."""
        self.replay.usable.zero_()
        self.games.results.clear()
        if not unfinished or not len(unfinished["flags"]):
            self.replay.time = 0
            return
        rows = len(self.replay.states)
        lengths = self.games.batch.plies.long().clamp(max=rows)  # [N]
        self.replay.time = longest = int(lengths.max())
        envs = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)  # [M]
        first = torch.repeat_interleave(lengths.cumsum(0) - lengths, lengths)
        place = torch.arange(len(envs), device=envs.device) - first + longest - lengths[envs]  # [M] row
        searched = searched_in(unfinished, self.found.edges)
        for rings, values in (
            (self.replay.rings(), to_rings(self.replay, unfinished)),
            (self.found.rings(), searched),
        ):
            for name, ring in rings.items():
                ring[place, envs] = values[name].to(ring)

    def _by_age(self) -> Tensor:
        """[filled] the rows in use, the oldest first."""
        replay = self.replay
        rows = torch.arange(replay.filled, device=replay.games.device)
        return (replay.time - replay.filled + rows) % len(replay.states)

    def _indices(self, chosen: Tensor) -> Tensor:
        """[M] the plies where `chosen` [filled, N] by age: environment by environment, the oldest first."""
        envs, age = chosen.T.nonzero(as_tuple=True)
        return self._by_age()[age] * self.replay.num_envs + envs

    def _columns(self, indices: Tensor) -> Columns:
        replay, found = self.replay, self.found
        searched = {"policy": found.policy, "policy_actions": found.actions, "values": found.values}
        return {
            **plies_at(replay, indices),
            **{name: replay.at(ring, indices).cpu().numpy() for name, ring in searched.items()},
        }


class SearchSink:
    """The learner's side."""

    def __init__(self, config: AlphaZero) -> None:
        self.learner = AlphaZeroLearner(config, plays=False)

    def weights(self) -> Parts:
        return {"network": self.learner.player, "snapshots": self.learner.model.snapshots}

    def add_row(self, plies: Columns) -> Metrics:
        """Store plies [num_envs] of finished games and make the updates that they allow."""
        learner, found = self.learner, self.learner.found
        device = learner.view.device
        searched = {name: values.to(device) for name, values in searched_in(plies, found.edges).items()}
        found.put(searched["actions"], searched["policy"], searched["values"])
        learner.replay.write_row(to_rings(learner.replay, plies))
        learner.replay.count_row()
        found.ended += len(plies["flags"])
        learner.state.plies += len(plies["flags"])
        return learner.learn_from_row()

    def share(self, updates: Updates) -> None:
        learner = self.learner
        learner.learn.captures = False  # messages are not captured

        def backward(targets: Targets, total: Tensor) -> Learned:
            learned = learner.compute_gradients(Targets(*updates.divide(targets, [float(total)])), total)
            updates.add_up()
            return learned

        learner.backward = backward

    def compute_gradients(self, part: Sequence[Tensor], numbers: Sequence[float]) -> None:
        self.learner.compute_gradients(Targets(*part), torch.tensor(numbers[0], device=part[0].device))


def searched_in(plies: Columns, edges: int) -> dict[str, Tensor]:
    """Sparse policies [M, edges] and values [M], as `SearchResults` stores them."""
    found: dict[str, Tensor] = {"values": torch.from_numpy(plies["values"].copy())}
    for name, column in (("actions", "policy_actions"), ("policy", "policy")):
        given = plies[column][:, :edges]
        whole = np.zeros((len(given), edges), given.dtype)
        whole[:, : given.shape[1]] = given
        found[name] = torch.from_numpy(whole)
    return found


def _to_play(config: AlphaZero, rows: int) -> AlphaZero:
    """The config of an actor: weights arrive from the learner, and the buffer holds the longest unfinished games."""
    longest = config.max_plies or _longest(config)
    kept = min(config.buffer_size // config.num_envs, longest) + rows
    changes: dict[str, Any] = {"buffer_size": kept * config.num_envs, "learning_starts": 1, "batch_size": 1}
    return replace(config, **changes, gate=False, init="")


def _longest(config: AlphaZero) -> int:
    from plyground.game import load

    return load(config.game).rules.MAX_PLIES
