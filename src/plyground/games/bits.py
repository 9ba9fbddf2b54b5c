"""Helpers for bitboards. Every constant is a `np.uint64`: a plain literal would turn a compiled sum signed."""

from __future__ import annotations

import numpy as np
from numba import njit

M1, M2, M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ONES, S1, S2, S4, S56 = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@njit
def popcount(x: np.uint64) -> np.int64:
    """How many bits are set."""
    x = x - ((x >> S1) & M1)
    x = (x & M2) + ((x >> S2) & M2)
    x = (x + (x >> S4)) & M4
    return np.int64((x * ONES) >> S56)
