"""Template: the tokens of an index encoder to the dense observation they stand for, on the CPU."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.slots import spread


@njit
def cells_of(place: int, token: int, tokens: int, size: int) -> tuple[int, int, int]:
    """What a token fills: the first cell, how many (none, if they exceed the row), and the hundredths in them.

    Tokens may hold any number."""
    first, cells, hundredths = spread(place, token, tokens)
    if first < 0 or first + cells > size:
        cells = 0
    return first, cells, min(max(hundredths, 0), 100)


@njit(cache=True, nogil=True)
def expand_all(tokens: NDArray[np.integer], palette: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """tokens [N, T] to out [N, size], all 0 before; palette [101] has each hundredth from 0 to 1."""
    for i in range(len(tokens)):
        for place in range(tokens.shape[1]):
            first, cells, hundredths = cells_of(place, int(tokens[i, place]), tokens.shape[1], out.shape[1])
            for cell in range(first, first + cells):
                out[i, cell] = palette[hundredths]
