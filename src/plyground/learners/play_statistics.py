"""Statistics of the plies that a learner has played: how varied they are, and how much there is to learn from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.replay import TERMINATED, TRUNCATED
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import GameResults

MAX_PLIES = 50_000  # looked at


def statistics(replay: ReplayBuffer, rows: int) -> dict[str, float]:
    """Of the newest rows of a replay buffer.

    `distinct`: share of plies whose position no other of them has; `action_diversity`: entropy of the actions played, 1
    if all actions that were played were played equally often.
    """
    wanted = max(1, min(rows, replay.filled, max(1, MAX_PLIES // replay.num_envs)))
    states, actions, rewards, ended = replay.newest_rows(wanted)
    keys = np.ascontiguousarray(states).reshape(-1).view(f"V{replay.game.rules.HEAD.itemsize}")
    return statistics_of(keys, actions.reshape(-1), rewards.reshape(-1), ended.reshape(-1))


def statistics_of(
    keys: NDArray[np.void], actions: NDArray[np.int32], rewards: NDArray[np.float32], ended: NDArray[np.int8]
) -> dict[str, float]:
    """The same of plies as arrays [N]; equal positions have equal keys."""
    shares = np.unique(actions, return_counts=True)[1] / ended.size
    spread = -float((shares * np.log(shares)).sum()) / math.log(len(shares)) if len(shares) > 1 else 0.0
    return {
        "plies_looked_at": int(ended.size),
        "reward_variance": float(rewards.var()),
        "terminals": float((ended == TERMINATED).mean()),
        "truncations": float((ended == TRUNCATED).mean()),
        "distinct": len(np.unique(keys)) / ended.size,
        "actions_played": len(shares),
        "action_diversity": spread,
    }


def quality(statistics: Mapping[str, float], decided: float) -> float:
    """How much there is to learn, 0 to 1: the mean of decided games, distinct positions and diverse actions."""
    return (decided + statistics["distinct"] + statistics["action_diversity"]) / 3


def cycle_statistics(results: GameResults, replay: ReplayBuffer, rows: int) -> dict[str, Any]:
    """How the games of a cycle ended, and statistics of its `rows` of plies."""
    ended, found = results.record(), statistics(replay, rows)
    decided = ended["first_wins"] + ended["second_wins"]
    return {**ended, **found, "quality": quality(found, decided), "buffer": len(replay)}
