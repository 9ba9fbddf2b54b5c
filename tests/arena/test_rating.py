"""Scores, intervals and Elo; simulated ratings lie within their intervals; errors of the sequential test are rare."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import play_until_decided
from plyground.arena.rating import Z95, Ratings, Sprt, Verdict, bradley_terry, elo, expected_score, mean_and_interval


def above(ratings: Ratings, a: int, b: int) -> tuple[float, float]:
    """The rating difference of players a and b, and half the width of its 95% interval."""
    c = ratings.covariance
    return ratings.elo[a] - ratings.elo[b], Z95 * math.sqrt(c[a, a] + c[b, b] - 2 * c[a, b])


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


def test_two_players_get_the_elo_difference() -> None:
    score, games = np.array([[0, 3000], [1000, 0]], float), np.array([[0, 4000], [4000, 0]], float)
    ratings = bradley_terry(score, games)
    difference, error = above(ratings, 0, 1)
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
        difference, error = above(ratings, 4, 0)
        pairs_inside += abs(difference - 550) < error
    assert 0.93 < inside / (5 * tries) < 0.975
    assert 0.92 < pairs_inside / tries < 0.985


def test_who_won_everything_gets_a_finite_rating() -> None:
    score, games = np.array([[0, 50], [0, 0]], float), np.array([[0, 50], [50, 0]], float)
    ratings = bradley_terry(score, games)
    assert np.isfinite(ratings.elo).all()
    assert ratings.elo[0] > 200
    assert ratings.error[0] > 100


# ---- the sequential test ----


def simulated(difference: float, test: Sprt, rng: np.random.Generator) -> tuple[Verdict, int]:
    """Pairs of games with draws, played until the test is decided."""
    mean, draws = expected_score(difference), 0.3
    games = rng.choice([1.0, 0.5, 0.0], (20_000, 2), p=[mean - draws / 2, draws, 1 - mean - draws / 2])
    pairs = games.mean(axis=1)
    for n in range(16, len(pairs), 16):
        verdict = test.verdict(pairs[:n])
        if verdict != Verdict.OPEN:
            return verdict, n
    return Verdict.OPEN, len(pairs)


@pytest.mark.parametrize(("difference", "right"), [(0, Verdict.NOT_STRONGER), (30, Verdict.STRONGER)])
def test_errors_are_as_rare_as_promised(difference: float, right: Verdict) -> None:
    rng, test = np.random.default_rng(4), Sprt(0, 30)
    verdicts = [simulated(difference, test, rng)[0] for _ in range(400)]
    assert Verdict.OPEN not in verdicts
    assert 0.005 < np.mean([verdict != right for verdict in verdicts]) < 0.075  # promised: 0.05


def test_a_clear_difference_is_seen_sooner() -> None:
    rng, test = np.random.default_rng(5), Sprt(0, 30)
    near = np.mean([simulated(30, test, rng)[1] for _ in range(50)])
    far = np.mean([simulated(200, test, rng)[1] for _ in range(50)])
    assert far < near / 4


def test_a_match_stops_when_it_is_decided(connect_four: pg.Game) -> None:
    greedy, dice = make("greedy", connect_four), make("random", connect_four)
    match, verdict = play_until_decided(connect_four, greedy, dice, Sprt(0, 20))
    assert verdict == Verdict.STRONGER
    assert match.games < 200
    match, verdict = play_until_decided(connect_four, dice, greedy, Sprt(0, 20))
    assert verdict == Verdict.NOT_STRONGER
    match, verdict = play_until_decided(connect_four, greedy, greedy, Sprt(0, 20), games=40)
    assert (match.games, verdict) == (40, Verdict.OPEN)


def test_the_command_tells_the_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from plyground.cli import app

    monkeypatch.setattr("sys.argv", ["plyground", "match", "greedy", "random", "--sprt", "0", "20", "--json"])
    app.main()
    assert json.loads(capsys.readouterr().out)["sprt"] == {"elo0": 0, "elo1": 20, "verdict": "accepted"}
    for agents, words in (
        (("greedy", "random"), "is +20 rather than +0"),
        (("random", "greedy"), "is +0 rather than +20"),
    ):
        monkeypatch.setattr("sys.argv", ["plyground", "match", *agents, "--sprt", "0", "20"])
        app.main()
        printed = " ".join(capsys.readouterr().out.split())
        assert f"SPRT, +0 against +20 Elo: {agents[0]} {words} Elo above {agents[1]}, after" in printed


@pytest.mark.parametrize("bad", [(20, 0, 0.05), (5, 5, 0.05), (0, 5, 0.7)])
def test_wrong_questions_are_refused(bad: tuple[float, float, float]) -> None:
    with pytest.raises(pg.InvalidValue):
        Sprt(*bad)
