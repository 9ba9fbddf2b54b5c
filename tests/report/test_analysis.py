"""Analysis of whole games: what each move has lost, by the solver or by the search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.search import SearchAgent
from plyground.errors import Error, InvalidValue
from plyground.games.connect_four.solver.solver import perfect
from plyground.play.saved import read_moves
from plyground.report.analysis import GameAnalysis, PlyAnalysis, analyse_game, name_mistake, solve
from plyground.search.timed import TimedMinimax
from plyground.search.tree_config import SearchConfig

pytestmark = pytest.mark.compiled
THREE = str(ROOT / "examples" / "three_in_a_row.py")
LATE = "152371534726617233"  # 18 plies: the solver needs milliseconds


def analysed(start: pg.Position, moves: str, simulations: int = 300, **settings: Any) -> list[GameAnalysis]:
    analyst = SearchAgent(start.game, SearchConfig(simulations, **settings)).analyst()
    return list(analyse_game(analyst, start, read_moves(start, moves)))


def ply(number: int, lost: float) -> PlyAnalysis:
    return PlyAnalysis(number, "x", "1", "2", ["2"], 0.0, None, lost, name_mistake(lost), "", "")


def test_names_of_mistakes_follow_the_thresholds() -> None:
    named = [name_mistake(lost) for lost in (0.0, 0.09, 0.1, 0.19, 0.2, 0.29, 0.3, 2.0)]
    assert named == ["", "", "inaccuracy", "inaccuracy", "mistake", "mistake", "blunder", "blunder"]


def test_the_worst_mistakes_come_first() -> None:
    game = GameAnalysis("game", [ply(1, 0.25), ply(2, 0.0), ply(3, 1.5), ply(4, 0.25)], 4)
    assert [each.ply for each in game.worst()] == [3, 1, 4]


def test_losses_in_connect_four_are_those_of_the_solver() -> None:
    """A random game: each move's loss of win, draw or loss, and a best move that keeps the value."""
    four, rng = pg.load("connect_four"), np.random.default_rng(3)
    start = four.position(LATE)
    position, moves, losses = start, "", list[int]()
    while not position.over and len(moves) < 20:
        scores = {action: int(perfect().move_scores(position.states)[0, action]) for action in position.legal()}
        played = int(rng.choice(position.legal()))
        losses.append(int(np.sign(max(scores.values())) - np.sign(scores[played])))
        moves, position = moves + position.name(played), position.play(played)
    game = analysed(start, moves, 50)[-1]
    assert [each.lost for each in game.plies] == losses
    assert any(losses)
    for each in game.plies:
        assert (each.best == each.played) == (each.lost == 0)
        here = solve(four.position(each.position))
        exact = here[four.position(each.position).action(each.best)][0]
        assert np.sign(exact) == np.sign(max(score for score, _ in here.values()))


def test_a_missed_win_is_the_worst_blunder_and_the_win_was_better() -> None:
    game = analysed(pg.load("connect_four").position("112233"), "7")[-1]
    worst = game.worst()[0]
    assert (worst.ply, worst.played, worst.best, worst.mistake) == (1, "7", "4", "blunder")
    assert worst.words.endswith("4 wins in 1 move")


def test_without_a_solver_the_search_finds_the_losing_move_of_three_in_a_row() -> None:
    """The first side takes the centre; the second at an edge has lost by force."""
    three = pg.load(THREE)
    names = three.start().names()
    centre, edge = names[4], names[1]
    game = analysed(three.start(), f"{centre} {edge}", 6000, exploration=4.0)[-1]
    assert [each.mistake for each in game.plies] == ["", "blunder"]
    assert [each.value for each in game.plies] == pytest.approx([0.0, 1.0], abs=0.15)
    assert all(each.exact is None for each in game.plies)
    assert game.plies[1].best in (names[0], names[2], names[6], names[8])  # the corners hold the draw


def test_a_game_that_is_over_ends_with_its_result() -> None:
    """The last value is that of the rules, for the first side, whoever moved last."""
    four = pg.load("connect_four")
    assert analysed(four.start(), "1212121", 50)[-1].plies[-1].value == 1.0
    assert analysed(four.start(), "71212121", 50, leaf="random")[-1].plies[-1].value == -1.0


def test_what_is_proven_of_a_position_is_told_for_the_first_side() -> None:
    """By whoever moves next: the mate that Black has, and the mate that White has."""
    chess = pg.load("chess")
    plies = analysed(chess.start(), "f3 e5 g4 Qh4", 2000)[-1].plies
    assert [(each.number, each.result) for each in plies][2:] == [("2.", "loss in 1 move"), ("2...", "loss")]
    won = analysed(chess.position("7k/8/8/8/8/8/R7/1R4K1 b - - 0 1"), "Kg8", 5000)[-1].plies[0]
    assert (won.number, won.result) == ("1...", "win in 2 moves")
    assert analysed(pg.load("connect_four").position(LATE), "4", 10)[-1].plies[0].number == ""


def test_alpha_beta_names_the_moves_that_allow_a_mate() -> None:
    start = pg.load("chess").start()
    moves = read_moves(start, "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#")
    *_, found = analyse_game(TimedMinimax(start.game, nodes=50_000).analyst(), start, moves)
    (worst,) = [each for each in found.plies if each.mistake == "blunder"]
    assert (worst.number, worst.played, worst.result) == ("3...", "g8f6", "win in 1 move")
    assert worst.best in ("g7g6", "d8e7", "d8f6")
    assert worst.line[0] == worst.best
    assert found.plies[-1].lost == 0.0


def test_the_plies_so_far_come_one_by_one() -> None:
    found = analysed(pg.load("connect_four").start(), "4453", 50)
    assert [len(each.plies) for each in found] == [1, 2, 3, 4]
    assert {each.length for each in found} == {4}


def test_a_game_without_moves_is_refused() -> None:
    four = pg.load("connect_four")
    with pytest.raises(InvalidValue, match="a game needs at least one move"):
        list(analyse_game(SearchAgent(four, SearchConfig(10)).analyst(), four.start(), []))


def test_a_solver_without_enough_time_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    four = pg.load("connect_four")

    def late(position: pg.Position, seconds: float) -> None:
        raise Error("out of time")

    monkeypatch.setitem(vars(four.rules), "solve", late)
    assert solve(four.start()) == {}
