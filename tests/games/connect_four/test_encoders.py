"""What networks see of Connect Four, number by number."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plyground.interop.connect_four_dqn import encode_state

POSITION = "12124454"


def _board(connect_four: pg.Game) -> np.ndarray:
    """The position as 0, 1, 2, read off its drawing."""
    rows = connect_four.position(POSITION).text.split("/")
    return np.array([[".xo".index(cell) for cell in row] for row in rows])


def test_board_is_absolute(connect_four: pg.Game) -> None:
    position, board = connect_four.position(POSITION), _board(connect_four)
    for seat in (0, 1):
        seen = position.encode("board-v1", seat)
        assert seen.dtype == np.int8
        assert (seen == board).all()


@pytest.mark.parametrize("seat", [0, 1])
def test_the_relative_encodings_swap_with_the_seat(connect_four: pg.Game, seat: int) -> None:
    position, board = connect_four.position(POSITION), _board(connect_four)
    own, other = board == 1 + seat, board == 2 - seat
    relative = position.encode("relative-v1", seat)
    assert relative.dtype == np.float32
    assert (relative == encode_state(board, 1 + seat)).all()
    signed = position.encode("signed-v1", seat)
    assert signed.dtype == np.int8
    assert (signed == own.astype(int) - other).all()
    assert (position.encode("planes-v1", seat) == np.stack([own, other])).all()
    assert (position.encode("onehot-v1", seat) == np.stack([board == 0, own, other])).all()
    assert position.encode("planes").shape == (2, 6, 7)


def test_the_seat_to_act_looks_unless_another_is_named(connect_four: pg.Game) -> None:
    position = connect_four.position("4")
    assert (position.encode("signed") == position.encode("signed", 1)).all()
    assert position.encode("signed")[5, 3] == -1


@pytest.mark.parametrize(
    ("moves", "features"),
    [
        # centre, open threats, blocks, immediate wins: the mover's, then the opponent's
        ("", [0, 0, 0, 0, 0, 0, 0, 0]),
        ("4", [0, 0, 0, 0, 1, 0, 0, 0]),
        ("121212", [0, 1, 1, 1, 0, 1, 1, 1]),
        ("41526", [0, 0, 2, 0, 1, 2, 0, 2]),  # x has columns 4 5 6: both ends are open
        ("445566", [1, 2, 0, 2, 1, 2, 2, 0]),  # o's three stand above x's: its ends cannot be reached yet
    ],
)
def test_features_by_hand(connect_four: pg.Game, moves: str, features: list[int]) -> None:
    assert connect_four.position(moves).encode("features").tolist() == features
