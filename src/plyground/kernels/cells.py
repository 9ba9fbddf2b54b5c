"""Template: a game's cells as a loop over a batch."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.arrays import int64
from plyground.kernels.slots import seat, write_cells

Records = NDArray[np.void]
Cells = NDArray[np.int16]


@njit(cache=True, nogil=True)
def write_all(states: Records, out: Cells) -> None:
    """out [N, NUM_CELLS]: the cells of each state for the seat to act."""
    for i in range(len(states)):
        write_cells(states[i], int64(seat(states[i])), out[i])


@njit(cache=True, nogil=True)
def write_for(states: Records, observer: int, out: Cells) -> None:
    """out [N, NUM_CELLS]: the cells of each state for one seat."""
    for i in range(len(states)):
        write_cells(states[i], observer, out[i])
