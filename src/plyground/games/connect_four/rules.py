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

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.errors import InvalidText, shorten
from plyground.games.bits import popcount
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS, Actions, Rng, State

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
    """The empty board: the record of zeros that it gets."""


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
    """The same as a mask."""
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
    flat, falling, rising, upright = (
        stones & (stones >> S7),
        stones & (stones >> S6),
        stones & (stones >> S8),
        stones & (stones >> S1),
    )
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


def reason(state: State) -> str:
    """How the game ended."""
    return ("", "board full", "four in a row", "four in a row")[int(state["outcome"])]


# ---- symmetries ----

SYMMETRIES = 2  # as it is, and mirrored left to right


@njit
def transform(state: State, symmetry: int) -> None:
    """Swap the outer columns inwards."""
    if symmetry == 1:
        for side in range(2):
            stones, mirrored = state["stones"][side], ZERO
            for column in range(COLUMNS):
                mirrored |= ((stones >> np.uint64(7 * column)) & COLUMN) << np.uint64(42 - 7 * column)
            state["stones"][side] = mirrored


@njit
def transform_action(action: int, symmetry: int) -> int:
    """The mirrored column."""
    return COLUMNS - 1 - action if symmetry == 1 else action


# ---- text ----

EMPTY, DISCS = ".", "xo"
SIDES = ("●", "○")
TYPING = "a column, 1 to 7"
STYLES = {"●": "bold blue", "○": "bold yellow"}  # told apart by shape, and by colours that nearly everybody can
READS = {".": -1, "x": 0, "o": 1, "X": 0, "O": 1, "●": 0, "○": 1}
"""the characters of a board and whose stones they are; -1: nobody's"""


def text(state: State) -> str:
    """Six rows from the top: `......./......./......./......./...x.../..ox...`."""
    return "/".join("".join(row) for row in _cells(state, DISCS))


def draw(state: State) -> str:
    """The board for the eye, with the columns' names."""
    rows = [f" {' '.join(row)}" for row in _cells(state, SIDES)]
    return "\n".join([*rows, " 1 2 3 4 5 6 7"])


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
    floating = [name for name, column in _columns_of(first | second) if (column + 1) & column]
    more = first.bit_count() - second.bit_count()
    won = [_four_in(first), _four_in(second)]
    found: list[str] = []
    if floating:
        found.append(f"a stone floats in column {', '.join(floating)}")
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


def columns(state: State) -> str | None:
    """Some order of columns that leads to this board, or None where there is none. (A board does not remember its own.)

    Takes stones off again, depth first, and never so that a finished game is left. What remains is told by the seven
    heights, so that at most 7**7 boards are looked at, and in practice a few dozen.
    """
    path: list[str] = []
    dead: set[tuple[int, int]] = set()

    def undo(mover: int, other: int) -> bool:
        """Take off a stone of `mover`, who moved last, and go on until the board is empty."""
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
    """`has_four` for Python's own integers: texts are read without waiting for a compiler."""
    pairs = ((stones & (stones >> shift), shift) for shift in (1, 6, 7, 8))
    return any(pair & (pair >> 2 * shift) for pair, shift in pairs)


def _columns_of(stones: int) -> list[tuple[str, int]]:
    """Each column's name and its six cells as bits."""
    return [(str(column + 1), (stones >> (7 * column)) & 0b111111) for column in range(COLUMNS)]


def _cells(state: State, discs: Sequence[str]) -> list[list[str]]:
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
