"""What a chip on each cell is worth in the lines of five through it, for all cells of the board at once.

A chip gains in a line by the chips that its side has there already; it blocks what the other side would gain. A line
that holds a chip of the other side, or two locked ones of its own, can no longer become a sequence.

The loops run over neighbouring numbers without branches, so that the compiler uses vector instructions: all cells take
as long as six single cells did.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.games.sequence import cards

GAINS = (1, 4, 16, 80, 1000)  # one more chip in a line of five that holds 0 .. 4
DOWN, RIGHT = cards.SIZE, 1  # steps from a cell to the next one

WORK = np.dtype(
    [
        ("counts", np.int16, (cards.CELLS,)),  # what each cell adds to a line: five numbers of three bits
        ("gain", np.int16, (2, cards.CELLS)),  # of the line that begins in a cell: an own chip's, an opponent's
        ("build", np.int16, (2, cards.CELLS)),  # what an own chip on a cell gains: [0] on an empty one, [1] where an
        ("block", np.int16, (2, cards.CELLS)),  # opponent's chip is removed; and what it takes from the opponent
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
BEGINS = np.zeros((4, cards.CELLS), np.int16)  # [4, 100] whether a line of five in each direction begins in a cell
for _direction, _step in enumerate(cards.DIRECTIONS):
    for _cell in range(cards.CELLS):
        BEGINS[_direction, _cell] = len(cards.line_of(_cell, *_step, 5)) == 5


Cells = NDArray[np.int16]  # [100]; `gain` is [2, 100]


@njit(forceinline=True)
def gain_with(chips: np.int16) -> np.int16:
    """What one more chip gains in a line that holds so many."""
    few = np.int16(GAINS[0]) if chips == 0 else np.int16(GAINS[1])
    some = np.int16(GAINS[2]) if chips == 2 else np.int16(GAINS[3])
    gain = few if chips <= 1 else some
    return np.int16(GAINS[4]) if chips >= 4 else gain


@njit(forceinline=True)
def add_lines(
    counts: Cells, begins: Cells, gain: Cells, removed: np.int16, step: int, build: Cells, block: Cells
) -> None:
    """Add what the lines of one direction are worth. A constant `step` and numbers of 16 bits make it six times as
    fast: that is why it is inlined, and why every number is cast."""
    own, theirs = gain[0], gain[1]
    for cell in range(cards.CELLS - 4 * step):
        line = counts[cell] + counts[cell + step] + counts[cell + 2 * step] + counts[cell + 3 * step]
        line = np.int16(line + counts[cell + 4 * step])
        mine, others, free = np.int16(line & 7), np.int16((line >> 3) & 7), np.int16((line >> 6) & 7)
        my_locked, their_locked = np.int16((line >> 9) & 7), np.int16((line >> 12) & 7)
        gained, taken = gain_with(np.int16(mine + free)), gain_with(np.int16(others - removed + free))
        there = begins[cell] != 0
        own[cell] = gained if (others == removed) & (my_locked <= 1) & there else np.int16(0)
        theirs[cell] = taken if (mine == 0) & (their_locked <= 1) & there else np.int16(0)
    for k in range(5):
        for cell in range(cards.CELLS - 4 * step):
            build[cell + k * step] += own[cell]
            block[cell + k * step] += theirs[cell]


@njit
def fill_worths(state: State, side: int, removed: int, work: State) -> None:
    """Write `build` and `block` of all cells into row `removed`: 0 for a chip on an empty cell, 1 where one of the
    opponent's is removed."""
    counts, gain = work["counts"], work["gain"]
    build, block = work["build"][removed], work["block"][removed]
    for cell in range(cards.CELLS):
        counts[cell] = COUNTS[side, state["cells"][cell]]
        build[cell], block[cell] = 0, 0
    gone = np.int16(removed)
    add_lines(counts, BEGINS[0], gain, gone, DOWN, build, block)
    add_lines(counts, BEGINS[1], gain, gone, RIGHT, build, block)
    add_lines(counts, BEGINS[2], gain, gone, DOWN + RIGHT, build, block)
    add_lines(counts, BEGINS[3], gain, gone, DOWN - RIGHT, build, block)
