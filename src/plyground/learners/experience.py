"""What a cycle of play was like: numbers about the plies in a memory, and a score of their quality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from plyground.games.interface import Rules
from plyground.kernels.replay import TERMINATED, TRUNCATED
from plyground.learners.memory import Memory

MOST = 50_000  # plies looked at


def statistics(memory: Memory, rows: int) -> dict[str, float]:
    """About the newest rows of a memory.

    `distinct`: share of plies that begin in a position no other of them begins in; `action_diversity`: entropy of the
    actions played, 1 if all that were played were played equally often.
    """
    games = memory.states.shape[1]
    rows = max(1, min(rows, memory.filled, max(1, MOST // games)))
    chosen = (memory.newest - np.arange(rows)) % len(memory.states)
    states, ended = np.ascontiguousarray(memory.states[chosen]), memory.ended[chosen]
    keys = states.reshape(-1).view(f"V{states.dtype.itemsize}")
    shares = np.bincount(memory.actions[chosen].reshape(-1)) / ended.size
    shares = shares[shares > 0]
    spread = -float((shares * np.log(shares)).sum()) / math.log(len(shares)) if len(shares) > 1 else 0.0
    return {
        "plies_looked_at": int(ended.size),
        "reward_variance": float(memory.rewards[chosen].var()),
        "terminals": float((ended == TERMINATED).mean()),
        "step_limits": float((ended == TRUNCATED).mean()),
        "distinct": len(np.unique(keys)) / ended.size,
        "actions_played": len(shares),
        "action_diversity": spread,
    }


def quality(statistics: Mapping[str, float], decided: float) -> float:
    """How much there is to learn, 0 to 1: the mean of decided games, distinct positions, diverse actions."""
    return (decided + statistics["distinct"] + statistics["action_diversity"]) / 3


class Tally:
    """How the games of a cycle ended."""

    def __init__(self, counts: Mapping[str, int] | None = None, reasons: Mapping[str, int] | None = None) -> None:
        self.counts: Counter[str] = Counter(counts or {})
        self.reasons: Counter[str] = Counter(reasons or {})

    @property
    def games(self) -> int:
        return self.counts["games"]

    def add(
        self, memory: Memory, terminated: np.ndarray[Any, Any], truncated: np.ndarray[Any, Any], lengths: Any
    ) -> None:
        """Count the games that ended with the newest row."""
        self.count(memory.game.rules, memory.after[memory.newest], terminated, truncated, lengths)

    def count(
        self,
        rules: Rules,
        after: np.ndarray[Any, Any],  # [N] where each game has got
        terminated: np.ndarray[Any, Any],
        truncated: np.ndarray[Any, Any],
        lengths: Any,
    ) -> None:
        """Count the games that have ended."""
        over = np.flatnonzero(terminated | truncated)
        self.counts["games"] += len(over)
        self.counts["plies"] += int(lengths[over].sum())
        self.counts["longest"] = max(self.counts["longest"], int(lengths[over].max(initial=0)))
        self.counts["step_limit"] += int(truncated.sum())
        for name, code in (("draws", 1), ("first_wins", 2), ("second_wins", 3)):
            self.counts[name] += int((after["outcome"][terminated] == code).sum())
        if self.games <= 1000:  # a thousand tell enough, and words cost time
            self.reasons.update(rules.reason(after[each]) or "over" for each in np.flatnonzero(terminated))

    def record(self) -> dict[str, Any]:
        games = max(1, self.games)
        shares = {name: self.counts[name] / games for name in ("first_wins", "second_wins", "draws", "step_limit")}
        lengths = {"mean_length": self.counts["plies"] / games, "longest": self.counts["longest"]}
        return {"games": self.games, **shares, **lengths, "reasons": dict(self.reasons)}
