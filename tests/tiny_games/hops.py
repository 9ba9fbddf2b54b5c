"""A test game with settings, a history in the record's tail, working memory, and turns that do not alternate.

A token on a line of cells. The sides push it: left, right or not at all. The first side wins at the right end, the
second at the left. A push onto every third cell, counted from the middle, gives the same side another push, but not a
third. A situation that occurs for the third time is a draw.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.encoder import Encoder
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS, Setting

LEFT, RIGHT, REST = range(3)
NUM_ACTIONS = MAX_LEGAL = 3
LONGEST = 15
MAX_PLIES = 8 * LONGEST
OPENING_PLIES = 1
SETTINGS = {
    "length": Setting(9, range(5, LONGEST + 1, 2), "cells of the line"),
    "resting": Setting("allowed", ("allowed", "forbidden"), "whether a side may leave the token where it is"),
}
HEAD_FIELDS = [(name, np.int8) for name in ("length", "resting", "place", "again", "repeats", "to_move", "outcome")]
HEAD = np.dtype(HEAD_FIELDS, align=True)
STATE = np.dtype([*HEAD_FIELDS, ("seen", np.int8, (4 * LONGEST,))], align=True)
UNCOUNTED = ("repeats",)
WORK = np.dtype([("options", np.int8, (3,))], align=True)


@njit
def situation(state):
    return 4 * state["place"] + 2 * state["again"] + state["to_move"]


@njit
def reset(state, rng):
    state["place"] = state["length"] // 2
    state["repeats"] = 1
    state["seen"][situation(state)] = 1


@njit
def legal(state, actions, work):
    work["options"][LEFT] = work["options"][RIGHT] = 1
    work["options"][REST] = state["resting"] == 0
    count = 0
    for action in range(3):
        if work["options"][action] and state["outcome"] == RUNNING:
            actions[count] = action
            count += 1
    return count


@njit
def play(state, action, rng, work):
    state["place"] += 1 if action == RIGHT else -1 if action == LEFT else 0
    marked = action != REST and (state["place"] - state["length"] // 2) % 3 == 0
    if marked and not state["again"]:
        state["again"] = 1
    else:
        state["again"] = 0
        state["to_move"] = 1 - state["to_move"]
    if state["place"] == 0:
        state["outcome"] = SECOND_WINS
    elif state["place"] == state["length"] - 1:
        state["outcome"] = FIRST_WINS
    else:
        state["seen"][situation(state)] += 1
        state["repeats"] = state["seen"][situation(state)]
        if state["repeats"] == 3:
            state["outcome"] = DRAW


@njit
def evaluate(state):
    middle = state["length"] // 2
    lead = (state["place"] - middle) / (middle + 1)
    return lead if state["to_move"] == 0 else -lead


@njit
def write_line(state, seat, out):
    for cell in range(LONGEST):
        out[cell] = cell == state["place"]
    out[LONGEST] = state["again"]


def action_name(state, action):
    return ("left", "right", "rest")[action]


def text(state):
    cells = "".join("o" if cell == state["place"] else "-" for cell in range(state["length"]))
    return f"{cells} {state['to_move']} {state['again']} {('running', 'draw', 'first', 'second')[state['outcome']]}"


def parse(source, state):
    try:
        cells, to_move, again, outcome = source.split()
        state["place"], state["to_move"], state["again"] = cells.index("o"), int(to_move), int(again)
        state["outcome"] = ("running", "draw", "first", "second").index(outcome)
    except ValueError:
        raise InvalidText(f"not a line: {source!r}") from None
    state["repeats"] = 1
    state["seen"][situation(state)] = 1


ENCODERS = (Encoder("line", 1, (LONGEST + 1,), np.float32, write_line, "where the token is"),)
