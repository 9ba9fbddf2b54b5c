"""Template: a score for every legal action of single states, as a loop over a batch."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.slots import legal, score


@njit(cache=True, nogil=True)
def score_all(
    states: NDArray[np.void],
    actions: NDArray[np.int32],  # [N, MAX_LEGAL] the legal actions, ascending, then -1
    scores: NDArray[np.float64],  # [N, MAX_LEGAL]
    work: NDArray[np.void],
) -> None:
    for i in range(len(states)):
        count = legal(states[i], actions[i], work[0])
        actions[i, count:] = -1
        for k in range(count):
            scores[i, k] = score(states[i], actions[i, k])
