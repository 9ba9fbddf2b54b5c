"""Template: a game's own judgement of states, on a GPU."""

# numba-cuda has no types:
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from plyground.kernels.slots import evaluate


@cuda.jit(cache=True)
def evaluate_all(states: NDArray[np.void], values: NDArray[np.float32]) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        values[i] = evaluate(states[i])
