"""Every game has a playthrough on file, and still plays it."""

from __future__ import annotations

import pytest

from playthrough import FOLDER, playthrough
from plyground.games import GAMES


@pytest.mark.parametrize("name", GAMES)
def test_playthrough(name: str) -> None:
    assert playthrough(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_no_game_lacks_a_playthrough() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)
