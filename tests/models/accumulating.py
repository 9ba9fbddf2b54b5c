"""The linear model of the guide, whose sums follow the differences of cells from one position to the next."""

from typing import Any

import numpy as np
from numba import njit

from plyground.kernels.slots import NUM_CELLS, seat, write_cells
from plyground.models.numbers import tanh


def weights(game: Any) -> np.dtype[np.void]:
    table = (game.cells.count, int(game.cells.values.max()))
    return np.dtype([("table", np.float32, table), ("bias", np.float32)], align=True)


def scratch(game: Any) -> np.dtype[np.void]:
    seats, count = game.rules.SEATS, game.cells.count
    return np.dtype([("cells", np.int16, (seats, count)), ("totals", np.float64, (seats,))], align=True)


@njit
def value(state: Any, weights: Any, scratch: Any) -> float:
    return tanh(scratch["totals"][seat(state)])


@njit
def refresh(state: Any, weights: Any, scratch: Any) -> None:
    cells, table, totals = scratch["cells"], weights["table"], scratch["totals"]
    for view in range(len(totals)):
        write_cells(state, view, cells[view])
        totals[view] = weights["bias"]
        for k in range(NUM_CELLS):
            totals[view] += table[k, cells[view, k]]


@njit
def update(before: Any, after: Any, weights: Any, scratch: Any, next_scratch: Any) -> None:
    old, cells, table, totals = scratch["cells"], next_scratch["cells"], weights["table"], next_scratch["totals"]
    for view in range(len(totals)):
        write_cells(after, view, cells[view])
        totals[view] = scratch["totals"][view]
        for k in range(NUM_CELLS):
            if cells[view, k] != old[view, k]:
                totals[view] += table[k, cells[view, k]] - table[k, old[view, k]]
