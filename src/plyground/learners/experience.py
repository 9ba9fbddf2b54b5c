"""What a cycle of play was like: numbers about the plies in a memory, and a score of their quality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from plyground.kernels.replay import TERMINATED, TRUNCATED
from plyground.learners.arrays import OnCpu
from plyground.learners.memory import Memory

MOST = 50_000  # plies looked at
REASONS = 1000  # games of a cycle whose ends are put into words: they tell enough, and words cost time
REASONS_OF_A_PLY = 50  # of them: where many games begin together, the first that end are all short


def statistics(memory: Memory, rows: int) -> dict[str, float]:
    """About the newest rows of a memory.

    `distinct`: share of plies that begin in a position no other of them begins in; `action_diversity`: entropy of the
    actions played, 1 if all that were played were played equally often.
    """
    games = memory.states.shape[1]
    states, actions, rewards, ended = memory.newest_rows(max(1, min(rows, memory.filled, max(1, MOST // games))))
    keys = np.ascontiguousarray(states).reshape(-1).view(f"V{memory.game.rules.HEAD.itemsize}")
    shares = np.bincount(actions.reshape(-1)) / ended.size
    shares = shares[shares > 0]
    spread = -float((shares * np.log(shares)).sum()) / math.log(len(shares)) if len(shares) > 1 else 0.0
    return {
        "plies_looked_at": int(ended.size),
        "reward_variance": float(rewards.var()),
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

    def add(self, memory: Memory, terminated: Any, truncated: Any, lengths: Any) -> None:
        """Count the games that ended with the newest row."""
        self.count(memory.on, memory.after[memory.newest], terminated, truncated, lengths)

    def count(self, on: OnCpu, after: Any, terminated: Any, truncated: Any, lengths: Any) -> None:
        """Count the games that have ended, of games [N] that have got to `after`."""
        outcomes, ended = on.field(after, "outcome"), (terminated | truncated) * lengths
        sums = [(terminated & (outcomes == code)).sum() for code in (1, 2, 3)]
        names = ("games", "plies", "step_limit", "draws", "first_wins", "second_wins", "longest")
        found = on.whole([(ended > 0).sum(), ended.sum(), truncated.sum(), *sums, ended.max()])
        for name, count in zip(names[:-1], found[:-1], strict=True):
            self.counts[name] += count
        self.counts["longest"] = max(self.counts["longest"], found[-1])
        wanted = min(REASONS_OF_A_PLY, REASONS - sum(self.reasons.values()))
        if wanted > 0:
            chosen = on.places(terminated)[:wanted]
            self.reasons.update(on.game.rules.reason(each) or "over" for each in on.records(after, chosen))

    def record(self) -> dict[str, Any]:
        games = max(1, self.games)
        shares = {name: self.counts[name] / games for name in ("first_wins", "second_wins", "draws", "step_limit")}
        lengths = {"mean_length": self.counts["plies"] / games, "longest": self.counts["longest"]}
        return {"games": self.games, **shares, **lengths, "reasons": dict(self.reasons)}
