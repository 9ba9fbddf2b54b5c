"""A score for every legal action, over a batch."""

from __future__ import annotations

import numpy as np
from numba import njit

import plyground as pg
from plyground.kernels.cache import load_kernels


@njit
def ply_and_action(state, action):
    return state["ply"] + 0.1 * action


def test_every_legal_action_has_its_score(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 5, seed=1)
    for _ in range(6):
        batch.step([3, 0, 1, 2, 4])  # fills a column in each
    functions = {"legal": connect_four.rules.compiled["legal"], "score": ply_and_action}
    kernels = load_kernels("score", functions, "connect_four ply")
    actions, scores = np.zeros((5, 7), np.int32), np.full((5, 7), np.nan)
    kernels.score_all(batch.states, actions, scores, connect_four.work())
    for row in range(5):
        legal = batch.position(row).legal()
        assert len(legal) == 6
        assert actions[row].tolist() == [*legal, -1]
        assert scores[row, :6].tolist() == [6 + 0.1 * action for action in legal]
        assert np.isnan(scores[row, 6])
