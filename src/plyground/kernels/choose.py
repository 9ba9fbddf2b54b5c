"""Template: a policy over single states as a loop over a batch."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.slots import choose


@njit(cache=True, nogil=True)
def choose_all(
    states: NDArray[np.void], rngs: NDArray[np.uint64], actions: NDArray[np.int32], work: NDArray[np.void]
) -> None:
    for i in range(len(states)):
        actions[i] = choose(states[i], rngs[i : i + 1], work[0])
