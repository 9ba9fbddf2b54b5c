"""Minimax: an agent that searches to a fixed depth with alpha-beta, in any game of perfect information."""

from __future__ import annotations

import time

import numpy as np

from plyground.errors import InvalidValue
from plyground.game import Game, agent_repr
from plyground.kernels.threads import available, over_slices
from plyground.models.compiled import CompiledModel, handwritten
from plyground.position import Position
from plyground.search.alpha_beta_arrays import (
    Doubles,
    Ints,
    Limits,
    OwnBuffers,
    Records,
    Roots,
    RootScores,
    Words,
)
from plyground.search.analysis import Analysis, check_running, scored

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
        self.independent = not table  # which keeps positions of other games
        self._buffers = OwnBuffers(self.model, 1 + depth + quiescence, 1 << table if table else 0, plain=True)
        self.kernels = self._buffers.kernels

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
        limits = Limits(self.depth, self.quiescence, ordered=self.ordering)
        found = self._search(states, rngs, limits)
        return found.chosen, found.values

    def scores(self, states: Records, best: int = MANY) -> tuple[Ints, Doubles]:
        """[N, MAX_LEGAL] the legal actions of each state, ascending and then -1, and their values.

        Only the `best` highest values are exact; the others are upper bounds below these. That is faster: a search of
        one ply finds the order in which actions are told apart soonest, and the others are refuted by few replies.
        """
        rngs, order = np.zeros(len(states), np.uint64), None
        limits = Limits(self.depth, self.quiescence, ordered=self.ordering, exact=best)
        if self.ordering and self.depth > 1 and best < self.game.rules.MAX_LEGAL:
            first = self._search(states, rngs, limits._replace(depth=1))
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

    def _search(self, states: Records, rngs: Words, limits: Limits, order: Ints | None = None) -> RootScores:
        """`order` [N, MAX_LEGAL]: that of the legal actions; otherwise as they are listed."""
        n, most = len(states), self.game.rules.MAX_LEGAL
        orders = np.tile(np.arange(most, dtype=np.int32), (n, 1)) if order is None else order
        result = RootScores(np.empty(n, np.int32), np.empty(n), np.empty((n, most), np.int32), np.empty((n, most)))

        def run(rows: slice) -> None:
            roots = Roots(states[rows], self.game.searched(states[rows]), rngs[rows], orders[rows])
            part = RootScores._make(array[rows] for array in result)
            self.kernels.search_all(roots, limits, *self._buffers.own, part)

        over_slices(run, n, self.threads, ROWS_FOR_A_THREAD)
        return result


def check_searchable(game: Game, model: CompiledModel | None = None) -> None:
    """Refuse games that alpha-beta cannot search; the model is in place of the game's own `evaluate`."""
    if game.rules.hidden or game.rules.CHANCE:
        raise InvalidValue(f"minimax needs a game without chance in which nothing is hidden; {game} is not one")
    if model is None and "evaluate" not in game.rules.compiled:
        raise InvalidValue(f"minimax needs a game that defines `evaluate`; {game} does not")
