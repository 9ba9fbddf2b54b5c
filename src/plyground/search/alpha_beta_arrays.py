"""The arrays of alpha-beta. They hold its whole state: a search can be suspended after any node, and resumed.

One thread owns a `Stack` and a `Memory`; of `Roots` and `RootScores` it is given rows of its own. L = the most levels
of the stack, W = words of a record. What belongs to one node is a record, not a row of several arrays.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.models.compiled import CompiledModel

Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Records = NDArray[np.void]
Words = NDArray[np.uint64]

WIN = 1000.0  # a win with the first action; each ply (or turn) later is worth one less: wins come soon, losses late
SEEN = 1 << 16  # marks of positions within turns


class Limits(NamedTuple):
    """What is searched, and how."""

    depth: int  # turns; of a plain search, plies
    quiescence: int  # plies beyond the depth in which only loud actions are searched
    selective: bool = False  # reduce the depth of unpromising actions; a repeated position is a draw
    prunes: bool = False  # null moves and futility pruning: only if the game defines `pass_turn`
    ordered: bool = True  # of a plain search: promising actions are searched first
    exact: int = 0  # of a plain search: how many of the best first actions get their exact value; 0: those of the best


class Roots(NamedTuple):
    """Positions for plain searches."""

    states: Records  # [N] of the game's STATE, with the history
    heads: Records  # [N] the same positions as `play_head` takes them
    rngs: Words  # [N] for the choice between equally good actions
    order: Ints  # [N, MAX_LEGAL] the places of their actions in the order in which they are searched


class RootScores(NamedTuple):
    """What plain searches of N positions found."""

    chosen: Ints  # [N] the best action
    values: Doubles  # [N] its value for the side to move
    actions: Ints  # [N, MAX_LEGAL] the legal actions, ascending, then -1
    scores: Doubles  # [N, MAX_LEGAL] their values; those of actions that are not among the best are upper bounds


PATH_NODE = np.dtype(
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
        ("stage", np.int32),  # how the child is searched: one of the stages in `alpha_beta.py`
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

    states: Records  # [L] of STATE, with the history; of a plain search, of SEARCHED
    words: NDArray[np.generic]  # [L, W] the memory of `states`
    head_words: int  # the words of a HEAD
    nodes: Records  # [L] of PATH_NODE
    actions: Ints  # [L, MAX_LEGAL]
    ranks: Longs  # [L, MAX_LEGAL] the order in which they are tried
    lines: Ints  # [L, L] the principal variation below each node
    scratch: Records  # [L] the model's scratch memory for each state


class Memory(NamedTuple):
    """What a search remembers."""

    table: Records  # [a power of two, or 0: none] of ENTRY
    seen: Words  # [a power of two] marks of positions within a turn that were searched
    killers: Ints  # [L, 2] quiet actions that caused cut-offs at a level
    history: Longs  # [2, NUM_ACTIONS] how often an action of a side caused one, weighted by depth
    line: Ints  # [L] the principal variation
    barred: NDArray[np.uint8]  # [NUM_ACTIONS] 1: not searched at the root
    progress: Records  # [1] of PROGRESS
    rng: Words  # [1] for rules that take a generator; nothing is drawn from it
    work: Records  # [1] the game's own working memory
    weights: Records  # [1] of the model
    whole: Records  # [2] of STATE: the root of a plain search and the state after its first action, with the history
    order: Ints  # [MAX_LEGAL] the places of the first actions of a plain search in the order in which they are searched
    best: Doubles  # [MAX_LEGAL] their values so far, the highest first


class Buffers(NamedTuple):
    """The arrays of one thread."""

    stack: Stack
    memory: Memory

    def with_weights(self, model: CompiledModel) -> Buffers:
        """The same with a model's present weights. Where they are others, what was found with the last is forgotten."""
        if model.weights is self.memory.weights:
            return self
        self.forget()
        return self._replace(memory=self.memory._replace(weights=model.weights))

    def forget(self) -> None:
        """Empty the memory: the next search begins as the first did."""
        memory = self.memory
        for array in (memory.table, memory.history, memory.seen, memory.progress):
            array.view(np.uint8)[:] = 0


def alpha_beta(model: CompiledModel, levels: int, entries: int, plain: bool = False) -> tuple[Any, Buffers]:
    """The compiled loops of alpha-beta with a model, and arrays that they work on: all that a search needs, in numbers.

    If plain: `search_all(Roots, Limits, stack, memory, RootScores)`; `levels`: the most plies, quiescence included, and
    one for the root; `entries` of the table: a power of two, or 0. Otherwise: `begin_search(state [1], stack, memory)`,
    then `search_on(nodes, Limits, stack, memory)` until `memory.progress` says that it is finished; `search_line`
    instead begins one iteration, with first actions barred.
    """
    kernels = model.kernels("plyground.search.alpha_beta", {"PLAIN": plain}, "to a fixed depth" if plain else "")
    rules = model.game.rules
    states = np.zeros(levels, rules.SEARCHED if plain else rules.STATE)
    word = np.uint64 if states.itemsize % 8 == 0 and rules.SEARCHED.itemsize % 8 == 0 else np.uint8
    stack = Stack(
        states=states,
        words=states.view(word).reshape(levels, -1),
        head_words=rules.SEARCHED.itemsize // np.dtype(word).itemsize,
        nodes=np.zeros(levels, PATH_NODE),
        actions=np.empty((levels, rules.MAX_LEGAL), np.int32),
        ranks=np.zeros((levels, rules.MAX_LEGAL), np.int64),
        lines=np.zeros((levels, levels), np.int32),
        scratch=model.scratch(levels),
    )
    memory = Memory(
        table=np.zeros(entries, ENTRY),
        seen=np.zeros(1 if plain else SEEN, np.uint64),
        killers=np.full((levels, 2), -1, np.int32),
        history=np.zeros((2, rules.NUM_ACTIONS), np.int64),
        line=np.zeros(levels, np.int32),
        barred=np.zeros(rules.NUM_ACTIONS, np.uint8),
        progress=np.zeros(1, PROGRESS),
        rng=np.zeros(1, np.uint64),
        work=model.game.work(),
        weights=model.weights,
        whole=np.zeros(2, rules.STATE),
        order=np.zeros(rules.MAX_LEGAL, np.int32),
        best=np.zeros(rules.MAX_LEGAL),
    )
    return kernels, Buffers(stack, memory)


class OwnBuffers(threading.local):
    """The buffers of the calling thread: each further thread allocates some when it first asks for them."""

    def __init__(self, model: CompiledModel, levels: int, entries: int, plain: bool = False) -> None:
        self.model = model
        self.kernels, self._own = alpha_beta(model, levels, entries, plain)

    @property
    def own(self) -> Buffers:
        """With the model's present weights."""
        self._own = self._own.with_weights(self.model)
        return self._own
