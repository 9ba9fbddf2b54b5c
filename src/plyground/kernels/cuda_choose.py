"""Template: a scripted agent's function over single states, on a GPU."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.slots import choose

cuda: Any = untyped


@cuda.jit(cache=True)
def choose_where(
    states: Any, where: NDArray[np.bool_], rngs: NDArray[np.uint64], actions: NDArray[np.int32], work: Any
) -> None:
    """Fill in the actions where `where` [N] is set."""
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        if where[i]:
            actions[i] = choose(states[i], rngs[i : i + 1], work[cuda.grid(1)])
