"""Template: what a sparse network says of a position, in integers. `sparse.py` says what it is.

    sums[view]     the bias and a row of `first` for each cell that is not empty; unit 1 / ONE
    activation     a sum clipped to [0, ONE] and squared; unit 1 / SQUARE
    logit          the activations times `second`; unit `unit`
    value          logit / (LOGIT + |logit|)

Integers make their order meaningless: sums that follow moves are those from nothing, and everything is the same on
every processor. No sum leaves its 32 bits (`Sparse.load_state`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.kernels.no_refcounts import uncounted_body
from plyground.kernels.slots import NUM_CELLS, write_cells
from plyground.models.sparse_training import LOGIT

Sums = NDArray[np.int32]  # [N]
Row = NDArray[np.int16]  # [N]
VIEWS = 2
WORD = 4  # cells that are compared at once
ONE, SHIFT = 1 << 14, 14  # a first weight of 1; the bits of a square that are left out
SQUARE = (ONE * ONE) >> SHIFT  # an activation of 1
NOTHING, MOST = np.int32(0), np.int32(ONE)  # of 32 bits, so that loops stay in 32 bits


def weights(game: Any, units: int) -> np.dtype[np.void]:
    return np.dtype(
        [
            ("unit", np.float64),
            ("second_bias", np.int32),
            ("row", np.int32, (game.cells.count,)),  # a cell's value v has the row `row + v`
            ("second", np.int16, (VIEWS, units)),  # of the side to move, of the other
            ("bias", np.int32, (units,)),
            ("first", np.int16, (game.cells.num_features, units)),
        ],
        align=True,
    )


def scratch(game: Any, units: int) -> np.dtype[np.void]:
    whole = -(-game.cells.count // WORD) * WORD  # what fills up the last word stays 0
    return np.dtype([("cells", np.int16, (VIEWS, whole)), ("sums", np.int32, (VIEWS, units))], align=True)


@uncounted_body
def add(sums: Sums, row: Row) -> None:
    for j in range(len(row)):
        sums[j] += row[j]


@uncounted_body
def subtract(sums: Sums, row: Row) -> None:
    for j in range(len(row)):
        sums[j] -= row[j]


@njit
def refresh(state: State, weights: State, scratch: State) -> None:
    first, row, bias = weights["first"], weights["row"], weights["bias"]
    for view in range(VIEWS):
        cells, sums = scratch["cells"][view], scratch["sums"][view]
        write_cells(state, view, cells)
        for j in range(len(bias)):
            sums[j] = bias[j]
        for k in range(NUM_CELLS):
            if cells[k] != 0:
                add(sums, first[row[k] + cells[k]])


@njit
def update(before: State, after: State, weights: State, scratch: State, next_scratch: State) -> None:
    """By the cells that differ, whatever has changed them: an action, a null move, a board that turns."""
    first, row = weights["first"], weights["row"]
    for view in range(VIEWS):
        cells, sums = scratch["cells"][view], scratch["sums"][view]
        next_cells, next_sums = next_scratch["cells"][view], next_scratch["sums"][view]
        write_cells(after, view, next_cells)
        for j in range(len(sums)):
            next_sums[j] = sums[j]
        words, next_words = cells.view(np.uint64), next_cells.view(np.uint64)
        for word in range(len(words)):
            if words[word] != next_words[word]:
                for k in range(WORD * word, WORD * word + WORD):
                    if cells[k] != next_cells[k]:
                        if cells[k] != 0:
                            subtract(next_sums, first[row[k] + cells[k]])
                        if next_cells[k] != 0:
                            add(next_sums, first[row[k] + next_cells[k]])


@uncounted_body
def output(sums: Sums, second: Row) -> np.int32:
    """What one view adds to the logit."""
    total = NOTHING
    for j in range(len(second)):
        clipped = min(max(sums[j], NOTHING), MOST)
        square = np.int32(np.int32(clipped * clipped) >> SHIFT)
        total = np.int32(total + np.int32(square * second[j]))
    return total


@njit
def value(state: State, weights: State, scratch: State) -> float:
    side, sums, second = np.int64(state["to_move"]), scratch["sums"], weights["second"]
    total = output(sums[side], second[0]) + output(sums[1 - side], second[1]) + weights["second_bias"]
    logit = np.float64(total) * weights["unit"]
    return logit / (LOGIT + abs(logit))
