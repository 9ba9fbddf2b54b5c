"""Connect Four: drop stones into seven columns of six cells; four in a line win.

Two bitboards, one for each side. Bit numbers:

     5 12 19 26 33 40 47      row 6 of each column (bits 6, 13, ..., 48) stays empty, so that shifting by 1, 6, 7 or 8
     4 11 18 25 32 39 46      never joins two columns
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42

An action is a column, 0 to 6; its name counts from 1, as the usual notation "4453" does.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, Actions, Rng, State

# ---- board ----

ROWS, COLUMNS = 6, 7
NUM_ACTIONS = MAX_LEGAL = COLUMNS
MAX_PLIES = ROWS * COLUMNS
STATE = np.dtype(
    [("stones", np.uint64, (2,)), ("ply", np.int8), ("to_move", np.int8), ("outcome", np.int8)], align=True
)

ZERO, ONE = np.uint64(0), np.uint64(1)
COLUMN = np.uint64(0b111111)  # the six cells of column 0
BOARD = np.uint64(sum(0b111111 << (7 * column) for column in range(COLUMNS)))
BOTTOM = np.uint64(sum(1 << (7 * column) for column in range(COLUMNS)))
S1, S2, S6, S7, S8, S12, S14, S16 = (np.uint64(shift) for shift in (1, 2, 6, 7, 8, 12, 14, 16))


# ---- rules ----


@njit
def reset(state: State, rng: Rng) -> None:
    """The record of zeros that it receives is the empty board."""


@njit
def legal(state: State, actions: Actions) -> int:
    """The columns that are not full."""
    if state["outcome"] != RUNNING:
        return 0
    taken = state["stones"][0] | state["stones"][1]
    count = 0
    for column in range(COLUMNS):
        if (taken >> np.uint64(7 * column + 5)) & ONE == ZERO:
            actions[count] = column
            count += 1
    return count


@njit
def mask(state: State, mask: NDArray[np.bool_]) -> None:
    """The columns that are not full, as a mask."""
    full = (state["stones"][0] | state["stones"][1]) if state["outcome"] == RUNNING else BOARD
    for column in range(COLUMNS):
        mask[column] = (full >> np.uint64(7 * column + 5)) & ONE == ZERO


@njit
def play(state: State, action: int, rng: Rng) -> None:
    """Drop a stone for the side to move; the turn passes."""
    side = state["to_move"]
    bottom = ONE << np.uint64(7 * action)
    taken = state["stones"][0] | state["stones"][1]
    stones = state["stones"][side] | ((taken + bottom) & ~taken)  # the carry stops at the column's lowest empty cell
    state["stones"][side] = stones
    state["ply"] += 1
    state["to_move"] = 1 - side
    if has_four(stones):
        state["outcome"] = FIRST_WINS + side
    elif state["ply"] == MAX_PLIES:
        state["outcome"] = DRAW


# ---- outcome ----


@njit
def fours(stones: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """The first cell of each line of four in `stones`: flat, falling, rising, upright."""
    flat, falling = stones & (stones >> S7), stones & (stones >> S6)
    rising, upright = stones & (stones >> S8), stones & (stones >> S1)
    return flat & (flat >> S14), falling & (falling >> S12), rising & (rising >> S16), upright & (upright >> S2)


@njit
def has_four(stones: np.uint64) -> bool:
    """Whether four stones stand in a line."""
    flat, falling, rising, upright = fours(stones)
    return (flat | falling | rising | upright) != ZERO


@njit
def playable(taken: np.uint64) -> np.uint64:
    """The cell of each open column that the next stone falls into."""
    return (taken + BOTTOM) & BOARD


@njit
def winning_cells(stones: np.uint64, taken: np.uint64) -> np.uint64:
    """The empty cells, reachable now or not, where one more stone makes four."""
    cells: np.uint64 = ZERO
    for s in (S1, S6, S7, S8):
        up, down = stones >> s, stones << s
        up_2, down_2 = up >> s, down << s
        cells |= (up & up_2 & (up_2 >> s)) | (down & up & up_2) | (down_2 & down & up) | (down & down_2 & (down_2 << s))
    return cells & BOARD & ~taken


# ---- symmetries ----

SYMMETRIES = 2  # as it is, and mirrored left to right


@njit
def mirrored(stones: np.uint64) -> np.uint64:
    """The same board seen in a mirror: the columns in the opposite order."""
    out = ZERO
    for column in range(COLUMNS):
        out |= ((stones >> np.uint64(7 * column)) & COLUMN) << np.uint64(42 - 7 * column)
    return out


@njit
def transform(state: State, symmetry: int) -> None:
    """Mirror the stones of both sides."""
    if symmetry == 1:
        for side in range(2):
            state["stones"][side] = mirrored(state["stones"][side])


@njit
def transform_action(action: int, symmetry: int) -> int:
    """The mirrored column."""
    return COLUMNS - 1 - action if symmetry == 1 else action
