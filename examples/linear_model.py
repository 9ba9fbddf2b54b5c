"""A linear model for any game with cells: each value of each cell is worth something, and the sum is the position's.

docs/adding_a_model.md walks through it. `python examples/linear_model.py connect_four 20000` trains it.
"""

import sys
from typing import Any

import numpy as np
from numba import njit

from plyground.kernels.slots import NUM_CELLS, seat, write_cells
from plyground.models.numbers import tanh


def weights(game: Any) -> np.dtype[np.void]:
    table = (game.cells.count, int(game.cells.values.max()))
    return np.dtype([("table", np.float32, table), ("bias", np.float32)], align=True)


def scratch(game: Any) -> np.dtype[np.void]:
    return np.dtype([("cells", np.int16, (game.cells.count,))], align=True)


@njit
def value(state: Any, weights: Any, scratch: Any) -> float:
    cells, table, total = scratch["cells"], weights["table"], np.float64(weights["bias"])
    write_cells(state, seat(state), cells)
    for k in range(NUM_CELLS):
        total += table[k, cells[k]]
    return tanh(total)


@njit
def learn(state: Any, target: float, rate: float, weights: Any, scratch: Any) -> None:
    """A step down the gradient of the squared error."""
    found = value(state, weights, scratch)
    step = rate * (target - found) * (1.0 - found * found)
    cells, table = scratch["cells"], weights["table"]
    for k in range(NUM_CELLS):
        table[k, cells[k]] += step
    weights["bias"] += step


if __name__ == "__main__":
    from plyground.models.files import load_model
    from plyground.models.training import learn_by_self_play

    model = load_model(__file__, sys.argv[1])
    learn_by_self_play(model, int(sys.argv[2]), opening_plies=8)
    model.save()
