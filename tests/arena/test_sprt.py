"""The sequential test errs as seldom as it promises."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plyground as pg
from plyground.agents.agent import make
from plyground.arena.match import play_until_decided
from plyground.arena.rating import expected_score
from plyground.arena.sprt import Sprt, Verdict


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
    from plyground import cli

    monkeypatch.setattr("sys.argv", ["plyground", "match", "greedy", "random", "--sprt", "0", "20", "--json"])
    cli.main()
    assert json.loads(capsys.readouterr().out)["sprt"] == {"elo0": 0, "elo1": 20, "verdict": "accepted"}
    for agents, words in (
        (("greedy", "random"), "is +20 rather than +0"),
        (("random", "greedy"), "is +0 rather than +20"),
    ):
        monkeypatch.setattr("sys.argv", ["plyground", "match", *agents, "--sprt", "0", "20"])
        cli.main()
        printed = " ".join(capsys.readouterr().out.split())
        assert f"SPRT, +0 against +20 Elo: {agents[0]} {words} Elo above {agents[1]}, after" in printed


@pytest.mark.parametrize("bad", [(20, 0, 0.05), (5, 5, 0.05), (0, 5, 0.7)])
def test_wrong_questions_are_refused(bad: tuple[float, float, float]) -> None:
    with pytest.raises(pg.InvalidValue):
        Sprt(*bad)
