"""PPO: several passes over each rollout, held close to the policy that played it.

Differs from Schulman et al. 2017: two sides play, so what is good for whoever acts next is bad for me, unless that is
me again (`kernels/advantages.py`); illegal actions are masked before the softmax; positions are seen as images
under the game's symmetries; passes end early where the policy has moved far enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from plyground.learners.policy import Chosen, Judged, PolicyLearner, PolicySettings, normalised


@dataclass(frozen=True)
class PPO(PolicySettings):
    """Learn a game by playing it, with proximal policy optimisation."""

    trace: float = 0.9
    """lambda of the advantages: 0 trusts the critic at the next ply, 1 only the end of the game"""
    clip: float = 0.2
    """how far one rollout may move the probability of an action, as a ratio"""
    epochs: int = 3
    """passes over a rollout"""
    target_kl: float = 0.03
    """passes end where the policy has moved further than this (0: never)"""

    ALL_ON_GPU: ClassVar[bool] = True
    AT_LEAST: ClassVar[dict[str, float]] = PolicySettings.AT_LEAST | {"epochs": 1}
    AT_MOST_ONE: ClassVar[tuple[str, ...]] = (*PolicySettings.AT_MOST_ONE, "trace")


def clipped_loss(logs: Tensor, old_logs: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """The policy gradient [B] -> scalar, that stops where an action's probability has changed by more than `clip`."""
    ratio = (logs - old_logs).exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(1.0 - clip, 1.0 + clip) * advantages).mean()


class PPOLearner(PolicyLearner[PPO]):
    def judge(self) -> Judged:
        """Generalised advantage estimation over the rollout."""
        memory, config = self.memory, self.config
        found = self.on.zeros(tuple(self.values.shape), np.float32)
        self.on.run(
            *("advantages", "advantages", "rollouts", config.concurrency),
            *(memory.sides, memory.next_sides, memory.rewards, memory.ended, memory.usable),
            *(self.values, self.values_behind(), config.discount, config.trace, found),
        )
        picked = self.on.places(memory.usable)
        advantages = memory.of(found, picked)
        return Judged(picked, normalised(advantages), advantages + memory.of(self.values, picked))

    def improve(self, judged: Judged) -> None:
        """Several passes in random order, a step for each batch; what is left over of a pass is left."""
        config, plies = self.config, len(judged.picked)
        size = min(config.batch, plies)
        for _ in range(config.epochs):
            order = self.on.permutation(plies)
            for start in range(0, plies - size + 1, size):
                if self.update(judged.part(order[start : start + size])) > config.target_kl > 0:
                    return

    def policy_loss(self, chosen: Chosen) -> Tensor:
        return clipped_loss(*chosen, self.config.clip)
