"""Template: what is noted of positions that a search has judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.rng import mix
from plyground.kernels.arrays import int64
from plyground.kernels.no_refcounts import uncounted_loop
from plyground.kernels.slots import NUM_CELLS, in_check, loudness, write_cells

Records = NDArray[np.void]


@uncounted_loop
def note_all(
    states: Records,  # [N] of STATE
    actions: NDArray[np.int32],  # [N] the best ones
    cells: NDArray[np.int16],  # [2, NUM_CELLS] working memory
    work: Records,
    keys: NDArray[np.uint64],  # [N] the same for positions whose cells are the same for both sides
    quiet: NDArray[np.int8],  # [N] 1: no check, and the best action is not loud
) -> None:
    for i in range(len(states)):
        side = int64(states[i]["to_move"])
        key = np.uint64(0)
        for view in range(2):
            write_cells(states[i], side if view == 0 else 1 - side, cells[view])
            for k in range(NUM_CELLS):
                key = mix(key ^ np.uint64(cells[view, k] + ((k + 1) << 16)))
        keys[i] = key
        quiet[i] = loudness(states[i], actions[i]) <= 0 and not in_check(states[i], work[0])
