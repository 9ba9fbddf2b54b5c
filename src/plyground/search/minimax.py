"""Minimax: an agent that searches to a fixed depth with alpha-beta, in any game of perfect information."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

import numpy as np

from plyground.errors import InvalidValue
from plyground.game import Game, agent_repr
from plyground.kernels.threads import available, over_slices
from plyground.models.compiled import CompiledModel, handwritten
from plyground.position import Position
from plyground.search.analysis import Analysis, check_running, scored
from plyground.search.arrays import NODE, Doubles, Ints, Limits, Records, Result, Roots, Scratch, Stack, Table, Words

DEEPEST = 40
LARGEST_TABLE = 26
ROWS_FOR_A_THREAD = 8
MANY = 1 << 20  # first actions: all


class Minimax:
    """Plays the best action of a search `depth` plies deep with the game's `evaluate`; equally good ones at random.

    `quiescence`: the number of plies beyond the depth in which only loud actions (captures) are searched;
    `table`: a transposition table of 2**table entries for each thread; `ordering`: promising actions are searched
    first. The last two save time and change no answer.
    """

    leaves_circles = True

    def __init__(
        self,
        game: Game,
        depth: int,
        quiescence: int = 0,
        table: int = 0,
        ordering: bool = True,
        threads: int | None = None,
        model: CompiledModel | None = None,
    ) -> None:
        """`model`: what judges positions; otherwise the game's own `evaluate`."""
        if not 1 <= depth <= DEEPEST:
            raise InvalidValue(f"minimax looks 1 to {DEEPEST} plies ahead, not {depth}")
        if not 0 <= quiescence <= DEEPEST:
            raise InvalidValue(f"minimax follows captures for 0 to {DEEPEST} plies more, not {quiescence}")
        if not 0 <= table <= LARGEST_TABLE:
            raise InvalidValue(f"minimax remembers up to 2**{LARGEST_TABLE} positions, not 2**{table}")
        check_searchable(game, model)
        self.model = model or handwritten(game)
        if quiescence and "loudness" not in game.rules.compiled:
            raise InvalidValue(
                f"quiescence needs a game that says which actions are loud (`loudness`); {game} does not"
            )
        self.game, self.depth, self.quiescence, self.ordering = game, depth, quiescence, ordering
        self.threads = threads or available()
        self.entries = 1 << table if table else 0
        self.independent = not table  # which keeps positions of other games
        self.kernels = self.model.kernels("plyground.search.alpha_beta")
        self._buffers = threading.local()

    __repr__ = agent_repr

    def __str__(self) -> str:
        quiescence = f",quiescence={self.quiescence}" if self.quiescence else ""
        return f"minimax:depth={self.depth}{quiescence}{self.model.option}"

    def act(self, states: Records, rngs: Words) -> Ints:
        return self.search(states, rngs)[0]

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))

    def search(self, states: Records, rngs: Words) -> tuple[Ints, Doubles]:
        """The chosen actions [N] and their values [N] for the sides to move."""
        limits = Limits(self.depth, self.quiescence, self.ordering, exact=0)
        found = self._search(states, rngs, limits, self._as_listed(states))
        return found.chosen, found.values

    def scores(self, states: Records, best: int = MANY) -> tuple[Ints, Doubles]:
        """[N, MAX_LEGAL] the legal actions of each state, ascending and then -1, and their values.

        Only the `best` highest values are exact; the others are upper bounds below these. That is faster: a search of
        one ply finds the order in which actions are told apart soonest, and the others are refuted by few replies.
        """
        rngs, order = np.zeros(len(states), np.uint64), self._as_listed(states)
        limits = Limits(self.depth, self.quiescence, self.ordering, best)
        if self.ordering and self.depth > 1 and best < self.game.rules.MAX_LEGAL:
            first = self._search(states, rngs, limits._replace(depth=1), order)
            values = np.where(first.actions >= 0, first.scores, -np.inf)
            order = np.argsort(-values, axis=1, kind="stable").astype(np.int32)
        found = self._search(states, rngs, limits, order)
        return found.actions, found.scores

    def analyse(self, position: Position, rngs: Words) -> Analysis:
        """The value of each move, this deep."""
        check_running(position)
        begun = time.perf_counter()
        (actions,), (values,) = self.scores(position.states)
        found = {int(action): float(value) for action, value in zip(actions, values, strict=True) if action >= 0}
        return scored(position, found, time.perf_counter() - begun)

    def _as_listed(self, states: Records) -> Ints:
        """[N, MAX_LEGAL] the order in which legal actions are listed."""
        most = self.game.rules.MAX_LEGAL
        return np.broadcast_to(np.arange(most, dtype=np.int32), (len(states), most))

    def _search(self, states: Records, rngs: Words, limits: Limits, order: Ints) -> Result:
        n, most = len(states), self.game.rules.MAX_LEGAL
        result = Result(np.empty(n, np.int32), np.empty(n), np.empty((n, most), np.int32), np.empty((n, most)))

        def run(rows: slice) -> None:
            roots = Roots(states[rows], self.game.searched(states[rows]), rngs[rows], order[rows])
            part = Result._make(array[rows] for array in result)
            buffers = self._own_buffers()
            self.kernels.search_all(roots, limits, buffers.stack, buffers.table, buffers.scratch, part)

        over_slices(run, n, self.threads, ROWS_FOR_A_THREAD)
        return result

    def _own_buffers(self) -> Buffers:
        """The calling thread's buffers, allocated on its first search."""
        if not hasattr(self._buffers, "own"):
            levels = self.depth + self.quiescence
            self._buffers.own = Buffers(
                new_stack(self.model, levels),
                Table(np.zeros(self.entries, np.uint64), np.zeros(self.entries)),
                new_scratch(self.model),
            )
        return self._buffers.own


def check_searchable(game: Game, model: CompiledModel | None = None) -> None:
    """Refuse games that alpha-beta cannot search; the model is in place of the game's own `evaluate`."""
    if game.rules.hidden or game.rules.CHANCE:
        raise InvalidValue(f"minimax needs a game without chance in which nothing is hidden; {game} is not one")
    if model is None and "evaluate" not in game.rules.compiled:
        raise InvalidValue(f"minimax needs a game that defines `evaluate`; {game} does not")


class Buffers(NamedTuple):
    """The arrays of one thread."""

    stack: Stack
    table: Table
    scratch: Scratch


def new_stack(model: CompiledModel, levels: int) -> Stack:
    game = model.game
    states = np.zeros(levels + 1, game.rules.SEARCHED)
    word = np.uint64 if states.itemsize % 8 == 0 else np.uint8
    return Stack(
        states=states,
        words=states.view(word).reshape(levels + 1, -1),
        nodes=np.zeros(levels + 1, NODE),
        actions=np.empty((levels, game.rules.MAX_LEGAL), np.int32),
        scratch=model.scratch(levels + 1),
    )


def new_scratch(model: CompiledModel) -> Scratch:
    game = model.game
    return Scratch(
        whole=np.zeros(1, game.rules.STATE),
        rng=np.zeros(1, np.uint64),
        work=game.work(),
        cutoffs=np.zeros(game.rules.NUM_ACTIONS, np.int64),
        ranks=np.zeros(game.rules.MAX_LEGAL, np.int64),
        best=np.zeros(game.rules.MAX_LEGAL + 1),
        weights=model.weights,
    )
