"""A game's cells in compiled templates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from plyground.kernels.cache import load_kernels
from plyground.kernels.slots import slots_of

TEMPLATE = """
from numba import njit
from plyground.kernels.slots import NUM_CELLS, write_cells

@njit(cache=True)
def changes(before, after, seat, old, new):
    write_cells(before, seat, old)
    write_cells(after, seat, new)
    found = 0
    for cell in range(NUM_CELLS):
        found += old[cell] != new[cell]
    return found
"""


@pytest.mark.parametrize(
    ("word", "move", "changed"), [("chess", "e2e4", 2), ("connect_four", "4", 2), ("paco_sako", "Le2", 3)]
)
def test_a_template_writes_cells_by_a_slot(
    word: str, move: str, changed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_a_test").mkdir()
    (tmp_path / "of_a_test" / "template.py").write_text(TEMPLATE)
    monkeypatch.syspath_prepend(tmp_path)
    game = pg.load(word)
    start = game.start()
    before, after = start.states[0], start.play(move).states[0]
    old, new = np.empty((2, game.cells.count), np.int16)
    for seat in range(2):
        kernels = load_kernels("of_a_test.template", slots_of(game.rules), word)
        assert kernels.changes(before, after, seat, old, new) == changed
        assert (new == game.write_cells(start.play(move).states, seat)[0]).all()
