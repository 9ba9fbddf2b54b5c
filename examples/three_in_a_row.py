"""Three in a row on a 3x3 board: the whole game in one file. `docs/adding_a_game.md` walks through it."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.errors import InvalidText
from plyground.games.cells import Cells, Group
from plyground.games.encoder import Encoder
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS, Actions, Rng, State
from plyground.games.scene import Cell, Item, Scene, board, status

STATE = np.dtype([("cells", np.int8, (9,)), ("to_move", np.int8), ("outcome", np.int8)], align=True)
NUM_ACTIONS = MAX_LEGAL = MAX_PLIES = 9  # an action is a cell; cells hold 0 (empty), 1 (first side) or 2 (second)
OPENING_PLIES = 2
LINES = np.array([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)])


@njit
def reset(state: State, rng: Rng) -> None: ...


@njit
def legal(state: State, actions: Actions) -> int:
    count = 0
    for cell in range(9):
        if state["outcome"] == RUNNING and state["cells"][cell] == 0:
            actions[count] = cell
            count += 1
    return count


@njit
def play(state: State, action: int, rng: Rng) -> None:
    side, cells = state["to_move"], state["cells"]
    cells[action] = 1 + side
    state["to_move"] = 1 - side
    for k in range(8):
        if cells[LINES[k, 0]] == cells[LINES[k, 1]] == cells[LINES[k, 2]] == 1 + side:
            state["outcome"] = FIRST_WINS + side
            return
    if cells.all():
        state["outcome"] = DRAW


@njit
def evaluate(state: State) -> float:
    return 0.0


@njit
def write_planes(state: State, seat: int, out: NDArray[np.float32]) -> None:
    for cell in range(9):
        out[cell] = state["cells"][cell] == 1 + seat
        out[9 + cell] = state["cells"][cell] == 2 - seat


ENCODERS = (Encoder("planes", 1, (2, 9), np.float32, write_planes, "own cells; the opponent's"),)


@njit
def write_cells(state: State, seat: int, out: NDArray[np.int16]) -> None:
    for cell in range(9):
        mark = state["cells"][cell]
        out[cell] = mark if seat == 0 or mark == 0 else 3 - mark


def cell_names(state: State, seat: int) -> list[str]:
    return [action_name(state, cell) for cell in range(9)]


BOARD = Group("board", 9, 3, (3, 3), words=("own disc", "their disc"))  # of the values 1 and 2; 0 is empty
CELLS = Cells((BOARD,), write_cells, names=cell_names)


def action_name(state: State, action: int) -> str:
    return "abc"[action % 3] + "123"[action // 3]


def text(state: State) -> str:
    return "".join(".xo"[cell] for cell in state["cells"])


def draw(state: State) -> str:
    rows = [" ".join(text(state)[start : start + 3]) for start in (6, 3, 0)]
    return "\n".join(f"{3 - k} {row}" for k, row in enumerate(rows)) + "\n  a b c"


def parse(source: str, state: State) -> None:
    if len(source) != 9 or set(source) - set(".xo"):
        raise InvalidText(f"nine cells of '.', 'x' and 'o' from a1 to c3, such as '....x....', not {source[:80]!r}")
    state["cells"] = [".xo".index(cell) for cell in source]
    state["to_move"] = source.count("x") > source.count("o")
    for mark, outcome in (("o", SECOND_WINS), ("x", FIRST_WINS)):
        if any(all(source[cell] == mark for cell in line) for line in LINES):
            state["outcome"] = outcome
    if state["outcome"] == RUNNING and "." not in source:
        state["outcome"] = DRAW


def problems(state: State) -> list[str]:
    first, second = (int((state["cells"] == mark).sum()) for mark in (1, 2))
    return [] if first - second in (0, 1) else [f"{first} x against {second} o, but x begins and they take turns"]


def scene(state: State, seat: int) -> Scene:
    marks = text(state)
    won = [cell for line in LINES for cell in line if "." != marks[line[0]] == marks[line[1]] == marks[line[2]]]

    def shown(cell: int) -> Cell:
        items = () if marks[cell] == "." else (Item("disc", ".xo".index(marks[cell]) - 1),)
        return Cell(action_name(state, cell), items, ("win",) if cell in won else ())

    rows = [[shown(start + k) for k in range(3)] for start in (6, 3, 0)]
    return Scene((board(rows, "321", "abc"),), status(state, ("x", "o"), ""))


def clicks(state: State, action: int) -> list[str]:
    return [action_name(state, action)]
