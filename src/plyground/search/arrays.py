"""The arrays that a search works on: positions to search, a stack with one row for each level, results.

One thread owns a `Stack`, a `Scratch` and a transposition table; of `Roots` and `Result` it is given rows of its own.
What belongs to one node is a record, not a row of several arrays: reading an array out of a NamedTuple counts a
reference, and doing that at each node made the search four times slower.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Records = NDArray[np.void]
Words = NDArray[np.uint64]

WIN = 1000.0  # a win with the first action; each ply (or turn) later is worth one less: wins come soon, losses late


class Roots(NamedTuple):
    """The positions to search."""

    states: Records  # [N] of the game's STATE, with the history
    heads: Records  # [N] the same positions as `play_head` takes them
    rngs: Words  # [N] for the choice between equally good actions
    order: Ints  # [N, MAX_LEGAL] the places of their actions in the order in which they are searched


class Limits(NamedTuple):
    """What is searched, and how."""

    depth: int  # plies in which all actions are searched
    quiescence: int  # plies beyond the depth in which only loud actions are searched
    ordered: bool  # search promising actions first
    exact: int  # how many of the best first actions get their exact value (0: the best, and those equal to it)


NODE = np.dtype(
    [
        ("alpha", np.float64),  # the window; alpha rises with the best value
        ("beta", np.float64),
        ("floor", np.float64),  # alpha when the node was opened: a best value up to it is an upper bound
        ("best", np.float64),  # the highest value so far
        ("key", np.uint64),  # in the table
        ("count", np.int64),  # number of actions
        ("tried", np.int64),  # how many of them were played
        ("ties", np.int64),  # in the root: how many of them have the highest value
    ],
    align=True,
)
"""a node on the path that is searched; values are for its side to move"""


class Stack(NamedTuple):
    """The path from the root to the current node; L = depth + quiescence."""

    states: Records  # [L + 1] of the game's SEARCHED
    words: NDArray[np.generic]  # [L + 1, W] the memory of `states` as whole numbers, which the table's keys hash
    nodes: Records  # [L] of NODE
    actions: Ints  # [L, MAX_LEGAL]
    scratch: Records  # [L + 1] the model's scratch memory for each state


class Table(NamedTuple):
    """A transposition table. Most lookups find another position's key and read no value: the two are apart."""

    keys: Words  # [a power of two, or 0: no table] the low two bits say whether the value is exact or a bound
    values: Doubles  # the same length


class Scratch(NamedTuple):
    """Working memory."""

    whole: Records  # [1] of STATE: a first action is also played with the history
    rng: Words  # [1] for rules that take a generator; games with chance are refused, so nothing is drawn from it
    work: Records  # [1] the game's own working memory
    cutoffs: Longs  # [NUM_ACTIONS] how often an action caused a cut-off in this search, weighted by its height
    ranks: Longs  # [MAX_LEGAL] of the actions that are sorted
    best: Doubles  # [MAX_LEGAL + 1] values of the first actions so far, the highest first
    weights: Records  # [1] of the model


class Result(NamedTuple):
    """What a search found."""

    chosen: Ints  # [N] the best action
    values: Doubles  # [N] its value for the side to move
    actions: Ints  # [N, MAX_LEGAL] the legal actions, ascending, then -1
    scores: Doubles  # [N, MAX_LEGAL] their values; those of actions that are not among the best are upper bounds
