"""The chess board: squares, pieces, and where they reach, from tables of 7 KB that fit a GPU's constant memory.

A set of squares is 64 bits; a square is a number, and a compiled function takes it as a `np.uint64`:

    56 57 58 59 60 61 62 63      rank 8
    48 49 50 51 52 53 54 55
    40 41 42 43 44 45 46 47
    32 33 34 35 36 37 38 39
    24 25 26 27 28 29 30 31
    16 17 18 19 20 21 22 23
     8  9 10 11 12 13 14 15
     0  1  2  3  4  5  6  7      rank 1, files a to h
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import popcount, wrapping

Square = np.uint64
Squares = np.uint64

ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
S8, S16, S32 = np.uint64(8), np.uint64(16), np.uint64(32)
FILE_OF, RANK_OF, INNER = np.uint64(7), np.uint64(56), np.uint64(63)
BYTES, PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
FILE_A, FILE_H = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
LAST_RANKS = np.uint64(0xFF000000000000FF)
NO_SQUARE = -1

PAWNS, KNIGHTS, BISHOPS, ROOKS, QUEENS, KINGS = range(6)  # the order of the record's `pieces`
QUEENING_ACTIONS = 4096  # 64 * from + to; the later actions are promotions to a lesser piece

Step = tuple[int, int]  # ranks up, files right
UP_DOWN, LEFT_RIGHT = ((1, 0), (-1, 0)), ((0, 1), (0, -1))
RISING, FALLING = ((1, 1), (-1, -1)), ((1, -1), (-1, 1))
JUMPS = tuple((a * i, b * j) for a, b in ((1, 2), (2, 1)) for i in (1, -1) for j in (1, -1))


# ---- tables ----


def reach(square: int, steps: Iterable[Step], once: bool = False, occupied: int = 0) -> int:
    """The squares that the steps lead to, repeated up to the first occupied square unless `once`."""
    reached = 0
    for up, right in steps:
        rank, file = square // 8 + up, square % 8 + right
        while 0 <= rank < 8 and 0 <= file < 8:
            reached |= 1 << (8 * rank + file)
            if once or occupied >> (8 * rank + file) & 1:
                break
            rank, file = rank + up, file + right
    return reached


def _table(steps: Iterable[Step], once: bool = False) -> NDArray[np.uint64]:
    """[64]"""
    each = tuple(steps)
    return np.array([reach(square, each, once) for square in range(64)], np.uint64)


FILES, RANKS, RISES, FALLS = (_table(steps) for steps in (UP_DOWN, LEFT_RIGHT, RISING, FALLING))
"""the four lines through each square, without the square itself"""
ORTHOGONALS, DIAGONALS = FILES | RANKS, RISES | FALLS
KNIGHT = _table(JUMPS, once=True)
KING = _table(UP_DOWN + LEFT_RIGHT + RISING + FALLING, once=True)
PAWN = np.stack([_table([(1, -1), (1, 1)], once=True), _table([(-1, -1), (-1, 1)], once=True)])
"""[side, square] what a pawn attacks"""
ALONG_RANK = np.array(
    [[reach(file, LEFT_RIGHT, occupied=inner << 1) for file in range(8)] for inner in range(64)], np.uint8
)
"""[inner six squares of rank 1 that are occupied, file]"""


# ---- bits ----


@njit
def lowest(squares: Squares) -> Square:
    """The lowest square of a set that is not empty."""
    return np.uint64(popcount(~squares & (squares - ONE)))


@njit
def upside_down(squares: Squares) -> Squares:
    """Swap rank 1 with rank 8, and so on."""
    squares = ((squares >> S8) & BYTES) | ((squares & BYTES) << S8)
    squares = ((squares >> S16) & PAIRS) | ((squares & PAIRS) << S16)
    return (squares >> S32) | (squares << S32)


# ---- sliding pieces ----


@wrapping
def along(line: Squares, square: Square, occupied: Squares) -> Squares:
    """Both ways along a file or a diagonal. Subtracting a bit borrows up to the next blocker; upside down, the next
    one below."""
    blockers, bit, flipped = occupied & line, ONE << square, ONE << (square ^ RANK_OF)
    up = blockers - bit - bit
    down = upside_down(upside_down(blockers) - flipped - flipped)
    return (up ^ down) & line


@njit
def bishop(square: Square, occupied: Squares) -> Squares:
    return along(RISES[square], square, occupied) | along(FALLS[square], square, occupied)


@njit
def rook(square: Square, occupied: Squares) -> Squares:
    start = square & RANK_OF
    flat = np.uint64(ALONG_RANK[(occupied >> (start + ONE)) & INNER, square & FILE_OF]) << start
    return along(FILES[square], square, occupied) | flat


@njit
def line_through(a: Square, b: Square) -> Squares:
    """The line on which both squares lie (without a), or nothing."""
    bit = ONE << b
    if FILES[a] & bit != ZERO:
        return FILES[a]
    if RANKS[a] & bit != ZERO:
        return RANKS[a]
    if RISES[a] & bit != ZERO:
        return RISES[a]
    if FALLS[a] & bit != ZERO:
        return FALLS[a]
    return ZERO


@njit
def between(a: Square, b: Square) -> Squares:
    """The squares strictly between two of one line; nothing for others."""
    low, high = (ONE << a, ONE << b) if a < b else (ONE << b, ONE << a)
    return line_through(a, b) & (high - low) & ~low
