"""PPO on a cluster: a block is a rollout of one stream of games, which the learner learns from as from its own."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import replace

import torch

from plyground.backend.parts import Parts
from plyground.cluster.blocks import Columns
from plyground.cluster.streams import bootstrapped, plies_at, to_rings
from plyground.kernels.replay import RUNS_ON, TRUNCATED
from plyground.learners.ppo import PPO, PPOLearner
from plyground.learners.rollout import Rollout
from plyground.learners.state import Metrics, TrainingState


class RolloutPlayer:
    """Plays rollouts; nothing of them is left for later ones."""

    def __init__(self, config: PPO, block_rows: int) -> None:
        """A block has `rollout_length` rows, whatever `block_rows` says."""
        self.state = TrainingState()
        self.rollout = Rollout(replace(config, init=""), self.state)
        self.games, self.rng = self.rollout.games, self.rollout.rng

    def weights(self) -> Parts:
        return {"network": self.rollout.model.network, "snapshots": self.rollout.model.snapshots}

    def play(self, progress: float) -> Columns:
        """A rollout, row by row; with the next states that a value is bootstrapped from."""
        rollout, replay = self.rollout, self.rollout.replay
        self.state.progress = progress
        while not rollout.play():
            pass
        indices = torch.arange(replay.capacity, device=replay.games.device)
        columns, ended = plies_at(replay, indices), replay.plies.ended
        asked = ended == TRUNCATED
        asked[-1] |= ended[-1] == RUNS_ON
        columns["flags"] = bootstrapped(columns["flags"], asked.flatten().cpu().numpy())
        for name, ring in (("log_probs", rollout.log_probs), ("values", rollout.values)):
            columns[name] = ring.flatten().cpu().numpy().copy()
        columns["next_states"] = replay.at(replay.next_states, indices).cpu().numpy()
        return columns

    def unfinished(self) -> Columns:
        return {}

    def resume(self, unfinished: Columns) -> None:
        self.games.results.clear()


class RolloutSink:
    """The learner's side."""

    def __init__(self, config: PPO) -> None:
        self.learner = PPOLearner(config)

    def weights(self) -> Parts:
        return {"network": self.learner.model.network, "snapshots": self.learner.model.snapshots}

    def add_row(self, plies: Columns) -> Metrics:
        """Store a row of a rollout; at its end, learn from it."""
        rollout = self.learner.rollout
        for ring, name in ((rollout.log_probs, "log_probs"), (rollout.values, "values")):
            rollout.replay.put(ring, torch.from_numpy(plies[name].copy()).to(ring.device))
        rollout.replay.write_row(to_rings(rollout.replay, plies))
        return self.learner.learn_from_rollout() if rollout.count_row() else {}
