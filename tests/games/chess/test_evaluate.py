"""The evaluation of chess positions."""

from __future__ import annotations

import chess
import numpy as np

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.chess.evaluate import evaluate_fine, pass_turn
from plyground.games.chess.text import text


def test_swapping_the_colours_changes_nothing_for_the_side_to_move() -> None:
    game = pg.load("chess")
    sample = laws.sample(game, 20 if JIT else 1, seed=9)
    for state in sample.states[:: 5 if JIT else 60]:
        fen = text(state)
        mirrored = chess.Board(fen).mirror().fen()
        assert _worth(game, fen) == _worth(game, mirrored)


def _worth(game: pg.Game, fen: str) -> float:
    values = np.empty(1, np.float32)
    game.kernels("evaluate").evaluate_all(game.position(fen).states, values)
    return float(values[0])


def test_material_shelter_and_a_cornered_king_count() -> None:
    game = pg.load("chess")
    even = chess.STARTING_FEN
    assert _worth(game, even) == 0
    assert _worth(game, even.replace("RNBQKBNR", "RNB1KBNR")) < -0.4  # without the queen
    assert _worth(game, even.replace("rnbqkbnr", "rnb1kbnr")) > 0.4
    up, castled = "r1bq1rk1/pppp1ppp/8/8/8/8/PPPP1PPP/R1BQ{} w - - 0 10", "1RK1"
    assert _worth(game, up.format(castled)) > _worth(game, up.format("R1K1").replace("PPPP1PPP/R", "PPPP3P/R"))
    cornered, free = "k7/8/2K5/8/8/8/8/6Q1 w - - 0 1", "8/8/8/3k4/8/8/1K6/6Q1 w - - 0 1"
    assert _worth(game, cornered) > _worth(game, free) > 0.5


def _fine(game: pg.Game, fen: str) -> float:
    return float(evaluate_fine(game.position(fen).state))


def test_swapping_the_colours_changes_nothing_for_the_fine_evaluation() -> None:
    game = pg.load("chess")
    for state in laws.sample(game, 10 if JIT else 1, seed=9).states[:: 9 if JIT else 60]:
        fen = text(state)
        assert _fine(game, fen) == _fine(game, chess.Board(fen).mirror().fen())


def test_passed_isolated_and_doubled_pawns_open_files_and_attackers_count() -> None:
    game = pg.load("chess")
    for better, worse in (
        ("4k3/7p/8/8/3P4/8/8/4K3 w - - 0 1", "4k3/3p4/8/8/3P4/8/8/4K3 w - - 0 1"),  # passed
        ("4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1", "4k3/pp6/8/8/8/8/P1P5/4K3 w - - 0 1"),  # side by side
        ("4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1", "4k3/pp6/8/8/8/P7/P7/4K3 w - - 0 1"),  # doubled
        ("4k3/p7/8/8/8/8/P7/1R2K3 w - - 0 1", "4k3/p7/8/8/8/8/1P6/1R2K3 w - - 0 1"),  # open file
        ("r4rk1/5ppp/8/6N1/8/8/1Q6/R4RK1 w - - 0 1", "r4rk1/5ppp/8/8/8/6N1/1Q6/R4RK1 w - - 0 1"),  # two attackers
    ):
        assert _fine(game, better) > _fine(game, worse), better


def test_a_null_move_gives_the_turn_away_where_that_is_no_advantage() -> None:
    game = pg.load("chess")
    state = game.position("rnbqkbnr/ppp1pppp/8/8/3pP3/5N2/PPPP1PPP/RNBQKB1R b KQkq e3 0 3").state
    assert pass_turn(state)
    assert (state["to_move"], state["en_passant"]) == (0, -1)
    for refused in ("4k3/4r3/8/8/8/8/8/R3K3 w - - 0 1", "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"):  # check; pawns only
        assert not pass_turn(game.position(refused).state)
    assert not pass_turn(game.position("7k/5K2/6P1/8/8/8/8/6B1 w - - 0 1").state)  # the opponent would be stalemated
