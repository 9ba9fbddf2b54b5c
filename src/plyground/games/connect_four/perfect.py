"""The agent that plays Connect Four perfectly: the quickest win, else a draw, else the longest loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.connect_four.solver.solver import NO_MOVE, Solver, perfect
from plyground.games.rng import draw


class Perfect:
    """Plays one of the best moves, drawn from the generator, so that games differ."""

    def __init__(self, game: Game | None = None, solver: Solver | None = None) -> None:
        self.solver = solver or perfect()

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        best = self.solver.best_moves(states)  # [N, 7]
        wanted = draw(rngs, best.sum(axis=1))  # [N] the index among the best moves
        return np.argmax(np.cumsum(best, axis=1) == (wanted + 1)[:, None], axis=1).astype(np.int32)

    def scores(self, states: NDArray[np.void]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """[N, 7] the legal actions, ascending and then -1, and their scores: a win is more than 0.5, the sooner the
        more."""
        found = self.solver.move_scores(states)  # [N, 7]
        legal = found != NO_MOVE
        order = np.argsort(~legal, axis=1, kind="stable").astype(np.int32)  # open columns first
        exact = np.take_along_axis(found, order, 1).astype(np.float64)
        return np.where(np.take_along_axis(legal, order, 1), order, np.int32(-1)), np.sign(exact) * 0.5 + exact / 44
