"""What a chip on each cell is worth in the lines of five through it, for all cells of the board at once.

A chip gains in a line by the chips that its side has there already; it blocks what the other side would gain. A line
that holds a chip of the other side, or two locked ones of its own, can no longer become a sequence.

The loops run over neighbouring numbers without branches, so that the compiler uses vector instructions: all cells take
as long as six single cells.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.games.sequence import cards

GAINS = (1, 4, 16, 80, 1000)  # one more chip in a line of five that holds 0 .. 4
DOWN, RIGHT = cards.SIZE, 1  # steps from a cell to the next one

LONGEST = 4 * (DOWN + RIGHT)  # from the first cell of a line to the last
ROOM = 128  # cells, rounded up to whole vectors
WORK = np.dtype(
    [
        ("counts", np.int16, (ROOM + LONGEST,)),  # what each cell adds to a line: five numbers of three bits
        ("own", np.int16, (LONGEST + ROOM,)),  # what an own chip gains in the line that begins LONGEST cells before
        ("theirs", np.int16, (LONGEST + ROOM,)),  # the same for the opponent
        ("build", np.int16, (2, ROOM)),  # what an own chip on a cell gains: [0] on an empty one, [1] where an
        ("block", np.int16, (2, ROOM)),  # opponent's chip is removed; and what it takes from the opponent
    ],
    align=True,
)
"""working memory of the agent `window`"""

MINE, THEIRS, FREE, MY_LOCKED, THEIR_LOCKED = (1 << 3 * k for k in range(5))  # in `counts`


def _counts(side: int) -> list[int]:
    """What each mark of a cell adds to a line, as this side sees it."""
    found = [0] * (cards.CORNER + 1)
    found[cards.CHIP + side], found[cards.CHIP + 1 - side], found[cards.CORNER] = MINE, THEIRS, FREE
    found[cards.LOCKED + side], found[cards.LOCKED + 1 - side] = MINE + MY_LOCKED, THEIRS + THEIR_LOCKED
    return found


COUNTS = np.array([_counts(0), _counts(1)], np.int16)  # [2, 6]
BEGINS = np.zeros((4, ROOM), np.int16)  # [4, 128] whether a line of five in each direction begins in a cell
for _direction, _step in enumerate(cards.DIRECTIONS):
    for _cell in range(cards.CELLS):
        BEGINS[_direction, _cell] = len(cards.line_of(_cell, *_step, 5)) == 5


Cells = NDArray[np.int16]


@njit(forceinline=True)
def gain_with(chips: np.int16) -> np.int16:
    """What one more chip gains in a line that holds so many."""
    few = np.int16(GAINS[0]) if chips == 0 else np.int16(GAINS[1])
    some = np.int16(GAINS[2]) if chips == 2 else np.int16(GAINS[3])
    gain = few if chips <= 1 else some
    return np.int16(GAINS[4]) if chips >= 4 else gain


@njit(forceinline=True)
def add_lines(work: State, begins: Cells, step: int, removed: int) -> None:
    """Add what the lines of one direction are worth to row `removed` of `build` and `block`.

    A constant `step` and numbers of 16 bits make it six times as fast: that is why it is inlined, and why every number
    is cast.
    """
    counts, own, theirs = work["counts"], work["own"], work["theirs"]
    build, block, gone = work["build"][removed], work["block"][removed], np.int16(removed)
    for cell in range(ROOM):
        line = counts[cell] + counts[cell + step] + counts[cell + 2 * step] + counts[cell + 3 * step]
        line = np.int16(line + counts[cell + 4 * step])
        mine, others, free = np.int16(line & 7), np.int16((line >> 3) & 7), np.int16((line >> 6) & 7)
        my_locked, their_locked = np.int16((line >> 9) & 7), np.int16((line >> 12) & 7)
        gained, taken = gain_with(np.int16(mine + free)), gain_with(np.int16(others - gone + free))
        there = begins[cell] != 0
        own[LONGEST + cell] = gained if (others == gone) & (my_locked <= 1) & there else np.int16(0)
        theirs[LONGEST + cell] = taken if (mine == 0) & (their_locked <= 1) & there else np.int16(0)
    for cell in range(ROOM):
        last = LONGEST + cell
        gained = own[last] + own[last - step] + own[last - 2 * step] + own[last - 3 * step] + own[last - 4 * step]
        build[cell] = np.int16(build[cell] + gained)
    for cell in range(ROOM):
        last = LONGEST + cell
        taken = theirs[last] + theirs[last - step] + theirs[last - 2 * step] + theirs[last - 3 * step]
        block[cell] = np.int16(block[cell] + taken + theirs[last - 4 * step])


@njit
def fill_worths(state: State, side: int, removed: int, work: State) -> None:
    """Write `build` and `block` of all cells into row `removed`: 0 for a chip on an empty cell, 1 where one of the
    opponent's is removed."""
    for k in range(LONGEST):
        work["own"][k], work["theirs"][k] = 0, 0
    for k in range(cards.CELLS, ROOM + LONGEST):
        work["counts"][k] = 0
    for cell in range(cards.CELLS):
        work["counts"][cell] = COUNTS[side, state["cells"][cell]]
    for k in range(ROOM):
        work["build"][removed, k], work["block"][removed, k] = 0, 0
    add_lines(work, BEGINS[0], DOWN, removed)
    add_lines(work, BEGINS[1], RIGHT, removed)
    add_lines(work, BEGINS[2], DOWN + RIGHT, removed)
    add_lines(work, BEGINS[3], DOWN - RIGHT, removed)
