"""Template: what a model says of positions, one by one and of a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.kernels.arrays import Judge
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop, uncounted_part
from plyground.kernels.slots import model_value, refresh


@uncounted_body
def judged(state: State, judge: Judge) -> float:
    """The value of a state for its side to move, computed from nothing."""
    refresh(state, judge.weights[0], judge.scratch[0])
    return np.float64(model_value(state, judge.weights[0], judge.scratch[0]))


@uncounted_part
def judged_apart(state: State, judge: Judge) -> float:
    """The same, not inlined: for loops that seldom come to it, and are faster without its code among theirs."""
    return judged(state, judge)


@uncounted_loop
def judge_all(states: NDArray[np.void], judge: Judge, values: NDArray[np.float64]) -> None:
    """values [N]: in [-1, 1], for the sides to move."""
    for i in range(len(states)):
        values[i] = judged(states[i], judge)
