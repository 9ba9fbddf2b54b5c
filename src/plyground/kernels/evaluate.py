"""Template: a game's own evaluation of states, as a loop over a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.no_refcounts import uncounted_loop
from plyground.kernels.slots import evaluate


@uncounted_loop
def evaluate_all(states: NDArray[np.void], values: NDArray[np.float32]) -> None:
    """values [N]: in [-1, 1], for the side to move."""
    for i in range(len(states)):
        values[i] = evaluate(states[i])
