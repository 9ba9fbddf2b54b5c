"""Template: `update` of a model that only knows how to fill its scratch memory from a state."""

from __future__ import annotations

from numba import njit

from plyground.games.interface import State
from plyground.kernels.slots import refresh


@njit
def update(before: State, after: State, weights: State, scratch: State, next_scratch: State) -> None:
    refresh(after, weights, next_scratch)
