"""Strength from results: scores and Elo differences with 95% intervals, Bradley-Terry ratings, the sequential test.

SPRT, the sequential probability ratio test, compares the likelihood of the results under "A is `elo1` stronger" and
under "A is `elo0` stronger". Scores of PAIRS are taken as normally distributed with the observed variance: the two
games of one opening are not independent, pairs are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue

Z95 = 1.959964  # standard deviations of a two-sided 95% interval


def mean_and_interval(scores: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The mean of scores in [0, 1] and its 95% interval: a normal approximation with two pseudo-scores, 0 and 1.

    Without the pseudo-scores the interval of a player who won everything would have no width. The scores must be means
    of PAIRS: the two games of one opening are not independent, pairs are.
    """
    n = len(scores)
    if n == 0:
        raise ValueError("the mean of no scores is not defined")
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


def expected_score(difference: float) -> float:
    """The score of a player who is rated `difference` higher: the inverse of `elo`."""
    return 1 / (1 + 10 ** (-difference / 400))


@dataclass(frozen=True)
class Ratings:
    """Bradley-Terry ratings in Elo with mean 0, and their covariance."""

    elo: NDArray[np.float64]  # [P]
    covariance: NDArray[np.float64]  # [P, P]

    @property
    def error(self) -> NDArray[np.float64]:
        """[P] half the width of each 95% interval."""
        return Z95 * np.sqrt(np.diag(self.covariance))


PRIOR_GAMES = 2  # pseudo-draws of each player against an average player: ratings stay finite
PER_ELO = math.log(10) / 400


def bradley_terry(score: NDArray[np.float64], games: NDArray[np.float64]) -> Ratings:
    """Maximum a posteriori ratings: player a scored `score[a, b]` points in `games[a, b]` games against b, both [P, P].

    Newton's method on the concave log-posterior. The covariance is the inverse of its curvature, as if games were
    independent and had no draws; draws reduce the variance, so the intervals are wide rather than narrow.
    """
    players = len(games)

    def slope_and_curvature(ratings: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        won = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))  # [P, P] expected scores
        against_average = 1 / (1 + np.exp(-ratings))
        slope = (score - games * won).sum(axis=1) + PRIOR_GAMES * (0.5 - against_average)
        spread = games * won * (1 - won)
        return slope, np.diag(spread.sum(axis=1) + PRIOR_GAMES * against_average * (1 - against_average)) - spread

    ratings = np.zeros(players)  # in natural units
    for _ in range(100):
        slope, curvature = slope_and_curvature(ratings)
        step = np.asarray(np.linalg.solve(curvature, slope), np.float64)
        ratings = ratings + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    centre = np.eye(players) - 1 / players
    covariance = centre @ np.linalg.inv(slope_and_curvature(ratings)[1]) @ centre / PER_ELO**2
    return Ratings((ratings - ratings.mean()) / PER_ELO, covariance)


# ---- the sequential test ----


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
