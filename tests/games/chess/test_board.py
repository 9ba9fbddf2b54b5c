"""The chess board: its drawing, and where pieces reach, against python-chess."""

from __future__ import annotations

import random
import re

import chess
import numpy as np

from conftest import JIT
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
        for function, piece in ((chess_board.rook, chess.ROOK), (chess_board.bishop, chess.BISHOP)):
            board = chess.BaseBoard(None)
            for other in chess.SquareSet(occupied):
                board.set_piece_at(other, chess.Piece(chess.PAWN, chess.BLACK))
            board.set_piece_at(square, chess.Piece(piece, chess.WHITE))
            assert int(function(np.uint64(square), np.uint64(occupied))) == int(board.attacks(square))
        a, b = rng.sample(range(64), 2)
        assert int(chess_board.between(np.uint64(a), np.uint64(b))) == int(chess.SquareSet.between(a, b))
