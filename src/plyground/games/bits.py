"""Helpers for bitboards. Every constant is a `np.uint64`: a plain literal would turn a compiled sum signed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numba import config, njit
from numpy.typing import NDArray

F = TypeVar("F")


def wrapping(function: F) -> F:
    """`njit` for arithmetic that overflows on purpose: without the compiler, numpy shall not warn of it."""
    return np.errstate(over="ignore")(function) if config.DISABLE_JIT else njit(function)  # pyright: ignore


M1, M2, M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ONES, S1, S2, S4, S56 = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@wrapping
def popcount(x: np.uint64) -> np.int64:
    """How many bits are set."""
    x = x - ((x >> S1) & M1)
    x = (x & M2) + ((x >> S2) & M2)
    x = (x + (x >> S4)) & M4
    return np.int64((x * ONES) >> S56)


# ---- the 8x8 board: bit 0 is a1, bit 7 is h1, bit 63 is h8 ----

Whole = int | np.int64  # what a compiled function returns is numpy's
Step = tuple[int, int]  # ranks up, files right

ZERO, ONE = np.uint64(0), np.uint64(1)
S6, S7, S8, S9, S10, S15, S16, S17, S32 = (np.uint64(shift) for shift in (6, 7, 8, 9, 10, 15, 16, 17, 32))
FILE_OF, RANK_OF, INNER = np.uint64(7), np.uint64(56), np.uint64(63)
BYTES, WORDS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
NOT_A, NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)  # the board without its first, last file
NOT_AB, NOT_GH = np.uint64(0xFCFCFCFCFCFCFCFC), np.uint64(0x3F3F3F3F3F3F3F3F)
UP_DOWN, LEFT_RIGHT = ((1, 0), (-1, 0)), ((0, 1), (0, -1))
RISING, FALLING = ((1, 1), (-1, -1)), ((1, -1), (-1, 1))


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


def reach_table(steps: Iterable[Step], once: bool = False) -> NDArray[np.uint64]:
    """[64] the same from each square of an empty board."""
    each = tuple(steps)
    return np.array([reach(square, each, once) for square in range(64)], np.uint64)


FILES, RANKS, RISES, FALLS = (reach_table(steps) for steps in (UP_DOWN, LEFT_RIGHT, RISING, FALLING))
"""[64] the four lines through each square, without the square itself"""
_inner = [[reach(file, LEFT_RIGHT, occupied=inner << 1) for file in range(8)] for inner in range(64)]
ALONG_RANK = np.array(_inner, np.uint8)  # [64, 8]: inner six squares of rank 1 that are occupied, file


@njit
def bit(square: Whole) -> np.uint64:
    return ONE << np.uint64(square)


@njit
def lowest(x: np.uint64) -> np.int64:
    """The number of the lowest bit (64 where there is none)."""
    return popcount(~x & (x - ONE))


@njit
def flip_ranks(x: np.uint64) -> np.uint64:
    """The board upside down: rank 1 becomes rank 8."""
    x = ((x >> S8) & BYTES) | ((x & BYTES) << S8)
    x = ((x >> S16) & WORDS) | ((x & WORDS) << S16)
    return (x >> S32) | (x << S32)


@wrapping
def slide(square: np.uint64, taken: np.uint64, line: np.uint64) -> np.uint64:
    """A file or diagonal from `square` to the first taken squares, these included.

    Subtracting a bit runs through empty squares up to the first taken one above; upside down, to the one below.
    """
    here, mirrored, blocks = ONE << square, ONE << (square ^ RANK_OF), taken & line
    up, down = blocks - here - here, flip_ranks(flip_ranks(blocks) - mirrored - mirrored)
    return (up ^ down) & line


@njit
def rook_rays(square: Whole | np.uint64, taken: np.uint64) -> np.uint64:
    here = np.uint64(square)
    start = here & RANK_OF
    flat = np.uint64(ALONG_RANK[(taken >> (start + ONE)) & INNER, here & FILE_OF]) << start
    return slide(here, taken, FILES[here]) | flat


@njit
def bishop_rays(square: Whole | np.uint64, taken: np.uint64) -> np.uint64:
    here = np.uint64(square)
    return slide(here, taken, RISES[here]) | slide(here, taken, FALLS[here])


@njit
def beside(x: np.uint64) -> np.uint64:
    """The squares that share a side with one of `x`."""
    return (x << S8) | (x >> S8) | ((x & NOT_H) << S1) | ((x & NOT_A) >> S1)


@njit
def aslant(x: np.uint64) -> np.uint64:
    """The squares that share only a corner with one of `x`."""
    return ((x & NOT_H) << S9) | ((x & NOT_A) << S7) | ((x & NOT_H) >> S7) | ((x & NOT_A) >> S9)


@njit
def jumps(x: np.uint64) -> np.uint64:
    """The squares a knight's jump away from one of `x`."""
    near = ((x & NOT_GH) << S10) | ((x & NOT_AB) << S6) | ((x & NOT_GH) >> S6) | ((x & NOT_AB) >> S10)
    return near | ((x & NOT_H) << S17) | ((x & NOT_A) << S15) | ((x & NOT_H) >> S15) | ((x & NOT_A) >> S17)


@njit
def pawn_attacks(side: int, pawns: np.uint64) -> np.uint64:
    """The squares diagonally ahead of the pawns of a side."""
    if side == 0:
        return ((pawns & NOT_A) << S7) | ((pawns & NOT_H) << S9)
    return ((pawns & NOT_A) >> S9) | ((pawns & NOT_H) >> S7)
