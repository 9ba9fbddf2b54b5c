"""SPRT: the sequential probability ratio test between two Elo differences.

It compares the likelihood of the results under "A is `elo1` stronger" and under "A is `elo0` stronger". Scores of PAIRS
are taken as normally distributed with the observed variance: the two games of one opening are not independent, pairs
are.
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
    """The state of the test."""

    OPEN = "undecided"
    STRONGER = "accepted"  # the difference is elo1 rather than elo0
    NOT_STRONGER = "refused"


@dataclass(frozen=True)
class Sprt:
    """Is A stronger than B by `elo1`, or only by `elo0`? `error` is the probability of each wrong answer."""

    elo0: float
    elo1: float
    error: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            given = f"{self.elo0} with {self.elo1}"
            raise InvalidValue(f"SPRT compares a smaller with a larger Elo difference, not {given}")
        if not 0 < self.error < 0.5:
            raise InvalidValue(f"the error probability lies between 0 and 0.5, not {self.error}")

    @property
    def limit(self) -> float:
        """The log-likelihood ratio at which the test ends."""
        return math.log((1 - self.error) / self.error)

    def ratio(self, pairs: NDArray[np.float64]) -> float:
        """The log-likelihood ratio of the mean scores of pairs [N], each 0 to 1."""
        if not len(pairs):
            return 0.0
        # Two pseudo-pairs, a win and a loss: the variance of a short series of equal results would be 0.
        variance = float(np.concatenate([pairs, [0.0, 1.0]]).var())
        low, high = expected_score(self.elo0), expected_score(self.elo1)
        return len(pairs) * (high - low) * (2 * float(pairs.mean()) - low - high) / (2 * variance)

    def verdict(self, pairs: NDArray[np.float64]) -> Verdict:
        ratio = self.ratio(pairs)
        if ratio >= self.limit:
            return Verdict.STRONGER
        return Verdict.NOT_STRONGER if ratio <= -self.limit else Verdict.OPEN
