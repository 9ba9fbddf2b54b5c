"""Template: a game's own evaluation of states, on a GPU."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.slots import evaluate

cuda: Any = untyped


@cuda.jit(cache=True)
def evaluate_all(states: NDArray[np.void], values: NDArray[np.float32]) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        values[i] = evaluate(states[i])
