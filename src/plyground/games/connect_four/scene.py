"""Connect Four as a scene: a board of discs; a click anywhere in a column drops a disc there."""

from __future__ import annotations

from plyground.games.connect_four.rules import COLUMNS, ROWS
from plyground.games.connect_four.text import SIDES, reason, winning
from plyground.games.interface import State
from plyground.games.scene import Cell, Item, Scene, board, status


def scene(state: State, seat: int) -> Scene:
    """The board; the winning lines are marked. Cells are named a1 (bottom left) to g6."""
    bits = [int(stones) for stones in state["stones"]]
    owner = {
        (row, column): side
        for side in (0, 1)
        for row in range(ROWS)
        for column in range(COLUMNS)
        if bits[side] >> (7 * column + row) & 1
    }
    won = winning(state)

    def cell(row: int, column: int) -> Cell:
        there = (row, column)
        items = (Item("disc", owner[there]),) if there in owner else ()
        marks = ("win",) if there in won else ()
        return Cell(f"{'abcdefg'[column]}{row + 1}", items, marks, f"column:{column + 1}")

    rows = [[cell(row, column) for column in range(COLUMNS)] for row in reversed(range(ROWS))]
    names = [str(column + 1) for column in range(COLUMNS)]
    return Scene((board(rows, column_labels=names),), status(state, SIDES, reason(state)))


def clicks(state: State, action: int) -> list[str]:
    """The column: `column:4`."""
    return [f"column:{action + 1}"]
