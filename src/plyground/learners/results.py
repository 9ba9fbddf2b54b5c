"""How the games of a cycle ended."""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor

from plyground.backend.games import DeviceGame
from plyground.game import Game
from plyground.games.interface import DRAW, FIRST_WINS, SECOND_WINS

MAX_REASONS = 1000  # games of a cycle whose reasons are counted: enough to tell, and texts cost time
MAX_REASONS_PER_PLY = 50  # where many games begin together, the first that end are all short
COUNTS = ("games", "plies", "truncated", "draws", "first_wins", "second_wins")


class GameResults:
    """Counts of the games that ended since the cycle began."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.clear()

    def clear(self) -> None:
        self.counts, self.reasons = Counter[str](), Counter[str]()

    @property
    def games(self) -> int:
        return self.counts["games"]

    def state(self) -> dict[str, Any]:
        return {"counts": self.counts, "reasons": self.reasons}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.clear()
        for key, count in state.items():  # such as `reasons.four in a row`
            which, _, name = key.partition(".")
            (self.counts if which == "counts" else self.reasons)[name] = count

    def add(
        self,
        games: DeviceGame,
        next_states: Tensor,  # [N, bytes]
        terminated: Tensor,  # [N]
        truncated: Tensor,  # [N]
        lengths: Tensor,  # [N] plies of each game
        illegal: Tensor,  # [1] the first row with an illegal action
    ) -> int:
        """Count the games that have just ended; returns `illegal`, read together with the counts: on a GPU each read
        synchronises."""
        outcomes, ended = games.field(next_states, "outcome"), (terminated | truncated) * lengths
        wins = [(terminated & (outcomes == code)).sum() for code in (DRAW, FIRST_WINS, SECOND_WINS)]
        sums = [(ended > 0).sum(), ended.sum(), truncated.sum(), *wins, ended.max(), illegal[0]]
        *counts, longest, row = cast("list[int]", torch.stack([each.long() for each in sums]).tolist())
        for name, count in zip(COUNTS, counts, strict=True):
            self.counts[name] += count
        self.counts["longest"] = max(self.counts["longest"], longest)
        wanted = min(MAX_REASONS_PER_PLY, MAX_REASONS - self.reasons.total())
        if wanted > 0 and counts[0]:
            rows = terminated.nonzero()[:wanted, 0]
            self.reasons.update(self.game.rules.reason(each) or "over" for each in games.to_records(next_states[rows]))
        return row

    def record(self) -> dict[str, Any]:
        """Shares, lengths and reasons, for the metrics of a cycle."""
        games = max(1, self.games)
        shares = {name: self.counts[name] / games for name in ("first_wins", "second_wins", "draws", "truncated")}
        lengths = {"mean_length": self.counts["plies"] / games, "longest": self.counts["longest"]}
        return {"games": self.games, **shares, **lengths, "reasons": dict(self.reasons)}
