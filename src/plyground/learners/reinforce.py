"""REINFORCE: actions of won games become likelier, those of lost games less likely.

Learns from whole games, each ply once, after its game has ended: its return is the game's result, discounted for each
time the turn passed since. So a game that began before the last update was partly played by the policy before it.
Differences from Williams 1992: two sides play, and a loss of the other side is a win; illegal actions are masked; a
truncated game counts as a draw; an entropy bonus, without which the policy soon plays a single game
(`docs/learners/reinforce.md`). Metrics: see `rollout.py`.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from torch import Tensor

from plyground.kernels.replay import RUNS_ON
from plyground.learners.config import Reinforce
from plyground.learners.rollout import PolicyBatch, Rollout, normalized, policy_gradient_loss
from plyground.learners.state import Metrics, TrainingState

TO_THE_END = 2**30  # plies


class ReinforceLearner:
    """A network with policy and value heads, and the plies of the newest two rollouts."""

    limits = ("cycles", "seconds")

    def __init__(self, config: Reinforce) -> None:
        self.config, self.state = config, TrainingState()
        self.rollout = Rollout(config, self.state, kept=2)
        self.model, self.cycle, self.game = self.rollout.model, self.rollout.cycle, self.rollout.view.game

    def iterate(self) -> Metrics:
        """One ply in every environment; at the end of a rollout, one step over all its plies: after it, another policy
        would have played."""
        if not self.rollout.play():
            return {}
        plies = self.advantages()
        return self.rollout.update(plies, self.policy_loss) if len(plies.indices) else {}

    def advantages(self) -> PolicyBatch:
        """The plies of games that have ended since the last update."""
        rollout, replay, config = self.rollout, self.rollout.replay, self.config
        indices = replay.usable[: replay.filled].flatten().nonzero()[:, 0]
        found = replay.n_step_returns(indices, TO_THE_END, False, config.gamma)
        age = (replay.newest - found.next_indices // replay.num_envs) % len(
            replay.states
        )  # rows since the game's last ply
        ended = (replay.at(replay.plies.ended, found.next_indices) != RUNS_ON) & (age < config.rollout_length)
        indices, returns = indices[ended], found.returns[ended]
        if not config.baseline:
            return PolicyBatch(indices, returns, returns)
        return PolicyBatch(indices, normalized(returns - replay.at(rollout.values, indices)), returns)

    def policy_loss(self, log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor) -> Tensor:
        return policy_gradient_loss(log_probs, advantages)

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        return {**self.rollout.parts(), "state": self.state}
