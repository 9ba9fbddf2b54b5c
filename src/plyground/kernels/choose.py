"""Template: a scripted agent's function over single states as a loop over a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.no_refcounts import uncounted_loop
from plyground.kernels.slots import choose

Records = NDArray[np.void]


@uncounted_loop
def choose_all(states: Records, rngs: NDArray[np.uint64], actions: NDArray[np.int32], work: Records) -> None:
    for i in range(len(states)):
        actions[i] = choose(states[i], rngs[i : i + 1], work[0])


@uncounted_loop
def choose_where(
    states: Records, where: NDArray[np.bool_], rngs: NDArray[np.uint64], actions: NDArray[np.int32], work: Records
) -> None:
    """Fill in the actions where `where` [N] is set."""
    for i in range(len(states)):
        if where[i]:
            actions[i] = choose(states[i], rngs[i : i + 1], work[0])
