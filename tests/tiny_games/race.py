"""A test game with dice and turns of three actions, as a board: roll, run, block.

Twelve cells in a line. The first side's two runners run to the right, the second's to the left. A turn rolls one to
three, moves a runner so far (or to the next free cell beyond), and puts the side's stone on a free cell, where it lies
until its next turn. The side whose runners have both left the line wins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import below
from plyground.games.scene import Cell, Item, Scene, board, row, status

CELLS = 12
ROLL, RUN, BLOCK = 0, 1, 1 + CELLS  # actions: one, one for each cell, one for each cell
NUM_ACTIONS, MAX_LEGAL, MAX_PLIES = 1 + 2 * CELLS, CELLS, 3 * 2 * 2 * CELLS
CHANCE = True
STATE = np.dtype(
    [
        ("cells", np.int8, (CELLS,)),  # 0 free, 1 and 2 runners of the sides, 3 and 4 their stones
        ("die", np.int8),  # 0: to be rolled
        ("ran", np.int8),
        ("to_move", np.int8),
        ("outcome", np.int8),
    ],
    align=True,
)


@njit
def reset(state, rng):
    for k in range(2):
        state["cells"][2 * k] = 1
        state["cells"][CELLS - 1 - 2 * k] = 2


@njit
def legal(state, actions):
    if state["outcome"] != RUNNING:
        return 0
    if state["die"] == 0:
        actions[0] = ROLL
        return 1
    count = 0
    wanted = 0 if state["ran"] else 1 + state["to_move"]
    for cell in range(CELLS):
        if state["cells"][cell] == wanted:
            actions[count] = cell + (BLOCK if state["ran"] else RUN)
            count += 1
    return count


@njit
def goal(state, cell):
    """Where a runner arrives; beyond the line if it leaves it."""
    step = 1 if state["cells"][cell] == 1 else -1
    to = cell + step * state["die"]
    while 0 <= to < CELLS and state["cells"][to] > 0:
        to += step
    return to


@njit
def play(state, action, rng):
    side = state["to_move"]
    if action == ROLL:
        state["die"] = 1 + below(rng, 3)
        for cell in range(CELLS):
            if state["cells"][cell] == 3 + side:
                state["cells"][cell] = 0
    elif action < BLOCK:
        cell = action - RUN
        to = goal(state, cell)
        state["cells"][cell] = 0
        if 0 <= to < CELLS:
            state["cells"][to] = 1 + side
        state["ran"] = 1
        left = 0
        for each in range(CELLS):
            left += state["cells"][each] == 1 + side
        if left == 0:
            state["outcome"] = FIRST_WINS + side
    else:
        state["cells"][action - BLOCK] = 3 + side
        state["die"] = state["ran"] = 0
        state["to_move"] = 1 - side


def action_name(state, action):
    return "roll" if action == ROLL else f"run{action - RUN}" if action < BLOCK else f"block{action - BLOCK}"


def text(state):
    cells = "".join("_><+x"[cell] for cell in state["cells"])
    return f"{cells} {state['die']} {state['ran']} {state['to_move']}"


def parse(source, state):
    try:
        cells, die, ran, to_move = source.split()
        state["cells"] = ["_><+x".index(cell) for cell in cells]
        state["die"], state["ran"], state["to_move"] = int(die), int(ran), int(to_move)
    except (ValueError, OverflowError):
        raise InvalidText(f"not a race: {source!r}") from None
    for side in range(2):
        if not (state["cells"] == 1 + side).any():
            state["outcome"] = FIRST_WINS + side


def problems(state):
    found = [] if 0 <= state["die"] <= 3 and state["ran"] in (0, 1) else ["a die shows one to three"]
    return found if state["to_move"] in (0, 1) else [*found, "there are two sides"]


def scene(state, seat):
    kinds = [(), (Item("disc", 0),), (Item("disc", 1),), (Item("stone", 0),), (Item("stone", 1),)]
    zones = [board([[Cell(f"c{k}", kinds[cell]) for k, cell in enumerate(state["cells"])]])]
    if state["die"] == 0 and state["outcome"] == RUNNING:
        zones.append(row("dice", [Cell("roll", (Item("roll"),))]))
    rolled = f", rolled {state['die']}" if state["die"] else ""
    return Scene(tuple(zones), status(state, ("First", "Second"), "", rolled))


def clicks(state, action):
    """From and to, where a runner stays on the line."""
    if action == ROLL:
        return ["roll"]
    if action >= BLOCK:
        return [f"c{action - BLOCK}"]
    cell = action - RUN
    to = int(goal(state, cell))
    return [f"c{cell}", f"c{to}"] if 0 <= to < CELLS else [f"c{cell}"]
