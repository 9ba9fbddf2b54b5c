"""Scores, intervals and Elo."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plyground.arena.rating import elo, mean_and_interval


def test_elo_by_hand() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(1 / 11) == pytest.approx(-400)
    assert elo(1) == math.inf
    assert elo(0) == -math.inf


def test_the_interval_holds_the_mean_and_narrows() -> None:
    mean, (low, high) = mean_and_interval([1.0, 0.5, 0.75, 0.5])
    assert mean == 0.6875
    assert 0 <= low < mean < high <= 1
    widths = [np.diff(mean_and_interval([0.0, 0.5, 1.0] * n)[1])[0] for n in (3, 30, 300)]
    assert widths == sorted(widths, reverse=True)


def test_a_clean_sweep_is_not_certain() -> None:
    mean, (low, high) = mean_and_interval([1.0] * 20)
    assert mean == high == 1
    assert 0.8 < low < 0.97
    assert mean_and_interval([0.0] * 20)[1] == pytest.approx((0, 1 - low))


@pytest.mark.parametrize("strength", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("pairs", [25, 200])
def test_the_interval_covers_the_truth_as_often_as_it_says(strength: float, pairs: int) -> None:
    rng = np.random.default_rng(0)
    covered, trials = 0, 1500
    for _ in range(trials):
        # Both games of a pair share an opening that helps one side: they are not independent.
        swing = rng.uniform(-0.05, 0.05, pairs)
        wins = rng.random((pairs, 2)) < np.stack([strength + swing, strength - swing], axis=1)
        _, (low, high) = mean_and_interval(wins.mean(axis=1).tolist())
        covered += low <= strength <= high
    assert 0.93 <= covered / trials <= 0.995  # a little wide where few pairs are nearly all won


def test_no_scores_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no scores"):
        mean_and_interval([])
