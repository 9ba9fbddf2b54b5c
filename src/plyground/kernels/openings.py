"""Template: games that begin with random plies, so that a learner meets many different positions."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import RUNNING
from plyground.games.rng import below
from plyground.kernels.slots import legal, play, reset

TRIES = 100
Records = NDArray[np.void]


@njit(cache=True, nogil=True)
def open_games(
    states: Records,
    rows: NDArray[np.int64],  # [R] the games to begin
    plies: NDArray[np.int64],  # [R] random plies wanted in each
    blank: Records,
    rngs: NDArray[np.uint64],
    work: Records,
    scratch: NDArray[np.int32],
) -> None:
    """Begin games anew; where random plies keep ending the game, it begins at the start."""
    for k in range(len(rows)):
        row = int(rows[k])
        state, rng = states[row], rngs[row : row + 1]
        for attempt in range(TRIES):
            states[row] = blank[0]
            reset(state, rng)
            left = plies[k] if attempt < TRIES - 1 else 0
            while left > 0 and state["outcome"] == RUNNING:
                play(state, scratch[below(rng, legal(state, scratch, work[0]))], rng, work[0])
                left -= 1
            if state["outcome"] == RUNNING:
                break
