"""The chess board: its drawing, where pieces reach, against python-chess, and moves that need a word.

Random games are compared with python-chess in test_rules.
"""

from __future__ import annotations

import random
import re

import chess
import numpy as np

import plyground as pg
from conftest import JIT
from plyground.games import bits
from plyground.games.chess import board as chess_board


def test_the_drawing_of_the_squares_is_true() -> None:
    drawn = re.findall(r"^ {4}((?:[ \d]\d ?){8})", chess_board.__doc__ or "", re.MULTILINE)
    assert [[int(number) for number in line.split()] for line in drawn] == [
        list(range(8 * rank, 8 * rank + 8)) for rank in reversed(range(8))
    ]


def test_attacks_agree_with_python_chess() -> None:
    rng = random.Random(1)
    for _ in range(2000 if JIT else 60):
        square, occupied = rng.randrange(64), rng.getrandbits(64) & rng.getrandbits(64) | 1 << rng.randrange(64)
        for function, piece in ((bits.rook_rays, chess.ROOK), (bits.bishop_rays, chess.BISHOP)):
            board = chess.BaseBoard(None)
            for other in chess.SquareSet(occupied):
                board.set_piece_at(other, chess.Piece(chess.PAWN, chess.BLACK))
            board.set_piece_at(square, chess.Piece(piece, chess.WHITE))
            assert int(function(np.uint64(square), np.uint64(occupied))) == int(board.attacks(square))
        a, b = rng.sample(range(64), 2)
        assert int(chess_board.between(np.uint64(a), np.uint64(b))) == int(chess.SquareSet.between(a, b))


def test_every_move_has_one_action_and_promotions_to_a_queen_are_among_the_first_4096() -> None:
    game = pg.load("chess")
    position = game.position("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1")
    names = dict(zip(position.names(), position.legal(), strict=True))
    assert names["b7a8q"] == 64 * chess.B7 + chess.A8
    assert [names[f"b7a8{piece}"] for piece in "nbr"] == [4096 + 9 * 1 + 3 * 0 + k for k in range(3)]
    assert [names[f"b7b8{piece}"] for piece in "nbr"] == [4096 + 9 * 1 + 3 * 1 + k for k in range(3)]
    assert [names[f"b7c8{piece}"] for piece in "nbr"] == [4096 + 9 * 1 + 3 * 2 + k for k in range(3)]
    moves = [name for name, action in names.items() if action < chess_board.QUEENING_ACTIONS]
    assert sorted(moves) == sorted(name for name in names if len(name) == 4 or name.endswith("q"))


def test_en_passant_that_would_uncover_the_king_is_not_there() -> None:
    game = pg.load("chess")
    position = game.position("8/8/8/8/1k1p3R/8/4P3/4K3 w - - 0 1").play("e2e4")
    assert position.text.split()[3] == "-"
    position = game.position("8/8/8/8/1k1p4/7R/4P3/4K3 w - - 0 1").play("e2e4")
    assert position.text.split()[3] == "e3"
    assert "d4e3" in position.names()
    assert game.position("8/8/8/8/1k1pP2R/8/8/4K3 b - e3 0 1").text.split()[3] == "-"
