"""Template: the tokens of an index encoder to the dense observation they stand for, in one kernel for a GPU."""

# numba-cuda has no types:
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from plyground.kernels.slots import spread


@cuda.jit(cache=True)
def expand_all(tokens: NDArray[Any], palette: NDArray[Any], out: NDArray[Any]) -> None:
    """tokens [N, T] to out [N, size]. A block of threads makes a row in shared memory and copies it together.

    The numbers of `out` are opaque: whatever type they are of, palette [101] has each hundredth from 0 to 1 in it.
    """
    row, me, many = cuda.shared.array(0, out.dtype), cuda.threadIdx.x, cuda.blockDim.x
    count, size = tokens.shape[1], out.shape[1]
    i = cuda.blockIdx.x
    while i < len(tokens):
        for cell in range(me, size, many):
            row[cell] = palette[0]
        cuda.syncthreads()
        for place in range(me, count, many):
            first, cells, hundredths = spread(place, np.int64(tokens[i, place]), count)
            if first >= 0 and first + cells <= size:  # tokens come from anywhere
                for cell in range(first, first + cells):
                    row[cell] = palette[min(max(hundredths, 0), 100)]
        cuda.syncthreads()
        for cell in range(me, size, many):
            out[i, cell] = row[cell]
        cuda.syncthreads()
        i += cuda.gridDim.x
