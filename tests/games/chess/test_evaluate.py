"""The evaluation of chess positions."""

from __future__ import annotations

import chess
import numpy as np

import plyground as pg
from conftest import JIT
from plyground.checks import laws
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
