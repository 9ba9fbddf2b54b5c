"""The agent that knows Connect Four's answer: the quickest win, else a draw, else the longest loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.connect_four.solver.solver import Solver, perfect
from plyground.games.rng import draw


class Perfect:
    """Plays one of the best moves; which of them, chance decides, so that it is not always the same game."""

    def __init__(self, solver: Solver | None = None) -> None:
        self.solver = solver or perfect()

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        best = self.solver.best_moves(states)  # [N, 7]
        wanted = draw(rngs, best.sum(axis=1))  # [N] the first, the second, ... of the best
        return np.argmax(np.cumsum(best, axis=1) == (wanted + 1)[:, None], axis=1).astype(np.int32)
