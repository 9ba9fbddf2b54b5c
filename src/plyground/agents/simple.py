"""Agents without search or network: the random agent, and the scripted agents that games bring."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.interface import Function
from plyground.kernels.cache import load_kernels
from plyground.kernels.threads import available, over_slices


class Random:
    """Plays each legal action with the same probability."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def __str__(self) -> str:
        return "random"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)
        self.game.kernels().random_actions(states, rngs, actions, self.game.work(), self.game.scratch())
        return actions


class ScriptedAgent:
    """Plays by a compiled function `(state, rng) -> action`, or `(state, rng, work) -> action`, of a game."""

    def __init__(self, game: Game, name: str, choose: Function) -> None:
        self.game, self.name, self.function = game, name, choose
        self.kernels = _kernels(choose, f"{game.label} {name}")

    def __str__(self) -> str:
        return self.name

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)

        def run(rows: slice) -> None:
            self.kernels.choose_all(states[rows], rngs[rows], actions[rows], self.game.work())

        over_slices(run, len(states), available())
        return actions


@functools.cache
def _kernels(choose: Function, subject: str) -> Any:
    return load_kernels("choose", {"choose": choose}, subject)
