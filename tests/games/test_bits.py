"""Bitboards against sets of squares."""

from __future__ import annotations

import random

import numpy as np
import pytest

from conftest import JIT
from plyground.games import bits

SAMPLES = 300 if JIT else 30


def squares_of(board: int) -> set[tuple[int, int]]:
    """The (file, rank) of each set bit."""
    return {(square % 8, square // 8) for square in range(64) if board >> square & 1}


def some_boards() -> list[int]:
    rng = random.Random(4)
    return [0, 1, 2**63, 2**64 - 1, *(rng.getrandbits(64) & rng.getrandbits(64) for _ in range(SAMPLES))]


def test_popcount_and_the_lowest_bit() -> None:
    for board in some_boards():
        assert int(bits.popcount(np.uint64(board))) == board.bit_count()
        lowest = (board & -board).bit_length() - 1 if board else 64
        assert int(bits.lowest(np.uint64(board))) == lowest


@pytest.mark.parametrize(
    ("function", "steps"),
    [
        (bits.beside, [(1, 0), (-1, 0), (0, 1), (0, -1)]),
        (bits.aslant, [(1, 1), (1, -1), (-1, 1), (-1, -1)]),
        (bits.jumps, [(x, y) for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2) if abs(x) != abs(y)]),
    ],
)
def test_neighbours_do_not_wrap_around_the_edge(function, steps: list[tuple[int, int]]) -> None:
    for board in some_boards():
        expected = {(x + dx, y + dy) for x, y in squares_of(board) for dx, dy in steps}
        expected = {(x, y) for x, y in expected if 0 <= x < 8 and 0 <= y < 8}
        assert squares_of(int(function(np.uint64(board)))) == expected


@pytest.mark.parametrize(
    ("function", "steps"),
    [
        (bits.rook_rays, [(1, 0), (-1, 0), (0, 1), (0, -1)]),
        (bits.bishop_rays, [(1, 1), (1, -1), (-1, 1), (-1, -1)]),
    ],
)
def test_rays_end_at_the_first_taken_square(function, steps: list[tuple[int, int]]) -> None:
    rng = random.Random(5)
    for board in some_boards():
        square, taken, expected = rng.randrange(64), squares_of(board), set()
        for dx, dy in steps:
            x, y = square % 8 + dx, square // 8 + dy
            while 0 <= x < 8 and 0 <= y < 8:
                expected.add((x, y))
                if (x, y) in taken:
                    break
                x, y = x + dx, y + dy
        assert squares_of(int(function(square, np.uint64(board)))) == expected
