"""How much better each ply of a rollout turned out than the critic expected, on a GPU: a thread for each game."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

from numba import cuda as untyped

from plyground.kernels.advantages import judge_game
from plyground.kernels.replay import Bools, Bytes, Floats

cuda: Any = untyped


@cuda.jit(cache=True)
def advantages(
    sides: Bytes,
    next_sides: Bytes,
    rewards: Floats,
    ended: Bytes,
    own: Bools,
    values: Floats,
    behind: Floats,
    discount: float,
    trace: float,
    out: Floats,
) -> None:
    for game in range(cuda.grid(1), sides.shape[1], cuda.gridsize(1)):
        judge_game(game, sides, next_sides, rewards, ended, own, values, behind, discount, trace, out)
