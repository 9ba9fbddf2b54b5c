"""The arrays of a search by time. They hold its whole state: it can be suspended after any node, and resumed.

One thread owns all of them. L = the most levels of the stack, W = words of a record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.search.arrays import Ints, Longs, Records, Words


class Limits(NamedTuple):
    """What is searched, and how."""

    depth: int  # turns
    quiescence: int  # plies beyond the depth in which only loud actions are searched
    selective: bool  # reduce the depth of unpromising actions; a repeated position is a draw
    prunes: bool  # null moves and futility pruning: only if the game defines `pass_turn`


NODE = np.dtype(
    [
        ("alpha", np.float64),  # the window; alpha rises with the best value
        ("beta", np.float64),
        ("floor", np.float64),  # alpha when the node was opened: a best value up to it is an upper bound
        ("best", np.float64),  # the highest value so far
        ("static", np.float64),  # `evaluate`, where pruning needs it
        ("key", np.uint64),  # of the position
        ("serial", np.int64),  # number of the search of a turn that this node is part of
        ("depth", np.int32),  # turns to search below this node; 0 and less: quiescence
        ("turn", np.int32),  # turns played since the root
        ("step", np.int32),  # actions played since the turn began
        ("count", np.int32),  # number of actions
        ("tried", np.int32),  # how many of them were played
        ("stage", np.int32),  # how the child is searched: one of the stages in `deepening.py`
        ("action", np.int32),  # that leads to the child
        ("best_action", np.int32),  # -1: none raised alpha
        ("hash_action", np.int32),  # from the table; -1: none
        ("child_depth", np.int32),  # without reduction
        ("reduction", np.int32),
        ("line", np.int32),  # length of the principal variation below this node
        ("quiet", np.int8),  # whether the action that leads to the child is quiet
        ("checked", np.int8),  # whether the side to move is in check
        ("passed", np.int8),  # whether a null move led here
        ("partial", np.int8),  # positions within the turn were left out: its value is a lower bound
    ],
    align=True,
)
"""a node on the path that is searched; values are for its side to move"""

ENTRY = np.dtype(
    [
        ("key", np.uint64),  # `seal`ed
        ("value", np.float64),  # wins and losses are counted from this position
        ("action", np.int32),  # the best, -1: unknown
        ("depth", np.int16),
        ("bound", np.int8),  # 0: empty
        ("age", np.int8),  # of the search that wrote it
    ],
    align=True,
)
"""an entry of the transposition table"""

PROGRESS = np.dtype(
    [
        ("nodes", np.int64),
        ("serial", np.int64),  # of the newest search of a turn
        ("level", np.int32),  # of the node that is searched
        ("depth", np.int32),  # of the iteration
        ("completed", np.int32),  # depth of the last complete iteration
        ("action", np.int32),  # the best so far
        ("line", np.int32),  # length of the principal variation
        ("barred", np.int32),  # number of actions that are not searched at the root
        ("finished", np.int8),  # the depth is reached, the value is proven, or there is only one action
        ("age", np.int8),  # number of the search, modulo 128
        ("value", np.float64),  # of the action
        ("margin", np.float64),  # of the aspiration window
    ],
    align=True,
)


class Stack(NamedTuple):
    """The path from the root to the current node."""

    states: Records  # [L] of STATE, with the history
    words: NDArray[np.generic]  # [L, W] the memory of `states`
    head_words: int  # the words of a HEAD
    nodes: Records  # [L] of NODE
    actions: Ints  # [L, MAX_LEGAL]
    ranks: Longs  # [L, MAX_LEGAL] the order in which they are tried
    lines: Ints  # [L, L] the principal variation below each node
    scratch: Records  # [L] the model's scratch memory for each state


class Memory(NamedTuple):
    """What a search remembers."""

    table: Records  # [a power of two] of ENTRY
    seen: Words  # [a power of two] marks of positions within a turn that were searched
    killers: Ints  # [L, 2] quiet actions that caused cut-offs at a level
    history: Longs  # [2, NUM_ACTIONS] how often an action of a side caused one, weighted by depth
    line: Ints  # [L] the principal variation
    barred: NDArray[np.uint8]  # [NUM_ACTIONS] 1: not searched at the root
    progress: Records  # [1] of PROGRESS
    rng: Words  # [1] for rules that take a generator; nothing is drawn from it
    work: Records  # [1] the game's own working memory
    weights: Records  # [1] of the model
