"""Helpers for bitboards. Every constant is a `np.uint64`: a plain literal would turn a compiled sum signed."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numba import config, njit

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

ONE, S7, S8, S9, S16, S32 = (np.uint64(shift) for shift in (1, 7, 8, 9, 16, 32))
BYTES, WORDS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
NOT_A, NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)  # the board without its first, last file
NOT_AB, NOT_GH = np.uint64(0xFCFCFCFCFCFCFCFC), np.uint64(0x3F3F3F3F3F3F3F3F)
S6, S10, S15, S17 = np.uint64(6), np.uint64(10), np.uint64(15), np.uint64(17)


def _line(square: int, right: int, up: int) -> int:
    """The squares on the line through `square` in a direction and its opposite, without `square` itself."""
    bits = 0
    for sign in (1, -1):
        file, rank = square % 8 + sign * right, square // 8 + sign * up
        while 0 <= file < 8 and 0 <= rank < 8:
            bits |= 1 << (8 * rank + file)
            file, rank = file + sign * right, rank + sign * up
    return bits


LINES = np.array([[_line(s, *way) for s in range(64)] for way in ((0, 1), (1, 1), (-1, 1), (1, 0))], np.uint64)
"""[4, 64]: the file, the two diagonals and the rank of each square"""


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
def slide(square: Whole, taken: np.uint64, line: np.uint64) -> np.uint64:
    """A file or diagonal from `square` to the first taken squares, these included.

    Subtracting a bit runs through empty squares up to the first taken one above; upside down, to the one below.
    """
    here, mirrored = bit(square), bit(square ^ 56)
    blocks = taken & line
    up, down = blocks - here - here, flip_ranks(flip_ranks(blocks) - mirrored - mirrored)
    return (up ^ down) & line


@njit
def slide_rank(square: Whole, taken: np.uint64) -> np.uint64:
    """The same along the rank, where turning the board upside down does not reverse the order."""
    here, line = bit(square), LINES[3, square]
    blocks = taken & line
    up = blocks & ~((here << S1) - ONE)
    down = blocks & (here - ONE)
    reach_up = up ^ (up - ONE) if up else ~np.uint64(0)
    reach_down = ~np.uint64(0)
    if down:
        down |= down >> S1
        down |= down >> S2
        down |= down >> S4
        reach_down = ~(down >> S1)
    return reach_up & reach_down & line


@njit
def rook_rays(square: Whole, taken: np.uint64) -> np.uint64:
    return slide(square, taken, LINES[0, square]) | slide_rank(square, taken)


@njit
def bishop_rays(square: Whole, taken: np.uint64) -> np.uint64:
    return slide(square, taken, LINES[1, square]) | slide(square, taken, LINES[2, square])


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
