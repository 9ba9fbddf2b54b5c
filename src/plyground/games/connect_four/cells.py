"""Connect Four as cells, row by row from the top: 0 empty, 1 own, 2 the opponent's, 3 empty and the next stone of its
column falls there.

A cell that can be played now is worth another thing than one that cannot: n-tuples see that no other way.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.cells import Cells, Group, Out, mirrored
from plyground.games.connect_four.rules import COLUMNS, ONE, ROWS, playable
from plyground.games.interface import State

EMPTY, OWN, THEIRS, REACHABLE = (np.int16(value) for value in range(4))
SHIFTS = np.array([7 * column + row for row in reversed(range(ROWS)) for column in range(COLUMNS)], np.uint64)
"""[42] where the bit of each cell is"""


@njit
def write_cells(state: State, seat: int, out: Out) -> None:
    own, theirs = state["stones"][seat], state["stones"][1 - seat]
    reachable = playable(own | theirs)
    for cell in range(ROWS * COLUMNS):
        empty = REACHABLE if (reachable >> SHIFTS[cell]) & ONE else EMPTY
        out[cell] = OWN if (own >> SHIFTS[cell]) & ONE else (THEIRS if (theirs >> SHIFTS[cell]) & ONE else empty)


WORDS = ("own disc", "their disc", "playable")
NAMES = [f"{column}{row}" for row in reversed(range(1, ROWS + 1)) for column in "abcdefg"]
GROUPS = (Group("board", ROWS * COLUMNS, 4, (ROWS, COLUMNS), words=WORDS),)
CELLS = Cells(GROUPS, write_cells, [np.arange(ROWS * COLUMNS), mirrored(GROUPS)], lambda state, seat: NAMES)
