"""A scripted agent's function over a batch."""

from __future__ import annotations

import numpy as np
from numba import njit

import plyground as pg
from plyground.games.rng import below
from plyground.kernels.cache import load_kernels


@njit
def ply_and_chance(state, rng):
    return 100 * state["ply"] + below(rng, 50)


def test_every_row_draws_from_its_own_generator(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 6, seed=1)
    batch.random_play(3)
    kernels = load_kernels("choose", {"choose": ply_and_chance}, "connect_four ply")
    rngs, actions = batch.rngs.copy(), np.full(6, -1, np.int32)
    kernels.choose_all(batch.states, rngs, actions, connect_four.work())
    assert (actions // 100 == batch.states["ply"]).all()
    assert len(set(actions % 100)) > 1
    assert (rngs != batch.rngs).all()
    where = np.array([True, False, True, True, False, True])
    again, some = batch.rngs.copy(), np.full(6, -1, np.int32)
    kernels.choose_where(batch.states, where, again, some, connect_four.work())
    assert some.tolist() == [actions[0], -1, actions[2], actions[3], -1, actions[5]]
    assert (again == np.where(where, rngs, batch.rngs)).all()
