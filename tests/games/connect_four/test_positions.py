"""Positions to grade agents on."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plyground.agents.agent import make
from plyground.games.connect_four import positions

pytestmark = pytest.mark.compiled


def test_positions_come_from_the_seed(connect_four: pg.Game) -> None:
    greedy = make("greedy", connect_four)
    first, again, other = (positions.made(connect_four, 90, greedy, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert not np.isin(other, first).all()
    assert (first["outcome"] == 0).all()
    assert first["ply"].min() < 8
    assert first["ply"].max() > 20
