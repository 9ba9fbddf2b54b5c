"""Template: a game's own `evaluate` as a model, which has no weights."""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.interface import State
from plyground.kernels.slots import evaluate


@njit
def value(state: State, weights: State, scratch: State) -> float:
    return np.float64(evaluate(state))
