"""Template: the inputs of a sparse network that are 1 in a position, as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.arrays import int64
from plyground.kernels.no_refcounts import uncounted_loop
from plyground.kernels.slots import NUM_CELLS, write_cells


@uncounted_loop
def list_features(
    states: NDArray[np.void],  # [N] of HEAD
    row: NDArray[np.int32],  # [NUM_CELLS]: a cell's value v > 0 is the input `row + v`
    cells: NDArray[np.int16],  # [NUM_CELLS] working memory
    features: NDArray[np.uint16],  # [2 N NUM_CELLS] is room for all
    ends: NDArray[np.int64],  # [2 N] where those of each view end: of the side to move, then of the other
) -> None:
    count = 0
    for i in range(len(states)):
        side = int64(states[i]["to_move"])
        for view in range(2):
            write_cells(states[i], side if view == 0 else 1 - side, cells)
            for k in range(NUM_CELLS):
                if cells[k] != 0:
                    features[count] = row[k] + cells[k]
                    count += 1
            ends[2 * i + view] = count
