"""A test game of pure chance: three plies toss a coin each, whatever is chosen; most heads: the first side wins."""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.cells import Cells, Group
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import below

NUM_ACTIONS = MAX_LEGAL = 4
MAX_PLIES, OPENING_PLIES, CHANCE = 3, 0, True
STATE = np.dtype([("coins", np.int8, (3,)), ("ply", np.int8), ("to_move", np.int8), ("outcome", np.int8)], align=True)


@njit
def reset(state, rng): ...


@njit
def legal(state, actions):
    if state["outcome"] != RUNNING:
        return 0
    for action in range(4):
        actions[action] = action
    return 4


@njit
def play(state, action, rng):
    state["coins"][state["ply"]] = 1 + below(rng, 2)
    state["ply"] += 1
    state["to_move"] = 1 - state["to_move"]
    if state["ply"] == 3:
        state["outcome"] = FIRST_WINS if state["coins"].sum() < 5 else FIRST_WINS + 1


@njit
def write_cells(state, seat, out):
    for k in range(3):
        coin = state["coins"][k]
        out[k] = coin if coin == 0 or seat == 0 else 3 - coin


CELLS = Cells([Group("coins", 3, 3, (1, 3))], write_cells)


def action_name(state, action):
    return f"toss {action}"


def text(state):
    return " ".join(str(int(value)) for value in (*state["coins"], state["ply"], state["to_move"], state["outcome"]))


def parse(source, state):
    try:
        *coins, state["ply"], state["to_move"], state["outcome"] = map(int, source.split())
        state["coins"] = coins
    except (ValueError, OverflowError):
        raise InvalidText(f"not a row of coins: {source!r}") from None
