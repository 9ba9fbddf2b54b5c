"""What results say about strength: a score, an Elo difference, and how sure one may be of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

Z95 = 1.959964  # a normal variable lies within this many deviations 95 times of 100


def mean_and_interval(scores: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The mean of scores in [0, 1] and its 95% interval, by the normal law after two imagined scores, a 0 and a 1.

    Without those two, a player who won everything would seem certain to win always. Hand it the means of PAIRS: the two
    games of one opening are not independent, the pairs are.
    """
    n = len(scores)
    if n == 0:
        raise ValueError("no scores, no mean")
    mean = math.fsum(scores) / n
    centre = (math.fsum(scores) + 1) / (n + 2)
    spread = math.fsum((score - centre) ** 2 for score in scores) + centre**2 + (1 - centre) ** 2
    radius = Z95 * math.sqrt(spread) / (n + 2)
    return mean, (max(0.0, min(mean, centre - radius)), min(1.0, max(mean, centre + radius)))


def elo(score: float) -> float:
    """The rating difference at which this score is expected; infinite at 0 and 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return -400 * math.log10(1 / score - 1)
