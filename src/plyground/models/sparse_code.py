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

from plyground.games.bits import lowest
from plyground.games.interface import State
from plyground.kernels.no_refcounts import uncounted_body
from plyground.kernels.slots import NUM_CELLS, write_cells
from plyground.models.sparse_training import LOGIT

Sums = NDArray[np.int32]  # [N]
VIEWS = 2
WORD, BITS_OF_CELL, BITS = 4, 16, 64  # cells that are compared at once; bits of one of them, and of a word
CELL, BIT, ZERO = np.uint64(0xFFFF), np.uint64(1), np.uint64(0)
ONE, SHIFT = 1 << 14, 14  # a first weight of 1; the bits of a square that are left out
SQUARE = (ONE * ONE) >> SHIFT  # an activation of 1
NOTHING, MOST = np.int32(0), np.int32(ONE)  # of 32 bits, so that loops stay in 32 bits


def weights(game: Any, units: int) -> np.dtype[np.void]:
    return np.dtype(
        [
            ("unit", np.float64),
            ("units", np.int64),  # N; see sparse_training.py
            ("second_bias", np.int32),
            ("feature", np.int32, (game.cells.count,)),  # the row of a cell's value v is `feature + v`
            ("second", np.int16, (VIEWS, units)),  # of the side to move, of the other
            ("bias", np.int32, (units,)),
            ("first", np.int16, (1 + game.cells.num_features, units)),  # row 0, of all empty cells, is 0
        ],
        align=True,
    )


def scratch(game: Any, units: int) -> np.dtype[np.void]:
    whole = -(-game.cells.count // WORD) * WORD  # what fills up the last word stays 0
    return np.dtype([("cells", np.int16, (VIEWS, whole)), ("sums", np.int32, (VIEWS, units))], align=True)


@njit
def refresh(state: State, weights: State, scratch: State) -> None:
    first, feature, bias, units = weights["first"], weights["feature"], weights["bias"], weights["units"]
    for view in range(VIEWS):
        cells, sums = scratch["cells"][view], scratch["sums"][view]
        write_cells(state, view, cells)
        for j in range(units):
            sums[j] = bias[j]
        for k in range(NUM_CELLS):
            if cells[k] != 0:
                row = first[feature[k] + cells[k]]
                for j in range(units):
                    sums[j] += row[j]


@njit
def update(before: State, after: State, weights: State, scratch: State, next_scratch: State) -> None:
    """By the cells that differ, whatever has changed them: an action, a null move, a board that turns. They are found
    with few branches: a wrong guess of the processor takes as long as a row of weights."""
    first, feature, units = weights["first"], weights["feature"], weights["units"]
    for view in range(VIEWS):
        next_cells, sums, next_sums = next_scratch["cells"][view], scratch["sums"][view], next_scratch["sums"][view]
        write_cells(after, view, next_cells)
        for j in range(units):
            next_sums[j] = sums[j]
        words, next_words = scratch["cells"][view].view(np.uint64), next_cells.view(np.uint64)
        for begin in range(0, len(words), BITS):
            changed = ZERO  # a bit for each word
            for word in range(begin, min(begin + BITS, len(words))):
                changed |= np.uint64(words[word] != next_words[word]) << np.uint64(word - begin)
            while changed != ZERO:
                word = begin + lowest(changed)
                changed &= changed - BIT
                one, other = words[word], next_words[word]
                rest = one ^ other
                while rest != ZERO:
                    k = lowest(rest) // BITS_OF_CELL
                    place = np.uint64(k * BITS_OF_CELL)
                    rest &= ~(CELL << place)
                    old, new = np.int64((one >> place) & CELL), np.int64((other >> place) & CELL)
                    offset = feature[WORD * word + k]
                    lost, won = first[(offset + old) * (old != 0)], first[(offset + new) * (new != 0)]
                    for j in range(units):
                        next_sums[j] += np.int32(won[j]) - np.int32(lost[j])


@uncounted_body
def output(sums: Sums, second: NDArray[np.int16], units: int) -> np.int32:
    """What one view adds to the logit."""
    total = NOTHING
    for j in range(units):
        clipped = min(max(sums[j], NOTHING), MOST)
        square = np.int32(np.int32(clipped * clipped) >> SHIFT)
        total = np.int32(total + np.int32(square * second[j]))
    return total


@njit
def value(state: State, weights: State, scratch: State) -> float:
    side, sums, second, units = np.int64(state["to_move"]), scratch["sums"], weights["second"], weights["units"]
    total = output(sums[side], second[0], units) + output(sums[1 - side], second[1], units) + weights["second_bias"]
    logit = np.float64(total) * weights["unit"]
    return logit / (LOGIT + abs(logit))
