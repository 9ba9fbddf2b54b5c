"""What a chip is worth in the lines of five: all cells at once, against each cell by itself."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.sequence import cards
from plyground.games.sequence.agents import cell_worth, filled_worth
from plyground.games.sequence.lines import GAINS, WORK, fill_worths


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed"])
def test_all_cells_at_once_are_worth_what_each_is_by_itself(word: str) -> None:
    work, compared = np.zeros(1, WORK), [0, 0]
    for state in laws.sample(pg.load(word), 12 if JIT else 1, seed=4, most=300 if JIT else 4).states:
        for side in range(2):
            for removed, mark in enumerate((cards.EMPTY, cards.CHIP + 1 - side)):
                fill_worths(state, side, removed, work[0])
                for cell in np.flatnonzero(state["cells"] == mark).tolist():
                    expected = cell_worth(state, cell, side)
                    assert filled_worth(state, cell, side, removed, work[0]) == expected, (cell, side, removed)
                    compared[removed] += 1
    assert min(compared) > 0


def test_an_open_four_is_worth_most() -> None:
    game, work = pg.load("sequence"), np.zeros(1, WORK)
    state = game.blank.copy()[0]
    state["cells"][[31, 32, 33, 34]] = cards.CHIP
    fill_worths(state, 0, 0, work[0])
    build = work[0]["build"][0, : cards.CELLS]
    assert set(np.argsort(np.where(state["cells"] == cards.EMPTY, build, 0))[-2:]) == {30, 35}
    assert work[0]["build"][0, 35] >= GAINS[4] > work[0]["build"][0, 36]
    fill_worths(state, 1, 0, work[0])
    assert work[0]["block"][0, 35] >= GAINS[4] > work[0]["build"][0, 35], "the other side blocks it"
