"""The evaluation of a Connect Four position: the lines of four that are still open."""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import popcount
from plyground.games.connect_four.rules import BOARD, fours
from plyground.games.interface import State


@njit
def evaluate(state: State) -> float:
    """Lines still open to the mover, less those open to the opponent, as a share of all 69."""
    mine, theirs = state["stones"][state["to_move"]], state["stones"][1 - state["to_move"]]
    return (open_lines(BOARD & ~theirs) - open_lines(BOARD & ~mine)) / 69.0


@njit
def open_lines(cells: np.uint64) -> np.int64:
    """How many lines of four lie within `cells`."""
    flat, falling, rising, upright = fours(cells)
    return popcount(flat) + popcount(falling) + popcount(rising) + popcount(upright)
