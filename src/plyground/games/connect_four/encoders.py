"""Network inputs for Connect Four. Row 0 is the top row; "own" is the side of the observing seat."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import popcount
from plyground.games.connect_four.rules import COLUMN, COLUMNS, ONE, ROWS, playable, winning_cells
from plyground.games.encoder import Encoder
from plyground.games.interface import State

Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]

CELLS = ROWS * COLUMNS
CENTRE = COLUMN << np.uint64(21)
SHIFTS = np.array([7 * column + row for row in reversed(range(ROWS)) for column in range(COLUMNS)], np.uint64)
"""[42] where the bit of each cell is, row by row from the top"""
F0, F1, F2 = np.float32(0), np.float32(1), np.float32(2)
I0, I1, I2, MINUS = np.int8(0), np.int8(1), np.int8(2), np.int8(-1)

# Each encoder chooses between constants in flat loops over the cells: the compiler turns those into a few wide
# instructions, five times as fast as nested loops that shift and convert.


@njit
def write_board(state: State, seat: int, out: Bytes) -> None:
    """0 empty, 1 the first side, 2 the second, for both seats."""
    first, second = state["stones"][0], state["stones"][1]
    for cell in range(CELLS):
        out[cell] = I1 if (first >> SHIFTS[cell]) & ONE else (I2 if (second >> SHIFTS[cell]) & ONE else I0)


@njit
def write_signed(state: State, seat: int, out: Bytes) -> None:
    """+1 own, -1 the opponent's."""
    own, other = state["stones"][seat], state["stones"][1 - seat]
    for cell in range(CELLS):
        out[cell] = I1 if (own >> SHIFTS[cell]) & ONE else (MINUS if (other >> SHIFTS[cell]) & ONE else I0)


@njit
def write_relative(state: State, seat: int, out: Floats) -> None:
    """0.0 empty, 1.0 own, 2.0 the opponent's; cell (row, column) at row * 7 + column."""
    own, other = state["stones"][seat], state["stones"][1 - seat]
    for cell in range(CELLS):
        out[cell] = F1 if (own >> SHIFTS[cell]) & ONE else (F2 if (other >> SHIFTS[cell]) & ONE else F0)


@njit
def write_planes(state: State, seat: int, out: Floats) -> None:
    """Plane 0: own stones; plane 1: the opponent's."""
    own, other = state["stones"][seat], state["stones"][1 - seat]
    for cell in range(CELLS):
        out[cell] = F1 if (own >> SHIFTS[cell]) & ONE else F0
        out[CELLS + cell] = F1 if (other >> SHIFTS[cell]) & ONE else F0


@njit
def write_onehot(state: State, seat: int, out: Floats) -> None:
    """Plane 0: empty cells; plane 1: own stones; plane 2: the opponent's."""
    own, other = state["stones"][seat], state["stones"][1 - seat]
    for cell in range(CELLS):
        out[cell] = F0 if ((own | other) >> SHIFTS[cell]) & ONE else F1
        out[CELLS + cell] = F1 if (own >> SHIFTS[cell]) & ONE else F0
        out[2 * CELLS + cell] = F1 if (other >> SHIFTS[cell]) & ONE else F0


@njit
def write_features(state: State, seat: int, out: Floats) -> None:
    """Four counts for the observing seat, then the same four for the opponent:

    stones in the centre column; open threats (empty cells that would complete four); blocks (cells that can be played
    now and stop a four of the other side); immediate wins (cells that can be played now and complete four).
    """
    taken = state["stones"][0] | state["stones"][1]
    now = playable(taken)
    for k in range(2):
        side = seat if k == 0 else 1 - seat
        own, other = state["stones"][side], state["stones"][1 - side]
        threats = winning_cells(own, taken)
        out[4 * k] = popcount(own & CENTRE)
        out[4 * k + 1] = popcount(threats)
        out[4 * k + 2] = popcount(winning_cells(other, taken) & now)
        out[4 * k + 3] = popcount(threats & now)


ENCODERS = (
    Encoder("planes", 1, (2, ROWS, COLUMNS), np.float32, write_planes, "own stones; opponent's stones", bounds=(0, 1)),
    Encoder(
        "onehot",
        1,
        (3, ROWS, COLUMNS),
        np.float32,
        write_onehot,
        "empty cells; own stones; opponent's stones",
        bounds=(0, 1),
    ),
    Encoder("signed", 1, (ROWS, COLUMNS), np.int8, write_signed, "+1 own, -1 opponent's", bounds=(-1, 1)),
    Encoder("relative", 1, (CELLS,), np.float32, write_relative, "0 empty, 1 own, 2 opponent's, flat", bounds=(0, 2)),
    Encoder("board", 1, (ROWS, COLUMNS), np.int8, write_board, "0 empty, 1 first side, 2 second side", bounds=(0, 2)),
    Encoder("features", 1, (8,), np.float32, write_features, "centre, threats, blocks, wins: own, then opponent's"),
)
