"""PPO on a cluster: a block is a rollout of one stream of games, which the learner learns from as from its own."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from plyground.backend.parts import Parts
from plyground.cluster.blocks import Columns
from plyground.cluster.streams import Updates, bootstrapped, plies_at, to_rings
from plyground.kernels.replay import RUNS_ON, TRUNCATED
from plyground.learners.config import PPO
from plyground.learners.ppo import PPOLearner
from plyground.learners.rollout import Minibatch, PolicyLoss, Rollout
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

    def share(self, updates: Updates) -> None:
        rollout = self.learner.rollout
        self.learner.learn.captures = False  # messages are not captured

        def backward(batch: Minibatch, share: float, policy_loss: PolicyLoss) -> Tensor:
            mine = Minibatch(*updates.divide(batch, [share / len(batch.states), float(rollout.entropy_coef)]))
            means = rollout.add_gradients(mine, share * len(mine.states) / len(batch.states), policy_loss)
            updates.add_up()
            return means * len(batch.states) / len(mine.states)

        rollout.backward = backward

    def compute_gradients(self, part: Sequence[Tensor], numbers: Sequence[float]) -> None:
        rollout, (each, entropy_coef) = self.learner.rollout, numbers
        rollout.entropy_coef.fill_(entropy_coef)
        rollout.add_gradients(Minibatch(*part), each * len(part[0]), self.learner.policy_loss)
