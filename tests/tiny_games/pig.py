"""A test game with dice: Pig. A turn is any number of rolls; a 1 ends it with nothing, `hold` keeps what it has rolled.

Whoever has 100 points after holding wins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.cells import Cells, Group
from plyground.games.encoder import Encoder
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import below

GOAL, ROLL, HOLD = 100, 0, 1
NUM_ACTIONS, MAX_LEGAL, MAX_PLIES = 2, 2, 5_000
OPENING_PLIES, CHANCE = 0, True
STATE = np.dtype(
    [("points", np.int32, (2,)), ("turn", np.int32), ("to_move", np.int8), ("outcome", np.int8)], align=True
)


@njit
def reset(state, rng):
    state["points"][0] = 0
    state["points"][1] = 0


@njit
def legal(state, actions):
    if state["outcome"] != RUNNING:
        return 0
    actions[0] = ROLL
    actions[1] = HOLD
    return 2


@njit
def play(state, action, rng):
    side = state["to_move"]
    if action == ROLL:
        die = 1 + below(rng, 6)
        state["turn"] += die
        if die > 1:
            return
    else:
        state["points"][side] += state["turn"]
        if state["points"][side] >= GOAL:
            state["outcome"] = FIRST_WINS + side
    state["turn"] = 0
    state["to_move"] = 1 - side


@njit
def write_points(state, seat, out):
    out[0], out[1], out[2] = state["points"][seat] / GOAL, state["points"][1 - seat] / GOAL, state["turn"] / GOAL


@njit
def write_cells(state, seat, out):
    out[0], out[1] = min(state["points"][seat] // 4, 25), min(state["points"][1 - seat] // 4, 25)
    out[2] = min(state["turn"], 40)


CELLS = Cells([Group("race", 3, 41, (1, 3))], write_cells)


def action_name(state, action):
    return ("roll", "hold")[action]


def text(state):
    return f"{state['points'][0]} {state['points'][1]} {state['turn']} {state['to_move']}"


def parse(source, state):
    parts = source.split()
    if len(parts) != 4 or not all(part.isdecimal() and part.isascii() and len(part) < 9 for part in parts):
        raise InvalidText(f"not a game of Pig: {source!r}")
    if parts[3] not in "01":
        raise InvalidText(f"the side to move of Pig is 0 or 1, not {parts[3]}")
    state["points"], state["turn"], state["to_move"] = [int(part) for part in parts[:2]], int(parts[2]), int(parts[3])
    state["outcome"] = max((FIRST_WINS + k for k in (0, 1) if state["points"][k] >= GOAL), default=RUNNING)


def problems(state):
    return []


ENCODERS = (Encoder("points", 1, (3,), np.float32, write_points, "points and turn", bounds=(0, 1000)),)
