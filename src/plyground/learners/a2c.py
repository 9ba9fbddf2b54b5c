"""Actor-critic (A2C): the policy gradient with a critic that is asked after k own turns.

A ply is worth what came of it up to the same side's k-th turn after it, and what the critic says of the position then:
the opponent belongs to the world. One pass over each rollout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from plyground.learners.policy import Chosen, Judged, PolicyLearner, PolicySettings, normalised
from plyground.learners.returns import policy_gradient_loss


@dataclass(frozen=True)
class A2C(PolicySettings):
    """Learn a game by playing it, with an advantage actor-critic."""

    k_step: int = 2
    """own turns followed before the critic is asked"""

    AT_LEAST: ClassVar[dict[str, float]] = PolicySettings.AT_LEAST | {"k_step": 1}


class A2CLearner(PolicyLearner[A2C]):
    def judge(self) -> Judged:
        """k-step returns from own turn to own turn; plies without such a turn yet are left."""
        memory = self.memory
        picked = np.flatnonzero(memory.usable)
        came = memory.follow(picked, self.config.k_step, True, self.config.discount)
        behind = self.values_behind().reshape(-1)[came.behind]
        targets = (came.returns + came.factors * behind).astype(np.float32)
        whole = came.whole > 0
        picked, targets = picked[whole], targets[whole]
        return Judged(picked, normalised(targets - self.values.reshape(-1)[picked]), targets)

    def policy_loss(self, chosen: Chosen) -> Tensor:
        return policy_gradient_loss(chosen.logs, chosen.advantages)
