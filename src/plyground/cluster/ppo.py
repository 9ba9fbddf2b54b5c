"""PPO on a cluster: a block is a rollout of one stream of games, which the learner learns from as from its own."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from plyground.backend.parts import Arrays, Parts
from plyground.learners.config import PPO
from plyground.learners.ppo import PPOLearner
from plyground.learners.state import Metrics


class DistributedPPO:
    """In an actor it plays rollouts; in the learner (0 rows) it learns from them."""

    def __init__(self, config: PPO, rows: int = 0) -> None:
        """A block has `rollout_length` rows, whatever `rows` says."""
        self.learner = PPOLearner(replace(config, init="") if rows else config)
        self.rollout = self.learner.rollout
        self.games, self.rng = self.rollout.games, self.rollout.rng

    def weights(self) -> Parts:
        return {"network": self.rollout.model.network, "snapshots": self.rollout.model.snapshots}

    def rings(self) -> dict[str, Tensor]:
        """[rows, envs, ...] what is kept of a ply, by name."""
        return {**self.rollout.replay.rings(), "log_probs": self.rollout.log_probs, "values": self.rollout.values}

    # ---- an actor ----

    def play(self, progress: float) -> Arrays:
        """A rollout, row by row, with the next states that a value is bootstrapped from."""
        self.learner.state.progress = progress
        while not self.rollout.play():
            pass
        block = {name: ring.flatten(0, 1).cpu().numpy() for name, ring in self.rings().items()}
        asked = self.rollout.bootstrapped().flatten().cpu().numpy()
        return {**block, "next_states": block["next_states"][asked], "asked": asked}

    def unfinished(self) -> Arrays:
        """Nothing is left for later rollouts."""
        return {}

    def resume(self, unfinished: Arrays) -> None: ...

    # ---- the learner ----

    def unpack(self, block: Arrays) -> Arrays:
        """A row for each ply; next states that nobody asks for are zeros."""
        found = {name: values for name, values in block.items() if name != "asked"}
        found["next_states"] = np.zeros_like(block["states"])
        found["next_states"][block["asked"]] = block["next_states"]
        return found

    def add(self, plies: Arrays) -> Metrics:
        """Store a row of a rollout; at its end, learn from it."""
        rollout, device = self.rollout, self.rollout.values.device
        row = {name: torch.from_numpy(values.copy()).to(device) for name, values in plies.items()}
        rollout.replay.put(rollout.log_probs, row["log_probs"])
        rollout.replay.put(rollout.values, row["values"])
        rollout.replay.write_row(row)
        return self.learner.learn_from_rollout() if rollout.count_row() else {}
