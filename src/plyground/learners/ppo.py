"""PPO: several epochs over each rollout, with the policy kept close to the one that played it.

Differences from Schulman et al. 2017: two sides play, so the next state's value is negated when the side to move
changes (`kernels/advantages.py`); illegal actions are masked before the softmax; positions are seen under random
symmetries of the game; the epochs end early once the policy has moved further than `target_kl`. Metrics: see
`rollout.py`.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from plyground.backend.games import run_kernel
from plyground.backend.graph import Repeated
from plyground.kernels.arrays import RolloutPlies
from plyground.learners.config import PPO
from plyground.learners.rollout import PolicyBatch, Rollout, normalized
from plyground.learners.state import Metrics, TrainingState


def clipped_loss(log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip_range: float) -> Tensor:
    """The clipped surrogate objective, negated: [B] -> scalar."""
    ratio = (log_probs - old_log_probs).exp()
    clipped = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    return -torch.minimum(ratio * advantages, clipped * advantages).mean()


class PPOLearner:
    """A network with policy and value heads, and the plies of the present rollout."""

    limits = ("cycles", "seconds")

    def __init__(self, config: PPO) -> None:
        self.config, self.state = config, TrainingState()
        self.rollout = Rollout(config, self.state)
        self.model, self.cycle, self.game = self.rollout.model, self.rollout.cycle, self.rollout.view.game
        view, size = self.rollout.view, config.batch_size
        advantages, returns = (torch.zeros(size, device=view.device) for _ in range(2))
        indices = torch.zeros(size, dtype=torch.int64, device=view.device)
        self.minibatch = PolicyBatch(indices, advantages, returns)  # of this update
        self.learn = Repeated(view.device_name, self._learn, say=self.state.note)

    def iterate(self) -> Metrics:
        """One ply in every environment; at the end of a rollout, several epochs of minibatches in random order."""
        return self.learn_from_rollout() if self.rollout.play() else {}

    def learn_from_rollout(self) -> Metrics:
        """Several epochs over a complete rollout."""
        config, rollout = self.config, self.rollout
        plies = self.advantages()
        total, metrics = len(plies.indices), dict[str, float]()
        size = min(config.batch_size, total)
        for _ in range(config.epochs if total else 0):
            order = torch.randperm(total, generator=rollout.rng, device=plies.indices.device)
            for start in range(0, total - size + 1, size):  # the last partial minibatch is dropped
                minibatch = plies.rows(order[start : start + size])
                metrics = self.update(minibatch)
                if metrics["kl"] > config.target_kl > 0:
                    return metrics
        return metrics

    def update(self, minibatch: PolicyBatch) -> dict[str, float]:
        if len(minibatch.indices) < self.config.batch_size:
            return self.rollout.update(minibatch, self.policy_loss)
        for kept, new in zip(self.minibatch, minibatch, strict=True):
            kept.copy_(new)
        return self.rollout.count_update(self.learn(self.state.rollbacks))

    def _learn(self) -> tuple[Tensor, Tensor]:
        return self.rollout.optimize(self.minibatch, self.policy_loss)

    def advantages(self) -> PolicyBatch:
        """Generalised advantage estimation over the rollout."""
        config, rollout, replay = self.config, self.rollout, self.rollout.replay
        advantages = torch.zeros_like(rollout.values)
        sides, next_sides, rewards, ended, _ = replay.plies
        values = rollout.values, rollout.next_values()
        arrays = RolloutPlies(sides, next_sides, rewards, ended, replay.usable, *values)
        how = config.gamma, config.gae_lambda, advantages
        run_kernel(replay.games.name, "advantages", "compute_advantages", config.num_envs, arrays, *how)
        indices = replay.usable.flatten().nonzero()[:, 0]
        found = replay.at(advantages, indices)
        return PolicyBatch(indices, normalized(found), found + replay.at(rollout.values, indices))

    def policy_loss(self, log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor) -> Tensor:
        return clipped_loss(log_probs, old_log_probs, advantages, self.config.clip_range)

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        return {**self.rollout.parts(), "state": self.state}
