"""Template: legal masks by the game's own `mask`. For other games `cuda_rules.py` derives them from legal lists."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.slots import mask

cuda: Any = untyped


@cuda.jit(cache=True)
def legal_masks(states: NDArray[np.void], masks: NDArray[np.bool_]) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        mask(states[i], masks[i])
