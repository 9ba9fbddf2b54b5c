"""Template: the tokens of an index encoder to the dense observation they stand for, on a GPU."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.expand import cells_of

cuda: Any = untyped

MOST_WIDE = 16  # tokens of a row that fill more than one cell


@cuda.jit(cache=True)
def expand_all(tokens: NDArray[Any], palette: NDArray[Any], out: NDArray[Any], words: NDArray[np.uint64]) -> None:
    """tokens [N, T] to out [N, size]; `words` [N, size in words of eight bytes] is the same memory.

    A block of threads writes a row into shared memory and copies it together. First each thread handles tokens that
    fill one cell; then all threads fill the cells of each wider token. The numbers of `out` are opaque bits: palette
    [101] has each hundredth from 0 to 1 in the type of the observation.
    """
    row, me, many = cuda.shared.array(0, out.dtype), cuda.threadIdx.x, cuda.blockDim.x
    row_words = row.view(np.uint64)
    wide = cuda.shared.array(MOST_WIDE, np.int32)
    found = cuda.shared.array(1, np.int32)
    count, size = tokens.shape[1], out.shape[1]
    i = cuda.blockIdx.x
    while i < len(tokens):
        for word in range(me, words.shape[1], many):
            row_words[word] = 0
        if me == 0:
            found[0] = 0
        cuda.syncthreads()
        for place in range(me, count, many):
            first, cells, hundredths = cells_of(place, int(tokens[i, place]), count, size)
            if cells == 1:
                row[first] = palette[hundredths]
            elif cells > 1:
                at = cuda.atomic.add(found, 0, 1)
                if at < MOST_WIDE:
                    wide[at] = place
        cuda.syncthreads()
        for k in range(min(found[0], MOST_WIDE)):
            first, cells, hundredths = cells_of(wide[k], int(tokens[i, wide[k]]), count, size)
            for cell in range(first + me, first + cells, many):
                row[cell] = palette[hundredths]
        cuda.syncthreads()
        for word in range(me, words.shape[1], many):
            words[i, word] = row_words[word]
        cuda.syncthreads()
        i += cuda.gridDim.x
