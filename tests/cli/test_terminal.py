"""What commands print."""

from __future__ import annotations

import json

import pytest

import plyground as pg
from plyground.arena.match import play_match
from plyground.cli import terminal


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal.console, "_width", 200)


@pytest.mark.usefixtures("wide")
def test_a_solved_position_lists_each_legal_move_with_its_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    position = pg.load("connect_four").position("112233")
    solve = position.game.rules.solve
    assert solve is not None
    terminal.show_solved(position, solve(position, None), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["best"], found["scores"]["4"]) == (["4"], found["score"])
    assert found["scores"].keys() == {"1", "2", "3", "4", "5", "6", "7"}
    terminal.show_solved(position, solve(position, None), as_json=False)
    shown = capsys.readouterr().out
    assert "● moves" in shown
    assert "│ 4    │ +18" in shown


@pytest.mark.usefixtures("wide")
def test_a_match_tells_score_interval_and_games_that_were_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    game = pg.load("connect_four")
    result = pg.match(game, pg.agent("greedy", game), pg.agent("random", game), games=40)
    terminal.show_match(result, "greedy", "random", game, as_json=False)
    shown = capsys.readouterr().out
    low, high = result.interval
    assert f"score of greedy: {result.score:.1%}, 95% interval {low:.1%} to {high:.1%}" in shown
    assert "counted as drawn" not in shown


@pytest.mark.usefixtures("wide")
def test_the_limit_of_plies_in_force_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Not the game's own MAX_PLIES, where a run has another."""
    game = pg.load("chess")
    random = pg.agent("random", game)
    for limit in (4, 6):
        terminal.show_match(play_match(game, random, random, 2, max_plies=limit), "a", "b", game, as_json=False)
        assert f"stopped after {limit} plies and counted as drawn: 2 games" in capsys.readouterr().out


def test_markup_in_a_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("runs/[bold]a[/bold]")
    assert capsys.readouterr().out == "runs/[bold]a[/bold]\n"


def test_a_board_is_drawn_for_the_seat_that_looks() -> None:
    position = pg.load("sequence").start(seed=3)
    own, other = (str(terminal.board(position, seat)) for seat in (0, 1))
    assert own != other


def test_long_names_are_folded_and_never_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game, long = pg.load("connect_four"), "search:sims=2,leaf=random,select=gumbel,lookahead=false"
    monkeypatch.setattr(terminal.console, "_width", 50)
    terminal.show_match(pg.match(game, long, "random", games=2), long, "random", game, as_json=False)
    terminal.show_ladder(pg.ladder(game, [long, "random"], games=2), as_json=False)
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.replace("\n", "").count("lookahead=fal") == 3, "the last words of the name too"
