"""Template: one encoder as a loop over a batch."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.arrays import int64
from plyground.kernels.no_refcounts import uncounted_loop
from plyground.kernels.slots import seat, slot, write

Records = NDArray[np.void]


@uncounted_loop
def encode_all(states: Records, out: NDArray[np.generic]) -> None:
    """out [N, size]: the observation of each state for the seat to act."""
    for i in range(len(states)):
        write(states[i], int64(seat(states[i])), out[i])


@uncounted_loop
def encode_for(states: Records, seats: NDArray[np.int32], out: NDArray[np.generic]) -> None:
    """out [N, size]: the observation of each state for the given seat [N]."""
    for i in range(len(states)):
        write(states[i], int64(seats[i]), out[i])


@njit(cache=True, nogil=True)
def fill_slots(slots: NDArray[np.int32]) -> None:
    """slots [SEATS, NUM_ACTIONS]: the output of a network that stands for an action, as each seat sees the board."""
    for i in range(slots.shape[0]):
        for action in range(slots.shape[1]):
            slots[i, action] = slot(action, i)
