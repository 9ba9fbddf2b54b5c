"""Connect Four as people write it: boards, strings of columns, arrays. Plain Python: nothing compiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plyground.errors import InvalidText, shorten
from plyground.games.connect_four.rules import COLUMNS, MAX_PLIES, ROWS
from plyground.games.interface import DRAW, FIRST_WINS, SECOND_WINS, State

EMPTY, DISCS = ".", "xo"
SIDES = ("●", "○")
AIM = "four of your own stones in a line: flat, upright or diagonal"
TYPING = "a column, 1 to 7"
READS = {".": -1, "x": 0, "o": 1, "X": 0, "O": 1, "●": 0, "○": 1}
"""the characters of a board and whose stones they are; -1: nobody's"""

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows up, columns right
FOURS = [
    [(row + k * up, column + k * right) for k in range(4)]
    for up, right in DIRECTIONS
    for row in range(ROWS)
    for column in range(COLUMNS)
    if row + 3 * up < ROWS and 0 <= column + 3 * right < COLUMNS
]
"""the 69 lines, as (row, column), row 0 below"""


def reason(state: State) -> str:
    """How the game ended."""
    return ("", "board full", "four in a row", "four in a row")[int(state["outcome"])]


# ---- positions ----


def text(state: State) -> str:
    """Six rows from the top: `......./......./......./......./...x.../..ox...`."""
    return "/".join("".join(row) for row in cells(state, DISCS))


def action_name(state: State, action: int) -> str:
    """The column, counted from 1."""
    return str(action + 1)


def parse(source: str, state: State) -> None:
    """Read columns played from the empty board (`4453`) or a board as `text` and `draw` write it."""
    if len(source) > 1000:
        raise InvalidText(f"a Connect Four text has at most 1000 characters, not {len(source)}: {shorten(source)!r}")
    if source.isascii() and source.isdigit():
        _parse_columns(source, state)
    else:
        _parse_board(source, state)


def from_array(array: Any, state: State) -> None:
    """Read a 6x7 array of 0 (empty), 1 (first side), 2 (second side), row 0 on top."""
    try:
        board = np.asarray(array)
    except ValueError as error:
        raise InvalidText(f"not a board of {ROWS} rows of {COLUMNS}: {error}") from None
    if board.shape == (ROWS, COLUMNS) and not np.isin(board, (0, 1, 2)).all():
        strange = sorted({str(cell) for cell in board.flat} - {"0", "1", "2", "0.0", "1.0", "2.0"})
        raise InvalidText(f"a Connect Four array holds 0, 1 and 2; this one also {', '.join(strange[:5])}")
    if board.shape != (ROWS, COLUMNS):
        raise InvalidText(
            f"a Connect Four array is {ROWS}x{COLUMNS} of 0, 1 and 2, row 0 on top; got shape {board.shape}"
        )
    _set_cells(state, [[int(cell) - 1 for cell in row] for row in board])


def problems(state: State) -> list[str]:
    """Everything that keeps an arrangement from being reached in a game."""
    first, second = (int(stones) for stones in state["stones"])
    more = first.bit_count() - second.bit_count()
    won = [_four_in(first), _four_in(second)]
    found = limits(state)
    if more not in (0, 1):
        found.append(
            f"{first.bit_count()} stones of x against {second.bit_count()} of o (x begins: it has as many or one more)"
        )
    if all(won):
        found.append("both sides have four in a row")
    elif (won[0] and more == 0) or (won[1] and more == 1):
        found.append(f"{DISCS[won[1]]} has four in a row, but the other side moved last")
    if not found and columns(state) is None:
        found.append("no order of moves leads there without ending the game before")
    return found


def limits(state: State) -> list[str]:
    """Stones that float: the next stone of their column has no place."""
    first, second = (int(stones) for stones in state["stones"])
    floating = [name for name, column in _columns_of(first | second) if (column + 1) & column]
    return [f"a stone floats in column {', '.join(floating)}"] if floating else []


def columns(state: State) -> str | None:
    """Some order of columns that leads to this board, or None where there is none. (A board does not store its own.)

    Takes stones off, depth first, and never leaves a finished game. The seven heights identify what remains, so that
    it visits at most 7**7 boards, and in practice a few dozen.
    """
    path: list[str] = []
    dead: set[tuple[int, int]] = set()

    def undo(mover: int, other: int) -> bool:
        """Take off a stone of `mover`, who moved last, and repeat until the board is empty."""
        if not mover | other:
            return True
        if (mover, other) in dead:
            return False
        for index, (name, column) in enumerate(_columns_of(mover | other)):
            top = 1 << (7 * index + column.bit_length() - 1) if column else 0
            if mover & top and not _four_in(mover ^ top) and undo(other, mover ^ top):
                path.append(name)
                return True
        dead.add((mover, other))
        return False

    first, second = (int(stones) for stones in state["stones"])
    last, other = (first, second) if first.bit_count() > second.bit_count() else (second, first)
    return "".join(path) if not _four_in(other) and undo(last, other) else None


def _four_in(stones: int) -> bool:
    """`has_four` for Python integers: reading a text compiles nothing."""
    pairs = ((stones & (stones >> shift), shift) for shift in (1, 6, 7, 8))
    return any(pair & (pair >> 2 * shift) for pair, shift in pairs)


def winning(state: State) -> set[tuple[int, int]]:
    """The cells of all fours, as (row, column), row 0 below."""
    first, second = (int(stones) for stones in state["stones"])

    def owner(row: int, column: int) -> int:
        bit = 1 << (7 * column + row)
        return 1 if first & bit else 2 if second & bit else 0

    return {cell for four in FOURS if {owner(*each) for each in four} in ({1}, {2}) for cell in four}


def _columns_of(stones: int) -> list[tuple[str, int]]:
    """Each column's name and its six cells as bits."""
    return [(str(column + 1), (stones >> (7 * column)) & 0b111111) for column in range(COLUMNS)]


def cells(state: State, discs: Sequence[str]) -> list[list[str]]:
    """The board as characters, top row first."""
    first, second = (int(stones) for stones in state["stones"])

    def cell(row: int, column: int) -> str:
        bit = 1 << (7 * column + row)
        return discs[0] if first & bit else discs[1] if second & bit else EMPTY

    return [[cell(row, column) for column in range(COLUMNS)] for row in reversed(range(ROWS))]


def _parse_columns(source: str, state: State) -> None:
    stones = [0, 0]
    for number, digit in enumerate(source, start=1):
        taken = dict(_columns_of(stones[0] | stones[1]))
        if _four_in(stones[0]) or _four_in(stones[1]):
            raise InvalidText(f"the game is over after {source[: number - 1]!r}, but {shorten(source)!r} goes on")
        if digit not in taken:
            raise InvalidText(f"no column {digit!r} (move {number} of {shorten(source)!r}); columns are 1 to {COLUMNS}")
        if taken[digit] == 0b111111:
            free = ", ".join(name for name, column in taken.items() if column != 0b111111)
            raise InvalidText(
                f"column {digit} is full at move {number} of {shorten(source)!r}; open columns: {free or 'none'}"
            )
        stones[(number - 1) % 2] |= 1 << (7 * int(digit) - 7 + taken[digit].bit_length())
    _set_stones(state, stones)


def _parse_board(source: str, state: State) -> None:
    lines = [line.replace(" ", "").replace("|", "") for line in source.replace("/", "\n").splitlines()]
    rows = [line for line in lines if line and line != "1234567"]
    if len(rows) != ROWS or any(len(row) != COLUMNS for row in rows):
        raise InvalidText(
            f"{shorten(source)!r} is neither a string of columns 1 to 7 nor a board of {ROWS} rows of {COLUMNS} cells, "
            "such as '......./......./......./......./...x.../..ox...'"
        )
    strange = sorted({cell for row in rows for cell in row} - set(READS))
    if strange:
        raise InvalidText(
            f"no stone is written {', '.join(map(repr, strange))} in {shorten(source)!r}; cells are '.', 'x' and 'o'"
        )
    _set_cells(state, [[READS[cell] for cell in row] for row in rows])


def _set_cells(state: State, rows: list[list[int]]) -> None:
    """Fill the record from whose stone stands where, top row first."""
    stones = [0, 0]
    for row, cells in zip(reversed(range(ROWS)), rows, strict=True):
        for column, side in enumerate(cells):
            if side >= 0:
                stones[side] |= 1 << (7 * column + row)
    _set_stones(state, stones)


def _set_stones(state: State, stones: list[int]) -> None:
    """Fill the whole record from the two bitboards."""
    state["stones"] = stones
    state["ply"] = sum(side.bit_count() for side in stones)
    state["to_move"] = stones[0].bit_count() > stones[1].bit_count()
    if _four_in(stones[0]) or _four_in(stones[1]):
        state["outcome"] = SECOND_WINS if _four_in(stones[1]) else FIRST_WINS
    elif state["ply"] == MAX_PLIES:
        state["outcome"] = DRAW
