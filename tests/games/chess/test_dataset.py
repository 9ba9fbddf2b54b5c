"""Chess as datasets number it: 4096 actions, whatever a pawn becomes."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plyground.games.chess.dataset import DATASET


@pytest.mark.parametrize("fen", ["3r4/2P4k/8/8/8/8/8/K7 w - - 0 1", "k7/8/8/8/8/8/p6K/1R6 b - - 0 1"])
def test_promotions_share_the_number_of_the_one_to_a_queen(fen: str) -> None:
    position = pg.load("chess").position(fen)
    legal = np.array([position.legal()], np.int32)
    seen = DATASET.actions(position.states, legal)[0]
    for action, number in zip(legal[0], seen, strict=True):
        name = position.name(int(action))
        assert position.action(f"{name[:4]}q" if len(name) == 5 else name) == number
    assert len(set(seen)) < len(seen)


def test_the_form_of_a_line() -> None:
    form = pg.load("chess").rules.DATASET
    assert (form.position, form.sides, form.clocks) == ("fen", ("w", "b"), 2)
