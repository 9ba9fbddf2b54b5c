"""A2C: the policy gradient with advantages from n-step returns, one pass over each rollout.

The return of a ply contains its rewards up to the same side's n-th turn after it, and the value of the state then: the
opponent is part of the environment. Metrics: see `rollout.py`.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from plyground.agents.network import NetworkAgent
from plyground.learners.config import Count, NetworkConfig, RunConfig
from plyground.learners.cycle import SelfPlayCycle
from plyground.learners.losses import normalized, policy_gradient_loss
from plyground.learners.model import Model
from plyground.learners.rollout import PolicyBatch, PolicyConfig, Rollout, SamplingAgent
from plyground.learners.state import Metrics, TrainingState


@dataclass(frozen=True)
class A2C(PolicyConfig, NetworkConfig, RunConfig):
    """Train a policy with advantage actor-critic."""

    n_steps: Count = 2
    """own turns of the n-step return"""


class A2CLearner:
    """A network with policy and value heads, and the plies of the present rollout."""

    limits = ("cycles", "seconds")

    def __init__(self, config: A2C) -> None:
        self.config, self.state = config, TrainingState()
        self.model = Model(config, agent=SamplingAgent)
        self.game = self.model.view.game
        self.rng = torch.Generator(self.model.view.device).manual_seed(config.seed)
        self.rollout = Rollout(config, self.model, self.rng)
        self.cycle = SelfPlayCycle(config, self.state, self.model, self.rollout.games.results, self.rollout.replay)

    def iterate(self) -> Metrics:
        """One ply in every environment; at the end of a rollout, one step over all its plies: after it, another policy
        would have played."""
        self.rollout.play()
        self.state.plies += self.config.num_envs
        if not self.rollout.complete():
            return {}
        self.model.schedule_learning_rate(self.state)
        plies = self.advantages()
        return self.rollout.update(plies, self.policy_loss, self.state) if len(plies.indices) else {}

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

    # ---- for the training loop ----

    @property
    def identity(self) -> dict[str, str]:
        return self.model.identity

    def agent(self) -> NetworkAgent:
        return self.model.agent()

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        return {**self.model.parts(), **self.rollout.parts(), "state": self.state, "rng": self.rng}
