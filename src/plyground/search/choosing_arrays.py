"""The memory of choices within a turn: one position at a time, without allocation. C is the number of places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NONE, FULL = -1, -2  # in place of an action: nothing is chosen; the places did not suffice
WINS, ENDS = 1, 2  # what is looked for within the turn
EVALUATED, SCORED = 1, 2  # how actions are scored at a glance
STEPS = 1 << 30  # of random numbers

TURN_NODE = np.dtype(
    [
        ("origin", np.int32),  # the place of the position before
        ("action", np.int32),  # that leads from there to this one
        ("first", np.int32),  # with which the way from the root begins
        ("depth", np.int32),  # actions from the root
    ],
    align=True,
)
WIN_BEGUN = np.dtype([("action", np.int32), ("draws", np.int32)], align=True)
"""an action that begins a win; in how many draws of what is hidden it did, before the first in which it did not"""
SEEN = np.dtype([("action", np.int32), ("score", np.float64), ("sum", np.float64)], align=True)
"""an action and its score at a glance; the weights of all up to this one"""


class TurnMemory(NamedTuple):
    """The positions of a turn."""

    states: Any  # [C] of STATE
    words: Any  # [C, SIZE] the same as unsigned integers of STATE's alignment: kernels copy these, never records
    heads: Any  # [C, head's size] the same as unsigned integers that also divide a head
    nodes: Any  # [C] of TURN_NODE
    table: Any  # [2 C, a power of two] int32: the places of positions by a hash of their heads; 0: empty
    line: Any  # [C] int32: the way to the best end, then NONE
    wins: Any  # [MAX_LEGAL] of WIN_BEGUN
    actions: Any  # [MAX_LEGAL] int32: the legal actions of one position
    seen: Any  # [MAX_LEGAL] of SEEN: the root's actions at a glance
    rng: Any  # [1] uint64, of what is played on trial


class Choices(NamedTuple):
    """What is chosen, and how."""

    within: int = 0  # what is looked for within the turn: WINS or ENDS; 0: nothing
    draws: int = 1  # of what is hidden, in each of which an action must begin a win
    most: int = 0  # positions of a turn: after so many, none with more actions are looked at
    longest: int = 0  # actions of a turn
    returning: int = NONE  # the action that the best end replaces, unless chance decides where it leads
    glances: float = -1.0  # how often an action is chosen at a glance where nothing is found; negative: never, no draw
    temperature: float = 1.0  # of that choice: softmax(score / temperature)
    scores: int = 0  # EVALUATED or SCORED; 0: all actions are equal
