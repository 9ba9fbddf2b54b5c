"""The agent that looks ahead: alpha-beta of fixed depth over any game of perfect information."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.kernels.threads import available, over_slices

DEEPEST = 40
ROWS_FOR_A_THREAD = 8


class Minimax:
    """Plays the best action `depth` plies deep, judged by the game's `evaluate`; equal ones at random."""

    def __init__(self, game: Game, depth: int) -> None:
        if not 1 <= depth <= DEEPEST:
            raise InvalidValue(f"minimax looks 1 to {DEEPEST} plies ahead, not {depth}")
        if game.rules.hidden or game.rules.CHANCE:
            raise InvalidValue(f"minimax needs a game without chance in which nothing is hidden; {game} is not one")
        if "evaluate" not in game.rules.compiled:
            raise InvalidValue(f"minimax needs a game that defines `evaluate`; {game} does not")
        self.game, self.depth = game, depth
        self.kernels = game.kernels("minimax")

    def __str__(self) -> str:
        return f"minimax:depth={self.depth}"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        return self.search(states, rngs)[0]

    def search(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The chosen actions [N] and their values [N] for the sides to move."""
        rules, chosen, values = self.game.rules, np.empty(len(states), np.int32), np.empty(len(states))

        def run(rows: slice) -> None:
            stack, lists = np.zeros(self.depth + 1, rules.SEARCHED), np.empty((self.depth, rules.MAX_LEGAL), np.int32)
            whole, cutoffs = np.zeros(1, rules.STATE), np.zeros(rules.NUM_ACTIONS, np.int64)
            self.kernels.minimax_all(
                *(states[rows], whole, self.game.searched(states[rows]), self.depth, chosen[rows], values[rows]),
                *(stack, lists, cutoffs, rngs[rows], self.game.work()),
            )

        over_slices(run, len(states), available(), ROWS_FOR_A_THREAD)
        return chosen, values
