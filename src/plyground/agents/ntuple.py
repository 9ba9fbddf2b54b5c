"""N-tuple networks that play: the action after which the position is worth most."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.kernels.threads import available, over_slices
from plyground.models.ntuple import NTuple
from plyground.position import Position
from plyground.runs.directory import told
from plyground.search.analysis import Analysis, check_running, scored

Records = NDArray[np.void]
ROWS_FOR_A_THREAD = 64


class NTupleAgent:
    """Looks one action ahead. What chance may bring, or others hold, is drawn anew several times."""

    independent = leaves_circles = True
    spec = ""  # by which `make` makes it again, where there is one

    def __init__(self, model: NTuple) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"<agent for {self.game}: {told(self.model.folder) if self.model.folder else 'an n-tuple network'}>"

    @property
    def game(self) -> Game:
        return self.model.game

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        chosen = np.empty(len(states), np.int32)

        def run(rows: slice) -> None:
            chosen[rows] = self.model.choose(states[rows], rngs[rows])[0]

        over_slices(run, len(states), available(), ROWS_FOR_A_THREAD)
        return chosen

    def analyse(self, position: Position, rngs: NDArray[np.uint64]) -> Analysis:
        """The value of each move."""
        check_running(position)
        begun = time.perf_counter()
        _, (actions,), (values,) = self.model.choose(position.states.copy(), rngs)
        found = {int(action): float(value) for action, value in zip(actions, values, strict=True) if action >= 0}
        return scored(position, found, time.perf_counter() - begun)

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))
