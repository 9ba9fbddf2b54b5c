"""A game's own masks against its legal lists."""

from __future__ import annotations

import numpy as np

import plyground as pg


def test_masks_and_lists_agree_where_a_game_writes_masks(game: pg.Game) -> None:
    if "mask" not in game.rules.compiled:
        return
    batch = pg.Batch(game, 9, seed=5)
    kernels, work, scratch = game.kernels("mask"), game.work(), game.scratch()
    for _ in range(12):
        batch.step(batch.random_actions())
        masks, expected = np.ones((9, game.num_actions), np.bool_), np.zeros((9, game.num_actions), np.bool_)
        kernels.legal_masks(batch.states, masks, work, scratch)
        game.kernels().legal_masks(batch.states, expected, work, scratch)
        assert (masks == expected).all()
        for action in (-1, 0, game.num_actions - 1, game.num_actions):
            chosen = batch.random_actions()
            chosen[4] = action
            fine = 0 <= action < game.num_actions and bool(expected[4, action])
            found = kernels.first_illegal(batch.states, chosen, game.num_actions, work, scratch)
            assert found == (-1 if fine else 4)


def test_some_game_writes_masks(connect_four: pg.Game) -> None:
    assert "mask" in connect_four.rules.compiled
