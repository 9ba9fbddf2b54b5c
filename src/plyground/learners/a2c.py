"""A2C: the policy gradient with advantages from n-step returns, one pass over each rollout.

The return of a ply contains its rewards up to the same side's n-th turn after it, and the value of the state then: the
opponent is part of the environment. Metrics: see `rollout.py`.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from torch import Tensor

from plyground.learners.config import A2C
from plyground.learners.rollout import PolicyBatch, Rollout, normalized, policy_gradient_loss
from plyground.learners.state import Metrics, TrainingState


class A2CLearner:
    """A network with policy and value heads, and the plies of the present rollout."""

    limits = ("cycles", "seconds")

    def __init__(self, config: A2C) -> None:
        self.config, self.state = config, TrainingState()
        self.rollout = Rollout(config, self.state)
        self.model, self.cycle, self.game = self.rollout.model, self.rollout.cycle, self.rollout.view.game

    def iterate(self) -> Metrics:
        """One ply in every environment; at the end of a rollout, one step over all its plies: after it, another policy
        would have played."""
        if not self.rollout.play():
            return {}
        plies = self.advantages()
        return self.rollout.update(plies, self.policy_loss) if len(plies.indices) else {}

    def advantages(self) -> PolicyBatch:
        """n-step returns from own turn to own turn; plies whose n-th turn has not come yet are left out."""
        rollout, replay, config = self.rollout, self.rollout.replay, self.config
        indices = replay.usable.flatten().nonzero()[:, 0]
        found = replay.n_step_returns(indices, config.n_steps, True, config.gamma)
        returns = found.returns + found.bootstrap_discount * replay.at(rollout.next_values(), found.next_indices)
        complete = found.complete > 0
        indices, returns = indices[complete], returns[complete]
        return PolicyBatch(indices, normalized(returns - replay.at(rollout.values, indices)), returns)

    def policy_loss(self, log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor) -> Tensor:
        return policy_gradient_loss(log_probs, advantages)

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        return {**self.rollout.parts(), "state": self.state}
