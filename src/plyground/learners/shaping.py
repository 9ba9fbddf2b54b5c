"""Potential-based shaping: a game's own judgement as a reward that changes no best action.

The potential of a state is what `evaluate` says for its side to move. The side that acts gets what the potential has
become, seen by itself (minus, where the turn has passed, and discounted there), less what it was. Along a game these
differences cancel out but for the first potential, so every action's value changes by the same amount, minus the
potential of the state (Ng, Harada and Russell 1999). A finished game has no potential; one that was stopped keeps it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.interface import RUNNING


def potentials(game: Game, states: NDArray[np.void]) -> NDArray[np.float32]:
    """[N] for the side to move; 0 where the game is over."""
    if "evaluate" not in game.rules.compiled:
        raise InvalidValue(f"shaping needs a game that defines `evaluate`; {game} does not")
    values = np.empty(len(states), np.float32)
    game.kernels("evaluate").evaluate_all(states, values)
    return np.where(states["outcome"] == RUNNING, values, np.float32(0))


def differences(game: Game, states: NDArray[np.void], after: NDArray[np.void], discount: float) -> NDArray[np.float32]:
    """[N] what is added to the reward of the side that acted in `states` and came to `after`."""
    factor = np.where(states["to_move"] == after["to_move"], 1.0, -discount)
    return (factor * potentials(game, after) - potentials(game, states)).astype(np.float32)
