"""A game's own evaluation over a batch."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from compiled import compiled


@pytest.mark.parametrize("word", ["connect_four", "chess"])
def test_values_are_those_of_each_state(word: str) -> None:
    game = pg.load(word)
    batch = pg.Batch(game, 8, seed=4)
    batch.random_play(11)
    values = np.full(8, np.nan, np.float32)
    game.kernels("evaluate").evaluate_all(batch.states, values)
    evaluate = compiled(game.rules.compiled["evaluate"])
    expected = [np.float32(evaluate(state)) for state in batch.states]
    assert values.tolist() == pytest.approx(expected, abs=1e-6)
    assert (np.abs(values) <= 1).all()
    assert len(set(values.tolist())) > 1
