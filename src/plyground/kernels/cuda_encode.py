"""Template: one encoder as kernels for a GPU."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.slots import seat, write

cuda: Any = untyped

Records = Any


@cuda.jit(cache=True)
def encode_columns(states: Records, observer: int, out: NDArray[Any]) -> None:
    """out [size, N]: the observation of each state for the seat to act, or for `observer` if that is not negative.

    Transposed, the threads of a warp write adjacent memory. To write a row each is ten times slower.
    """
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        write(states[i], seat(states[i]) if observer < 0 else observer, out[:, i])


@cuda.jit(cache=True)
def encode_staged(
    states: Records, observer: int, size: int, out: NDArray[Any], words: NDArray[np.uint64], words_of_block: int
) -> None:
    """out [N * size]: the same row by row, for short rows of `size`. A block of threads writes its rows into shared
    memory and then copies them together, eight bytes at a time (`words` is the same memory) if the block is full."""
    staged = cuda.shared.array(0, out.dtype)
    staged_words = staged.view(np.uint64)
    me, rows = cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * rows
    while first < len(states):
        i = first + me
        if i < len(states):
            write(states[i], seat(states[i]) if observer < 0 else observer, staged[me * size : me * size + size])
        cuda.syncthreads()
        if first + rows <= len(states) and words_of_block > 0:
            start = first // rows * words_of_block
            for k in range(me, words_of_block, rows):
                words[start + k] = staged_words[k]
        else:
            for k in range(me, min(rows, len(states) - first) * size, rows):
                out[first * size + k] = staged[k]
        cuda.syncthreads()
        first += cuda.gridDim.x * rows
