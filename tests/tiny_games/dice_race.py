"""A test game with dice and nothing hidden: a side adds a die to its sum, or stops; the higher sum up to 21 wins."""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.rng import below

NUM_ACTIONS = MAX_LEGAL = 2
MAX_PLIES, MOST, SIDES_OF_A_DIE = 50, 21, 1000  # so that two dice are hardly ever equal
CHANCE = True
STATE = np.dtype(
    [("sums", np.int16, (2,)), ("last", np.int16), ("to_move", np.int8), ("outcome", np.int8)],
    align=True,
)


@njit
def reset(state, rng):
    state["last"] = below(rng, SIDES_OF_A_DIE)


@njit
def legal(state, actions):
    if state["outcome"] != RUNNING:
        return 0
    actions[0], actions[1] = 0, 1
    return 2


@njit
def play(state, action, rng):
    side = state["to_move"]
    if action == 0:
        state["last"] = below(rng, SIDES_OF_A_DIE)
        state["sums"][side] += state["last"] % 6 + 1
    if (action == 1 and side == 1) or state["sums"][side] > MOST:
        first, second = state["sums"][0], state["sums"][1]
        lead = (first if first <= MOST else 0) - (second if second <= MOST else 0)
        state["outcome"] = DRAW if lead == 0 else FIRST_WINS + (lead < 0)
    state["to_move"] = 1 - side


def action_name(state, action):
    return ("roll", "stop")[action]


def text(state):
    return f"{state['sums'][0]} {state['sums'][1]} {state['last']} {state['to_move']} {state['outcome']}"


def parse(source, state):
    try:
        first, second, state["last"], state["to_move"], state["outcome"] = map(int, source.split())
        state["sums"] = first, second
    except (ValueError, OverflowError):
        raise InvalidText(f"not a race: {source!r}") from None
