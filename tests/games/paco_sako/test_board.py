"""Pieces of Paco Ŝako: three bitboards for each side, and how pieces move."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from compiled import Compiled
from plyground.games.paco_sako import board as module
from plyground.games.paco_sako.text import SQUARES

board = Compiled(module)
START = {"a": board.ROOK, "b": board.KNIGHT, "c": board.BISHOP, "d": board.QUEEN, "e": board.KING, "h": board.ROOK}


def squares(bits: int | np.uint64) -> set[str]:
    return {name for number, name in enumerate(SQUARES) if int(bits) >> number & 1}


def test_the_pieces_of_the_start_are_read_back(paco_sako: pg.Game) -> None:
    state = paco_sako.start().state
    for file, kind in START.items():
        assert board.kind_at(state, 0, SQUARES.index(f"{file}1")) == kind
        assert board.kind_at(state, 1, SQUARES.index(f"{file}8")) == kind
    assert squares(board.of_kind(state, 0, board.PAWN)) == {f"{file}2" for file in "abcdefgh"}
    assert squares(board.occupied(state, 1)) == {f"{file}{rank}" for file in "abcdefgh" for rank in "78"}
    assert board.kind_at(state, 0, SQUARES.index("e4")) == 0


def test_putting_a_piece_changes_only_its_square(paco_sako: pg.Game) -> None:
    states = paco_sako.start().states.copy()
    before = int(board.occupied(states[0], 0))
    board.put(states[0], 0, SQUARES.index("e4"), board.QUEEN)
    assert board.kind_at(states[0], 0, SQUARES.index("e4")) == board.QUEEN
    assert squares(int(board.occupied(states[0], 0)) ^ before) == {"e4"}


@pytest.mark.parametrize(
    ("kind", "taken", "expected"),
    [
        (board.KNIGHT, "", "b3 c2"),
        (board.ROOK, "a3 c1", "a2 a3 b1 c1"),
        (board.BISHOP, "c3", "b2 c3"),
        (board.KING, "", ""),  # a king forms no union of its own
        (board.PAWN, "", "b2"),
    ],
)
def test_attacks_from_a1_stop_at_the_first_piece(kind: int, taken: str, expected: str) -> None:
    blocked = np.uint64(sum(1 << SQUARES.index(name) for name in taken.split()))
    assert squares(board.attacks(0, kind, 0, blocked)) == set(expected.split())


def test_a_turn_ends_on_the_last_rank_of_the_side_that_moves() -> None:
    assert [bool(board.last_rank(side, SQUARES.index(name))) for side, name in ((0, "a8"), (0, "a1"), (1, "a1"))] == [
        True,
        False,
        True,
    ]
