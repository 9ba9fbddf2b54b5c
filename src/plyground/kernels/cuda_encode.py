"""Template: one encoder as kernels for a GPU."""

# numba-cuda has no types:
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from plyground.kernels.slots import seat, write

Records = NDArray[np.void]
WARP = 32  # threads that act as one, and write fast to addresses side by side


@cuda.jit(cache=True)
def encode_columns(states: Records, looking: int, out: NDArray[Any]) -> None:
    """What the seat to act, or the seat `looking` where that is not negative, sees of each state: `out` [size, N].

    So the threads of a warp write side by side. Rows of their own, far apart, are ten times slower to write.
    """
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        write(states[i], seat(states[i]) if looking < 0 else looking, out[:, i])


@cuda.jit(cache=True)
def encode_staged(states: Records, looking: int, stride: int, out: NDArray[Any]) -> None:
    """The same into `out` [N, size], for short rows: a block of threads writes its rows into shared memory, `stride`
    apart, and then copies them together, each warp a row at a time."""
    staged, me = cuda.shared.array(0, out.dtype), cuda.threadIdx.x
    rows, size = cuda.blockDim.x, out.shape[1]
    first = cuda.blockIdx.x * rows
    while first < len(states):
        i = first + me
        if i < len(states):
            write(states[i], seat(states[i]) if looking < 0 else looking, staged[me * stride : me * stride + size])
        cuda.syncthreads()
        for row in range(me // WARP, min(rows, len(states) - first), rows // WARP):
            for k in range(me % WARP, size, WARP):
                out[first + row, k] = staged[row * stride + k]
        cuda.syncthreads()
        first += cuda.gridDim.x * rows
