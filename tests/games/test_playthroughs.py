"""Every game has a playthrough on file, and still plays it."""

from __future__ import annotations

import pytest

from playthrough import FOLDER, WORDS, path_of, playthrough


@pytest.mark.parametrize("name", WORDS)
def test_playthrough(name: str) -> None:
    assert playthrough(name) == path_of(name).read_text(encoding="utf-8")


def test_no_game_lacks_a_playthrough() -> None:
    assert set(FOLDER.glob("*.txt")) == set(map(path_of, WORDS))
