"""N-tuple networks that play: the action after which the position is worth most."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.kernels.threads import available, over_slices
from plyground.models.ntuple import NTuple
from plyground.models.ntuple_explained import find_reasons
from plyground.position import Position
from plyground.runs.directory import told
from plyground.search.analysis import Analysis, Analyst, check_running, scored

Records = NDArray[np.void]
ROWS_FOR_A_THREAD = 64


def add_reasons(analysis: Analysis, position: Position, model: NTuple) -> Analysis:
    """The same with reasons for the first move, unless it is proven."""
    best = analysis.moves[0]
    if best.proven:
        return analysis
    reasons = find_reasons(model, position, best.actions)
    return replace(analysis, moves=[replace(best, reasons=reasons), *analysis.moves[1:]])


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
        """The value of each move, and why the best one is liked."""
        check_running(position)
        begun = time.perf_counter()
        _, (actions,), (values,) = self.model.choose(position.states.copy(), rngs)
        found = {int(action): float(value) for action, value in zip(actions, values, strict=True) if action >= 0}
        return add_reasons(scored(position, found, time.perf_counter() - begun), position, self.model)

    def analyst(self) -> Analyst:
        def once(position: Position, rngs: NDArray[np.uint64], every: float) -> Iterator[Analysis]:
            yield self.analyse(position, rngs)

        return once

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))
