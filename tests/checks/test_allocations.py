"""Allocations in compiled functions are found with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT
from plyground.checks.allocations import allocations

pytestmark = [pytest.mark.once, pytest.mark.compiled]
ROW = ROOT / "examples" / "three_in_a_row.py"


def test_the_example_allocates_nothing() -> None:
    assert allocations(pg.load(ROW)) == []


def test_arrays_lists_and_sums_of_slices_are_found(tmp_path: Path) -> None:
    helper = (
        "@njit\ndef helper(cells):\n    both = cells[:3] + cells[3:6]\n    found = [both[0]]\n    return found[0] + 0\n"
    )
    source = ROW.read_text()
    source = source.replace("@njit\ndef play(", f"{helper}\n\n@njit\ndef play(")
    source = source.replace(
        "    cells[action] = 1 + side\n",
        "    cells[action] = 1 + side + 0 * helper(cells)\n    room = np.zeros(2)\n    room[side] = 1\n",
    )
    source = source.replace("if cells.all():", "if cells.all() and room[side] == 1:")
    path = tmp_path / "allocates.py"
    path.write_text(source)
    lines = source.splitlines()
    wanted = {
        text: number
        for number, text in enumerate(lines, 1)
        if "both =" in text or "found =" in text or "np.zeros" in text
    }
    found = allocations(pg.load(path))
    assert len(found) == len(wanted) == 3
    for number in wanted.values():
        assert any(each.startswith(f"allocates.py, line {number}: ") for each in found), found
    assert all("rule functions never allocate" in each for each in found)


def test_a_game_that_allocates_can_be_played_all_the_same(tmp_path: Path) -> None:
    """Whichever loop is the first to compile its functions, those without reference counts too."""
    path = tmp_path / "wasteful.py"
    path.write_text(
        ROW.read_text().replace(
            '    side, cells = state["to_move"]', '    np.zeros(2).sum()\n    side, cells = state["to_move"]'
        )
    )
    game = pg.load(path)
    assert not pg.Batch(game, 2, check=False).step([0, 1]).terminated.any()
    assert allocations(game)
