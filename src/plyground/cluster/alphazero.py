"""AlphaZero on a cluster: actors search and play, the learner stores and learns.

A block holds the plies of the games that ended in it, with their final value targets: a λ-return needs the rest of its
game, which only the actor has. The learner stores them as plies whose own value ends the λ-return, so that its replay
buffer, its sampling and its checkpoints are those of one machine.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from plyground.backend.parts import Arrays, Parts
from plyground.game import load
from plyground.learners.alphazero import AlphaZeroLearner
from plyground.learners.config import AlphaZero
from plyground.learners.state import Metrics

SEARCHED = "searched."  # before the names of what the search found


class DistributedAlphaZero:
    """In an actor it plays blocks of `rows` plies in every environment; in the learner (0 rows) it learns."""

    def __init__(self, config: AlphaZero, rows: int = 0) -> None:
        self.rows = rows
        self.learner = AlphaZeroLearner(_to_play(config, rows) if rows else config, plays=rows > 0)
        self.games, self.rng, self.replay = self.learner.games, self.learner.rng, self.learner.replay

    def weights(self) -> Parts:
        return {"network": self.learner.player, "snapshots": self.learner.model.snapshots}

    def rings(self) -> dict[str, Tensor]:
        """[rows, envs, ...] what is kept of a ply, by name; nobody asks for the state after it."""
        found = {f"{SEARCHED}{name}": ring for name, ring in self.learner.found.rings().items()}
        return {name: ring for name, ring in (self.replay.rings() | found).items() if name != "next_states"}

    # ---- an actor ----

    def play(self, progress: float) -> Arrays:
        """The plies [M] of the games that end within `rows` plies: environment by environment, the oldest first."""
        replay, config = self.replay, self.learner.config
        self.learner.state.progress = progress
        for _ in range(self.rows):
            self.learner.play()
        order = self._by_age()
        envs, ages = replay.usable[order].T.nonzero(as_tuple=True)
        indices = order[ages] * replay.num_envs + envs
        block = {name: replay.at(ring, indices) for name, ring in self.rings().items()}
        values, final = self.learner.found.values, torch.ones_like(block["usable"])
        targets = replay.lambda_returns(indices, values, config.gamma, config.td_lambda)
        block |= {f"{SEARCHED}values": targets, "explored": final}  # its own value is its target
        replay.usable.zero_()
        return _without_gaps({name: values.cpu().numpy() for name, values in block.items()})

    def unfinished(self) -> Arrays:
        """The newest rows, as many as the longest game that goes on has plies."""
        longest = int(self.games.batch.plies.clamp(max=len(self.replay.states)).max())
        rows = self._by_age()[self.replay.filled - longest :]
        return {name: ring[rows].cpu().numpy() for name, ring in self.rings().items()}

    def resume(self, unfinished: Arrays) -> None:
        """Continue with such rows."""
        self.replay.time = max(map(len, unfinished.values()), default=0)
        for name, rows in unfinished.items():
            self.rings()[name][: len(rows)] = torch.from_numpy(rows.copy()).to(self.replay.usable.device)

    def _by_age(self) -> Tensor:
        """[filled] the rows in use, the oldest first."""
        rows = torch.arange(self.replay.filled, device=self.replay.usable.device)
        return (rows + self.replay.time - self.replay.filled) % len(self.replay.states)

    # ---- the learner ----

    def unpack(self, block: Arrays) -> Arrays:
        """A row for each ply; policies have as many columns as here, filled up with zeros."""
        lengths = block["lengths"]
        there = np.arange(self.learner.found.edges) < lengths[:, None]  # [M, E]
        found = {name: values for name, values in block.items() if name != "lengths"}
        for name in POLICY:
            found[name] = np.zeros(there.shape, block[name].dtype)
            found[name][there] = block[name]
        return found

    def add(self, plies: Arrays) -> Metrics:
        """Store a ply for each environment, and make the updates that this allows."""
        learner, found, device = self.learner, self.learner.found, self.replay.usable.device
        row = {name: torch.from_numpy(values.copy()).to(device) for name, values in plies.items()}
        found.put(*(row[f"{SEARCHED}{name}"] for name in ("actions", "policy", "values")))
        self.replay.write_row({**row, "next_states": row["states"]})
        self.replay.count_row()
        found.ended += self.replay.num_envs
        learner.state.plies += self.replay.num_envs
        return learner.learn_from_row()


POLICY = f"{SEARCHED}policy", f"{SEARCHED}actions"


def _without_gaps(block: Arrays) -> Arrays:
    """Policies [M, E] as one list of their actions with a probability, and the length of each."""
    there = block[POLICY[0]] > 0
    return {**block, **{name: block[name][there] for name in POLICY}, "lengths": there.sum(1, dtype=np.uint8)}


def _to_play(config: AlphaZero, rows: int) -> AlphaZero:
    """The config of an actor: weights arrive from the learner, and the buffer holds the longest unfinished games."""
    longest = config.max_plies or load(config.game).rules.MAX_PLIES
    size = (min(config.buffer_size // config.num_envs, longest) + rows) * config.num_envs
    return replace(config, buffer_size=size, learning_starts=1, batch_size=1, gate=False, init="")
