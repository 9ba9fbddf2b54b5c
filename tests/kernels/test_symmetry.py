"""The images of actions under a game's symmetries."""

from __future__ import annotations

import numpy as np

import plyground as pg


def test_the_first_symmetry_is_the_identity_and_all_are_permutations(game: pg.Game) -> None:
    images = np.full((game.rules.SYMMETRIES, game.num_actions), -1, np.int32)
    game.kernels("symmetry").fill_images(images)
    assert images[0].tolist() == list(range(game.num_actions))
    assert (np.sort(images, axis=1) == np.arange(game.num_actions)).all()


def test_connect_four_is_mirrored(connect_four: pg.Game) -> None:
    assert connect_four.images.tolist() == [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0]]
