"""REINFORCE: actions of won games become likelier, those of lost games less likely.

Learns from whole games, each ply once, when its game has ended: its return is the game's result, discounted for each
time the turn passed since. So a game that was begun before the last update was partly played by the policy before it.
Differs from Williams 1992: two sides play, and a loss of the other is a win of mine; illegal actions are masked; a
stopped game counts as a draw; and entropy has a price, without which it soon plays one game only
(`docs/learners/reinforce.md`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from plyground.kernels.replay import RUNS_ON
from plyground.learners.policy import Chosen, Judged, PolicyLearner, PolicySettings, normalised
from plyground.learners.returns import policy_gradient_loss

TO_THE_END = 2**30  # plies


@dataclass(frozen=True)
class Reinforce(PolicySettings):
    """Learn a game by playing it, with REINFORCE."""

    rollout: int = 64
    """plies of every game between two times of learning; plies of a game further back than twice that are not learned
    from"""
    baseline: bool = True
    """whether to judge a ply by how much better it turned out than the critic expected, not by its result alone"""


class ReinforceLearner(PolicyLearner[Reinforce]):
    rollouts_kept = 2  # a game may have begun in the rollout before

    def judge(self) -> Judged:
        """The plies of games that have ended since the last time."""
        memory, config = self.memory, self.config
        games = memory.states.shape[1]
        picked = np.flatnonzero(memory.usable[: memory.filled])
        came = memory.follow(picked, TO_THE_END, False, config.discount)
        age = (memory.newest - came.behind // games) % len(memory.states)  # rows since the game's last ply
        ended = (memory.ended.reshape(-1)[came.behind] != RUNS_ON) & (age < config.rollout)
        picked, returns = picked[ended], came.returns[ended]
        if not config.baseline:
            return Judged(picked, returns, returns)
        return Judged(picked, normalised(returns - self.values.reshape(-1)[picked]), returns)

    def policy_loss(self, chosen: Chosen) -> Tensor:
        return policy_gradient_loss(chosen.logs, chosen.advantages)
