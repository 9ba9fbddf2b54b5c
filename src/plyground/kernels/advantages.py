"""Template: generalised advantage estimation (GAE) over a rollout.

The template belongs to no game: no slot is filled. On a GPU a thread takes an environment (`cache.py` makes that loop).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.arrays import RolloutPlies
from plyground.kernels.replay import TERMINATED, TRUNCATED


@njit
def advantages_of_env(
    env: int, rollout: RolloutPlies, gamma: float, gae_lambda: float, out: NDArray[np.float32]
) -> None:
    """The advantages of one environment's plies.

    The next state's value is negated when the side to move changes, and gamma applies only there. A terminated game has
    no next state's value; a truncated one has. The opponent's plies are part of the environment: they are followed, and
    their advantage is 0. The value head is read at the learner's own plies, in the last row and at truncation.
    """
    rows = len(rollout.sides)
    expected = returned = 0.0  # at the following ply, for its side: the value, and the lambda-return
    for row in range(rows - 1, -1, -1):
        factor = 1.0 if rollout.next_sides[row, env] == rollout.sides[row, env] else -gamma
        reward = rollout.rewards[row, env]
        if rollout.ended[row, env] == TERMINATED:
            expected = returned = 0.0
        elif rollout.ended[row, env] == TRUNCATED or row == rows - 1:
            expected = returned = rollout.next_values[row, env]
        if rollout.own[row, env]:
            returned = reward + factor * ((1.0 - gae_lambda) * expected + gae_lambda * returned)
            expected = rollout.values[row, env]
            out[row, env] = returned - expected
        else:
            expected, returned = reward + factor * expected, reward + factor * returned
            out[row, env] = 0.0


@njit(cache=True, nogil=True)
def compute_advantages(rollout: RolloutPlies, gamma: float, gae_lambda: float, out: NDArray[np.float32]) -> None:
    """out [rows, envs]: the advantages of all environments. `gae_lambda` 0 is the one-step estimate, 1 the full one."""
    for env in range(rollout.sides.shape[1]):
        advantages_of_env(env, rollout, gamma, gae_lambda, out)
