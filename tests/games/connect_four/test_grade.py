"""Grades: judged by hand on small cases, and sensible for agents whose strength is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.agents.registry import make
from plyground.games.connect_four.grade import draw_positions, grade, judged
from plyground.games.connect_four.solver.solver import NO_MOVE, perfect

pytestmark = pytest.mark.compiled


def by_hand(game: pg.Game, texts: list[str], columns: list[int]):
    states = np.concatenate([game.position(text).states for text in texts])
    scores = perfect().move_scores(states).astype(np.int64)
    return judged(game, states, scores, np.array(columns) - 1), scores


def test_a_report_by_hand(connect_four: pg.Game) -> None:
    # The first side wins at once with 3 or 7; the second must block 4, or 1, 2, 3, 5, 6, 7 lose.
    report, scores = by_hand(connect_four, ["445566", "41424", "44444"], [1, 4, 2])
    assert report.positions == 3
    assert report.wins_taken.cases == 1
    assert report.wins_taken.agent == 0
    assert report.wins_taken.random == pytest.approx(2 / 7)
    assert report.threats_blocked.cases == 1
    assert report.threats_blocked.agent == 1
    assert report.threats_blocked.random == pytest.approx(1 / 7)
    assert report.exact["all"].cases == 2  # all moves of the third are equal
    assert report.exact["all"].agent == 0.5
    assert report.exact["end"].cases == 0
    lost = scores.max(axis=1) - scores[np.arange(3), [0, 3, 1]]
    assert report.value_lost.agent == pytest.approx(lost.mean())
    assert [mistake.played for mistake in report.mistakes] == ["1"]
    assert report.mistakes[0].words.endswith("3 wins in 1 move")


def test_the_random_movers_share_is_what_it_reaches(connect_four: pg.Game) -> None:
    report = grade(connect_four, make("random", connect_four), 300, seed=2, games=0)
    for share in (report.wdl["all"], report.exact["all"]):
        assert share.agent == pytest.approx(share.random, abs=4 * np.sqrt(0.25 / share.cases))
    assert report.value_lost.agent == pytest.approx(report.value_lost.random, rel=0.25)


def test_the_perfect_player_makes_no_mistake(connect_four: pg.Game) -> None:
    report = grade(connect_four, make("solver", connect_four), 100, seed=3, games=2)
    shares = [report.wdl["all"], report.exact["all"], report.wins_taken, report.threats_blocked]
    assert [share.agent for share in shares] == [1, 1, 1, 1]
    assert report.value_lost.agent == 0
    assert report.mistakes == []


def test_made_positions_all_matter(connect_four: pg.Game) -> None:
    greedy = make("greedy", connect_four)
    report = grade(connect_four, greedy, 60, seed=1, games=0)
    assert report.exact["all"].cases == report.positions == 60


class Wrong:
    """Plays column 1 wherever it is."""

    def act(self, states: np.ndarray, rngs: np.ndarray) -> np.ndarray:
        return np.zeros(len(states), np.int32)


def test_an_illegal_choice_is_an_error(connect_four: pg.Game) -> None:
    states = connect_four.position("111111").states
    assert perfect().move_scores(states)[0, 0] == NO_MOVE
    with pytest.raises(pg.Error, match="chose an illegal action: 0 is not legal"):
        grade(connect_four, Wrong(), states, games=0)


def test_other_games_are_not_graded() -> None:
    hops = pg.load(TINY[1])
    with pytest.raises(pg.InvalidValue, match="grades need a game that is solved"):
        grade(hops, make("random", hops))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    from plyground.cli import app

    (tmp_path / "positions").write_text("4455\n445566\n")
    words = ["plyground", "grade", "greedy", "--positions", str(tmp_path / "positions"), "--games", "2"]
    monkeypatch.setattr("sys.argv", [*words, "--json", "--picture", str(tmp_path / "worst.png")])
    app.main()
    answer = json.loads(capsys.readouterr().out)
    assert answer["wins_taken"] == {"cases": 1, "agent": 1.0, "random": pytest.approx(2 / 7)}
    assert answer["wdl"]["end"] == {"cases": 0, "agent": None, "random": None}
    assert answer["games"]["games"] == 2
    assert (tmp_path / "worst.png").stat().st_size > 5000
    monkeypatch.setattr("sys.argv", words)
    app.main()
    assert "against the perfect player" in capsys.readouterr().out


def test_positions_come_from_the_seed(connect_four: pg.Game) -> None:
    greedy = make("greedy", connect_four)
    first, again, other = (draw_positions(connect_four, 90, greedy, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert not np.isin(other, first).all()
    assert (first["outcome"] == 0).all()
    assert first["ply"].min() < 8
    assert first["ply"].max() > 20
