"""Template: a model's values of many states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.slots import model_value, refresh
from plyground.kernels.uncounted import uncounted_loop

Records = NDArray[np.void]


@uncounted_loop
def value_all(states: Records, weights: Records, scratch: Records, values: NDArray[np.float64]) -> None:
    """values [N]: in [-1, 1], for the side to move; weights [1], scratch [1]."""
    for i in range(len(states)):
        refresh(states[i], weights[0], scratch[0])
        values[i] = model_value(states[i], weights[0], scratch[0])
