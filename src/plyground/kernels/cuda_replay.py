"""Template: the functions of `replay.py` on a GPU, one thread for each sample."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.arrays import NStepReturns, Plies, SampleShares
from plyground.kernels.replay import (
    draw_by_priority,
    draw_index,
    generator_of,
    lambda_return_of,
    mark_game,
    n_step_return_of,
    newest_row,
)

cuda: Any = untyped

Bools = NDArray[np.bool_]
Cursor = NDArray[np.uint64]
Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]


@cuda.jit(cache=True)
def n_step_returns(
    indices: Longs,
    cursor: Cursor,
    plies: Plies,
    n_step: int,
    own_turns: bool,
    gamma: float,
    penalty: float,
    out: NStepReturns,
) -> None:
    for k in range(cuda.grid(1), len(indices), cuda.gridsize(1)):
        n_step_return_of(k, indices, cursor, plies, n_step, own_turns, gamma, penalty, out)


@cuda.jit(cache=True)
def lambda_returns(
    indices: Longs, cursor: Cursor, plies: Plies, values: Floats, gamma: float, td_lambda: float, out: Floats
) -> None:
    for k in range(cuda.grid(1), len(indices), cuda.gridsize(1)):
        lambda_return_of(k, indices, cursor, plies, values, gamma, td_lambda, out)


@cuda.jit(cache=True)
def sample_uniform(cursor: Cursor, shares: SampleShares, usable: Bools, decided: Bools, indices: Longs) -> None:
    rng = cuda.local.array(1, np.uint64)
    for k in range(cuda.grid(1), len(indices), cuda.gridsize(1)):
        rng[0] = generator_of(cursor, k)
        indices[k] = draw_index(rng, cursor, shares, usable, decided)


@cuda.jit(cache=True)
def mark_games(marks: Bools, cursor: Cursor, over: Bools, lengths: NDArray[np.int32], value: bool) -> None:
    for env in range(cuda.grid(1), len(over), cuda.gridsize(1)):
        if over[env]:
            mark_game(marks, newest_row(cursor, len(marks)), env, lengths[env], value)


@cuda.jit(cache=True)
def sample_prioritised(cursor: Cursor, tree: Doubles, indices: Longs, probabilities: Doubles) -> None:
    rng = cuda.local.array(1, np.uint64)
    for k in range(cuda.grid(1), len(indices), cuda.gridsize(1)):
        rng[0] = generator_of(cursor, k)
        draw_by_priority(k, rng, tree, indices, probabilities)
