"""Template: what an n-tuple network says of a position. `ntuple.py` says what that is.

The *codes* of a position are M places in the table, one for each tuple under each symmetry: the values of its cells,
read as the digits of a number. They are sums over the cells (`powers`), so that a move adds a row for each cell that it
has changed. M is a multiple of eight, and the sum over the table has eight lanes in a fixed order: it has the same bits
on every processor.

A position is seen by a seat (`view`), and its value is that seat's:

    two tables    both sides look with the eyes of seat 0; there is a table for each side to move
    one table     who is to move looks
    hidden cards  who has just moved looks; one table if that side is to move again, one if not
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.kernels.no_refcounts import uncounted_body
from plyground.kernels.slots import HIDDEN, NUM_CELLS, seat, write_cells
from plyground.models.numbers import tanh

Cells = NDArray[np.int16]  # [NUM_CELLS]
Codes = NDArray[np.int32]  # [M]
LANES = 8


def weights(game: Any, codes: int, entries: int, tables: int, views: int) -> np.dtype[np.void]:
    places = [("start", np.int32, (codes,)), ("powers", np.int32, (game.cells.count, codes))]
    return np.dtype([*places, ("table", np.float32, (tables, entries))], align=True)


def scratch(game: Any, codes: int, entries: int, tables: int, views: int) -> np.dtype[np.void]:
    cells = ("cells", np.int16, (views, game.cells.count))
    return np.dtype([cells, ("codes", np.int32, (views, codes))], align=True)


@uncounted_body
def look(state: State, view: int, weights: State, cells: Cells, codes: Codes) -> None:
    """The cells of a position for a seat, and their codes."""
    start, powers = weights["start"], weights["powers"]
    write_cells(state, view, cells)
    for j in range(len(codes)):
        codes[j] = start[j]
    for k in range(NUM_CELLS):
        if cells[k] != 0:
            digit = np.int32(cells[k])
            for j in range(len(codes)):
                codes[j] += digit * powers[k, j]


@uncounted_body
def look_again(
    state: State, view: int, weights: State, cells: Cells, codes: Codes, next_cells: Cells, next_codes: Codes
) -> None:
    """The same from the cells and codes of an earlier position, by what has changed."""
    powers = weights["powers"]
    write_cells(state, view, next_cells)
    for j in range(len(codes)):
        next_codes[j] = codes[j]
    for k in range(NUM_CELLS):
        if next_cells[k] != cells[k]:
            change = np.int32(next_cells[k]) - np.int32(cells[k])
            for j in range(len(codes)):
                next_codes[j] += change * powers[k, j]


@uncounted_body
def total(table: NDArray[np.float32], codes: Codes) -> float:
    """The sum of a table's entries at the codes."""
    a = b = c = d = e = f = g = h = np.float32(0.0)
    for j in range(0, len(codes), LANES):
        a += table[np.uint32(codes[j])]
        b += table[np.uint32(codes[j + 1])]
        c += table[np.uint32(codes[j + 2])]
        d += table[np.uint32(codes[j + 3])]
        e += table[np.uint32(codes[j + 4])]
        f += table[np.uint32(codes[j + 5])]
        g += table[np.uint32(codes[j + 6])]
        h += table[np.uint32(codes[j + 7])]
    return np.float64(((a + b) + (c + d)) + ((e + f) + (g + h)))


@uncounted_body
def viewer(state: State, mover: int, weights: State) -> int:
    """The seat that looks at a running position to which `mover` has led."""
    if HIDDEN:
        return mover
    return 0 if len(weights["table"]) == 2 else seat(state)


@uncounted_body
def table_of(state: State, view: int, weights: State) -> int:
    """Which table judges a position for a seat."""
    if HIDDEN:
        return 0 if view % 2 == state["to_move"] else 1
    return state["to_move"] if len(weights["table"]) == 2 else 0


@njit
def refresh(state: State, weights: State, scratch: State) -> None:
    cells, codes = scratch["cells"], scratch["codes"]
    for view in range(len(codes)):
        look(state, view, weights, cells[view], codes[view])


@njit
def update(before: State, after: State, weights: State, scratch: State, next_scratch: State) -> None:
    cells, codes, next_cells, next_codes = (
        scratch["cells"], scratch["codes"], next_scratch["cells"], next_scratch["codes"],
    )  # fmt: skip
    for view in range(len(codes)):
        look_again(after, view, weights, cells[view], codes[view], next_cells[view], next_codes[view])


@njit
def value(state: State, weights: State, scratch: State) -> float:
    view = viewer(state, seat(state), weights)
    found = tanh(total(weights["table"][table_of(state, view, weights)], scratch["codes"][view]))
    return found if view % 2 == state["to_move"] else -found
