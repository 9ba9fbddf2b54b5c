"""The sequential test: play on until the results speak clearly for one of two rating differences.

After every pair of games it asks how much likelier the results are if A is `elo1` stronger than if A is `elo0`
stronger. The scores of PAIRS are taken as normally distributed with the variance that was observed: the two games of
an opening are not independent, the pairs are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from plyground.arena.rating import expected_score
from plyground.errors import InvalidValue


class Verdict(StrEnum):
    """What the test says so far."""

    OPEN = "undecided"
    STRONGER = "accepted"  # the difference is elo1 rather than elo0
    NOT_STRONGER = "refused"


@dataclass(frozen=True)
class Sprt:
    """Is A stronger than B by `elo1`, or only by `elo0`? Each wrong answer has the probability `error`."""

    elo0: float
    elo1: float
    error: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise InvalidValue(
                f"SPRT compares a smaller with a larger Elo difference, not {self.elo0} with {self.elo1}"
            )
        if not 0 < self.error < 0.5:
            raise InvalidValue(f"the error probability lies between 0 and 0.5, not {self.error}")

    @property
    def limit(self) -> float:
        """The log-likelihood ratio that decides."""
        return math.log((1 - self.error) / self.error)

    def ratio(self, pairs: NDArray[np.float64]) -> float:
        """The log-likelihood ratio of the mean scores of pairs [N], each 0 to 1."""
        n = len(pairs)
        if n == 0:
            return 0.0
        # Two imagined pairs, a win and a loss, keep a short series of equal results from looking certain.
        seen = np.concatenate([pairs, [0.0, 1.0]])
        variance = float(seen.var())
        low, high = expected_score(self.elo0), expected_score(self.elo1)
        return n * (high - low) * (2 * float(pairs.mean()) - low - high) / (2 * variance)

    def verdict(self, pairs: NDArray[np.float64]) -> Verdict:
        ratio = self.ratio(pairs)
        if ratio >= self.limit:
            return Verdict.STRONGER
        return Verdict.NOT_STRONGER if ratio <= -self.limit else Verdict.OPEN
