"""A test game whose turns do not alternate: who takes two stones acts again, once. The last stone wins."""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.cells import Cells, Group
from plyground.games.interface import FIRST_WINS, RUNNING

STONES = 20
NUM_ACTIONS = MAX_LEGAL = 3
MAX_PLIES, OPENING_PLIES = STONES, 6
STATE = np.dtype(
    [("stones", np.int8), ("again", np.int8), ("to_move", np.int8), ("outcome", np.int8)], align=True
)  # `again`: this turn has taken two


@njit
def reset(state, rng):
    state["stones"] = STONES


@njit
def legal(state, actions):
    if state["outcome"] != RUNNING:
        return 0
    count = min(state["stones"], 3)
    for k in range(count):
        actions[k] = k
    return count


@njit
def play(state, action, rng):
    side, state["stones"] = state["to_move"], state["stones"] - action - 1
    if state["stones"] == 0:
        state["outcome"] = FIRST_WINS + side
    elif action == 1 and state["again"] == 0:
        state["again"] = 1
    else:
        state["again"], state["to_move"] = 0, 1 - side


@njit
def write_cells(state, seat, out):
    out[0], out[1] = state["stones"], state["again"]


CELLS = Cells([Group("pile", 2, STONES + 1, (1, 2))], write_cells)


def action_name(state, action):
    return f"take {action + 1}"


def text(state):
    return " ".join(str(int(state[name])) for name in STATE.names or ())


def parse(source, state):
    try:
        state["stones"], state["again"], state["to_move"], state["outcome"] = map(int, source.split())
    except (ValueError, OverflowError):
        raise InvalidText(f"not a pile of stones: {source!r}") from None
