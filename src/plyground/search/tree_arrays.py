"""The memory of tree searches: trees without allocation, the settings that compiled code reads, and results.

N trees, each with room for M nodes and E edges. A node keeps its state; its edges are its legal actions, side by side.
L is the game's MAX_LEGAL. A value in a node is for the side to move there, a value in an edge for the side to move in
the node that it leaves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Records = NDArray[np.void]
Rngs = NDArray[np.uint64]
Whole = int | np.int64
Words = NDArray[np.generic]  # records as the words that they are made of

TOP, NONE = np.int64(0), np.int64(-1)  # the root's number and no number: a function with a literal is compiled twice
OPEN, LOST, DRAWN, WON = range(4)  # `proven` of a node: nothing, or its value for the side to move, plus 2
NETWORK, EVALUATE, RANDOM, SCRIPTED = range(4)  # what evaluates a leaf

NODE = np.dtype(
    [
        ("first", np.int32),  # its first edge
        ("count", np.int32),  # how many edges; 0: it is not expanded
        ("parent", np.int32),
        ("edge", np.int32),  # the edge that leads to it
        ("visits", np.int32),
        ("value", np.float32),  # what the leaf was evaluated to be worth
        ("distance", np.int16),  # plies to the end, where a win or a loss is proven; else see `look_beside`
        ("proven", np.int8),
        ("side", np.int8),  # the side to move
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("value", np.float32),  # mean of its visits; before the first one a guess, or what a model says
        ("weight", np.float32),  # prior / (1 + visits); NEVER: a proven loss. Gumbel search keeps scratch values here
        ("child", np.int32),  # a node; -1: none yet
        ("action", np.int32),
        ("visits", np.int32),
        ("prior", np.float32),  # probability
    ],
    align=True,
)
TREE = np.dtype(
    [
        ("nodes", np.int32),  # in use
        ("edges", np.int32),
        ("simulations", np.int32),  # since the round began
        ("total", np.int32),  # since the search began
        ("leaf", np.int32),  # the node that the current simulation has reached
    ],
    align=True,
)
ROOT = np.dtype([("bias", np.float32), ("visits", np.int32)], align=True)
"""of each action of the root: Gumbel noise + log prior, and visits in this round"""


class Trees(NamedTuple):
    """N trees."""

    states: Any  # [N, M] records of STATE
    words: Any  # [N, M, SIZE] the same as unsigned integers of STATE's alignment
    nodes: Any  # [N, M] of NODE; node 0 is the root
    edges: Any  # [N, E] of EDGE
    counters: Any  # [N] of TREE
    roots: Any  # [N, L] of ROOT
    rngs: Any  # [N] uint64
    actions: Any  # [N, L] int32: scratch memory for a legal list
    ahead: Any  # [N] of STATE: scratch memory for playing ahead
    ahead_words: Any  # [N, SIZE] the same


class Settings(NamedTuple):
    """How trees grow; the numbers that compiled code reads. `SearchConfig` says what they mean."""

    leaf: int  # NETWORK, EVALUATE, RANDOM or SCRIPTED
    gumbel: bool  # Gumbel search; otherwise PUCT
    exploration: float  # of PUCT
    first_play: float  # what an action without visits is worth less than its node
    lookahead: bool  # find actions that win at once when a node is expanded
    head_size: int  # of the game's SEARCHED, in words
    rollouts: int
    rollout_plies: int
    temperature: float  # of the priors that a model gives; 0: all actions are equal
    visit_offset: float  # c_visit and c_scale of Gumbel search
    value_scale: float
    noise: float  # factor of the Gumbel noise, or share of the Dirichlet noise in the priors of the root
    noise_alpha: float


class Result(NamedTuple):
    """What searches of N positions found. Rows of [N, L] are in the order of `actions`."""

    chosen: Any  # [N] int32: the best action
    values: Any  # [N] float32: of the position, for the side to move
    proven: Any  # [N] int8: OPEN, LOST, DRAWN or WON
    simulations: Any  # [N] int32: how many were needed; a proven position needs no more
    actions: Any  # [N, L] int32: the legal actions, ascending, then -1
    visits: Any  # [N, L] int32
    priors: Any  # [N, L] float32
    action_values: Any  # [N, L] float32; exact where proven, a guess where there are no visits
    action_proven: Any  # [N, L] int8
    distances: Any  # [N, L] int16: plies to the end after the action, where a win or a loss is proven
    policy: Any  # [N, L] float32: the improved policy, which a network learns
