"""Agents without search or network: `random`, and the functions that a game scripts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.batch import Batch
from plyground.game import Game, agent_repr
from plyground.games.interface import Function
from plyground.kernels.threads import available, over_slices
from plyground.position import Position
from plyground.search.analysis import Analysis, check_running, scored


class Random:
    """Plays each legal action with the same probability."""

    independent = True

    def __init__(self, game: Game) -> None:
        self.game = game

    __repr__ = agent_repr

    def __str__(self) -> str:
        return "random"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)
        self.game.kernels().random_actions(states, rngs, actions, self.game.work(), self.game.scratch())
        return actions

    def to(self, device: str) -> Random:
        return self

    def act_on(self, batch: Batch, turn: Any, rngs: Any, generator: Any, actions: Any) -> None:
        from plyground.backend.device import is_gpu  # the games are torch's: it is there

        if is_gpu(batch.on.name):
            actions.copy_(batch.on.random_actions(batch.states, rngs).where(turn, actions))
        else:
            batch.ask(self.act, rngs, turn, actions)

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))


class ScriptedAgent:
    """Plays by a compiled function `(state, rng) -> action`, or `(state, rng, work) -> action`, of a game."""

    independent = True

    def __init__(self, game: Game, name: str, choose: Function) -> None:
        self.game, self.name, self.function = game, name, choose
        self.kernels = game.kernels_with("choose", {"choose": choose}, name)

    __repr__ = agent_repr

    def __str__(self) -> str:
        return self.name

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)

        def run(rows: slice) -> None:
            self.kernels.choose_all(states[rows], rngs[rows], actions[rows], self.game.work())

        over_slices(run, len(states), available())
        return actions

    def to(self, device: str) -> ScriptedAgent:
        return self

    def act_on(self, batch: Batch, turn: Any, rngs: Any, generator: Any, actions: Any) -> None:
        batch.on.choose(self.function, self.name, batch.states, turn, rngs, actions)

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))

    def analyse(self, position: Position, rngs: NDArray[np.uint64]) -> Analysis:
        """The score of each move, where the game has a scorer of the same name; otherwise the move that it plays."""
        from plyground.agents.teacher import Scorer  # which imports the table

        check_running(position)
        begun, scorer = time.perf_counter(), self.game.rules.SCORERS.get(self.name)
        if scorer is None:
            chosen = int(self.act(position.states.copy(), rngs)[0])
            return scored(position, {}, time.perf_counter() - begun, {chosen: 1.0})
        (actions,), (scores,) = Scorer(self.game, self.name, scorer, 1).scores(position.states)
        found = {int(action): float(score) for action, score in zip(actions, scores, strict=True) if action >= 0}
        return scored(position, found, time.perf_counter() - begun)
