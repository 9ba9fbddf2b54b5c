"""Template: the tokens of an index encoder to the dense observation they stand for, in one kernel for a GPU."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.slots import spread

cuda: Any = untyped

MOST_WIDE = 16  # tokens of a row that fill more than one cell


@cuda.jit(cache=True)
def expand_all(tokens: NDArray[Any], palette: NDArray[Any], out: NDArray[Any], words: NDArray[np.uint64]) -> None:
    """tokens [N, T] to out [N, size], which `words` is once more, in whole words of eight bytes for each row.

    A block of threads makes a row in shared memory and copies it together. First each token that fills one cell does
    so, a thread for each; then all threads fill the cells of a wide one. The numbers of `out` are opaque: whatever type
    they are of, palette [101] has each hundredth from 0 to 1 in it.
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
            first, cells, hundredths = spread(place, int(tokens[i, place]), count)
            if cells == 1 and 0 <= first < size:  # tokens come from anywhere
                row[first] = palette[min(max(hundredths, 0), 100)]
            elif cells > 1:
                at = cuda.atomic.add(found, 0, 1)
                if at < MOST_WIDE:
                    wide[at] = place
        cuda.syncthreads()
        for k in range(min(found[0], MOST_WIDE)):
            first, cells, hundredths = spread(wide[k], int(tokens[i, wide[k]]), count)
            if first >= 0 and first + cells <= size:
                value = palette[min(max(hundredths, 0), 100)]
                for cell in range(first + me, first + cells, many):
                    row[cell] = value
        cuda.syncthreads()
        for word in range(me, words.shape[1], many):
            words[i, word] = row_words[word]
        cuda.syncthreads()
        i += cuda.gridDim.x
