"""What a replay memory does for every sample, on a GPU: the loops of `replay.py`, a thread for each sample.

Every draw has a seed of its own, from which each sample gets a generator.
"""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.games.rng import STEP, mix, uniform
from plyground.kernels.replay import draw_one, follow, leaf_at

cuda: Any = untyped

Bools = NDArray[np.bool_]
Bytes = NDArray[np.int8]
Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]


@cuda.jit(cache=True)
def follow_all(
    picked: Longs,
    newest: int,
    sides: Bytes,
    next_sides: Bytes,
    rewards: Floats,
    ended: Bytes,
    explored: Bools,
    plies: int,
    own_turns: bool,
    discount: float,
    penalty: float,
    returns: Floats,
    factors: Floats,
    behind: Longs,
    whole: Floats,
) -> None:
    games = sides.shape[1]
    for k in range(cuda.grid(1), len(picked), cuda.gridsize(1)):
        row, game = picked[k] // games, picked[k] % games
        value, factor, last = follow(
            row, game, newest, sides, next_sides, rewards, ended, explored, plies, own_turns, discount, penalty
        )
        returns[k], factors[k] = value, factor
        whole[k] = 0.0 if last < 0 else 1.0
        behind[k] = picked[k] if last < 0 else last * games + game


@cuda.jit(cache=True)
def draw_uniform(
    seed: np.uint64,
    newest: int,
    filled: int,
    recent: int,
    share_good: float,
    share_recent: float,
    usable: Bools,
    good: Bools,
    picked: Longs,
) -> None:
    rng = cuda.local.array(1, np.uint64)
    for k in range(cuda.grid(1), len(picked), cuda.gridsize(1)):
        rng[0] = mix(seed + np.uint64(k) * STEP)
        picked[k] = draw_one(rng, newest, filled, recent, share_good, share_recent, usable, good)


@cuda.jit(cache=True)
def mark_good(good: Bools, row: int, over: Bools, lengths: NDArray[np.int32]) -> None:
    """Mark all plies of the games `over` [games], which have just ended in `row`."""
    rows = len(good)
    for game in range(cuda.grid(1), len(over), cuda.gridsize(1)):
        if over[game]:
            for back in range(min(lengths[game], rows)):
                good[(row - back + rows) % rows, game] = True


@cuda.jit(cache=True)
def draw_prioritised(seed: np.uint64, tree: Doubles, picked: Longs, chances: Doubles) -> None:
    n, rng = len(picked), cuda.local.array(1, np.uint64)
    for k in range(cuda.grid(1), n, cuda.gridsize(1)):
        rng[0] = mix(seed + np.uint64(k) * STEP)
        leaf = leaf_at(tree, (k + uniform(rng)) / n * tree[1])
        picked[k] = leaf - len(tree) // 2
        chances[k] = tree[leaf] / tree[1]
