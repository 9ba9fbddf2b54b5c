"""Ratings from simulated results lie within their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from plyground.arena.rating import bradley_terry, elo, expected_score


def test_two_players_get_the_elo_difference() -> None:
    score, games = np.array([[0, 3000], [1000, 0]], float), np.array([[0, 4000], [4000, 0]], float)
    ratings = bradley_terry(score, games)
    difference, error = ratings.above(0, 1)
    assert difference == pytest.approx(elo(0.75), abs=0.5)
    assert error == pytest.approx(1.96 * 400 / np.log(10) / np.sqrt(4000 * 0.75 * 0.25), rel=0.01)
    assert ratings.elo.sum() == pytest.approx(0)


def test_expected_score_is_the_inverse_of_elo() -> None:
    assert [elo(expected_score(x)) for x in (-300, 0, 20)] == pytest.approx([-300, 0, 20])


def test_simulated_ratings_lie_within_their_intervals_95_times_of_100() -> None:
    rng, truth = np.random.default_rng(1), np.array([-300.0, -100.0, 0.0, 150.0, 250.0])
    inside, pairs_inside, tries = 0, 0, 400
    for _ in range(tries):
        score, games = np.zeros((2, 5, 5))
        for a in range(5):
            for b in range(a + 1, 5):
                won = rng.binomial(60, expected_score(truth[a] - truth[b]))
                score[a, b], score[b, a], games[a, b], games[b, a] = won, 60 - won, 60, 60
        ratings = bradley_terry(score, games)
        inside += (np.abs(ratings.elo - truth) < ratings.error).sum()
        difference, error = ratings.above(4, 0)
        pairs_inside += abs(difference - 550) < error
    assert 0.93 < inside / (5 * tries) < 0.975
    assert 0.92 < pairs_inside / tries < 0.985


def test_who_won_everything_gets_a_finite_rating() -> None:
    score, games = np.array([[0, 50], [0, 0]], float), np.array([[0, 50], [50, 0]], float)
    ratings = bradley_terry(score, games)
    assert np.isfinite(ratings.elo).all()
    assert ratings.elo[0] > 200
    assert ratings.error[0] > 100
