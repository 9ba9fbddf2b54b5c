"""The agent that looks ahead: alpha-beta of fixed depth over any game of perfect information."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.kernels.threads import available, over_slices

Records = NDArray[np.void]
DEEPEST = 40
LARGEST_TABLE = 26
ROWS_FOR_A_THREAD = 8


class Minimax:
    """Plays the best action `depth` plies deep, judged by the game's `evaluate`; equal ones at random.

    `quiescence`: so many plies beyond the depth follow captures and the like; `table`: remember 2**table positions;
    `ordering`: look at promising actions first. The last two save time and change no answer.
    """

    def __init__(
        self,
        game: Game,
        depth: int,
        quiescence: int = 0,
        table: int = 0,
        ordering: bool = True,
        threads: int | None = None,
    ) -> None:
        if not 1 <= depth <= DEEPEST:
            raise InvalidValue(f"minimax looks 1 to {DEEPEST} plies ahead, not {depth}")
        if not 0 <= quiescence <= DEEPEST:
            raise InvalidValue(f"minimax follows captures for 0 to {DEEPEST} plies more, not {quiescence}")
        if not 0 <= table <= LARGEST_TABLE:
            raise InvalidValue(f"minimax remembers up to 2**{LARGEST_TABLE} positions, not 2**{table}")
        if game.rules.hidden or game.rules.CHANCE:
            raise InvalidValue(f"minimax needs a game without chance in which nothing is hidden; {game} is not one")
        if "evaluate" not in game.rules.compiled:
            raise InvalidValue(f"minimax needs a game that defines `evaluate`; {game} does not")
        if quiescence and "loudness" not in game.rules.compiled:
            raise InvalidValue(
                f"quiescence needs a game that says which actions are loud (`loudness`); {game} does not"
            )
        self.game, self.depth, self.quiescence, self.ordering = game, depth, quiescence, ordering
        self.threads = threads or available()
        self.entries = 1 << table if table else 0
        self.kernels = game.kernels("plyground.search.alpha_beta")
        self._rooms = threading.local()

    def __str__(self) -> str:
        return f"minimax:depth={self.depth}" + (f",quiescence={self.quiescence}" if self.quiescence else "")

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        return self.search(states, rngs)[0]

    def search(self, states: Records, rngs: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The chosen actions [N] and their values [N] for the sides to move."""
        chosen, values, _, _ = self._search(states, rngs, exact=False)
        return chosen, values

    def scores(self, states: Records) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """[N, MAX_LEGAL] the legal actions of each state, ascending and then -1, and what each of them is worth."""
        _, _, actions, scores = self._search(states, np.zeros(len(states), np.uint64), exact=True)
        return actions, scores

    def _search(
        self, states: Records, rngs: NDArray[np.uint64], exact: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        n, most = len(states), self.game.rules.MAX_LEGAL
        found = np.empty(n, np.int32), np.empty(n), np.empty((n, most), np.int32), np.empty((n, most))

        def run(rows: slice) -> None:
            self.kernels.minimax_all(
                *(states[rows], np.zeros(1, self.game.rules.STATE), self.game.searched(states[rows]), self.depth),
                *(self.quiescence, self.ordering, exact, *(each[rows] for each in found), *self._room()),
                *(rngs[rows], self.game.work()),
            )

        over_slices(run, n, self.threads, ROWS_FOR_A_THREAD)
        return found

    def _room(self) -> tuple[NDArray[np.generic], ...]:
        """This thread's stack (as records and as numbers), lists, cut-off counts and table."""
        if not hasattr(self._rooms, "own"):
            rules, deepest = self.game.rules, self.depth + self.quiescence
            stack = np.zeros(deepest + 1, rules.SEARCHED)
            word = np.uint64 if stack.itemsize % 8 == 0 else np.uint8
            lists, cutoffs = np.empty((deepest, rules.MAX_LEGAL), np.int32), np.zeros(rules.NUM_ACTIONS, np.int64)
            table = np.zeros(self.entries, np.uint64), np.zeros(self.entries), np.zeros(self.entries, np.int8)
            self._rooms.own = (stack, stack.view(word).reshape(deepest + 1, -1), lists, cutoffs, *table)
        return self._rooms.own
