"""`plyground prepare`: everything of a game is compiled once, and what cannot be is named."""

from __future__ import annotations

import re
import time

import pytest

from conftest import ROOT
from plyground.play import preparation

ROW = str(ROOT / "examples" / "three_in_a_row.py")
pytestmark = pytest.mark.compiled


def test_a_game_is_prepared_with_its_time(command) -> None:
    code, out, err = command("prepare", ROW)
    assert code == 0, err
    assert re.search(r"three_in_a_row.py: \d+ parts in \d+\.\d s\n$", out)


def test_all_games_are_prepared_and_a_missing_package_is_named(command, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks() -> None:
        raise ModuleNotFoundError("No module named 'torch'")

    monkeypatch.setattr(preparation, "of_game", lambda game: {"rules": lambda: time.sleep(0), "trained": lacks})
    code, out, _ = command("prepare")
    assert code == 0
    assert re.search(r"^chess: 2 parts in 0\.\d s; without trained \(No module named 'torch'\)$", out, re.MULTILINE)
    assert out.splitlines()[-1].startswith("All games are compiled, in ")


def test_an_unknown_game_is_refused(command) -> None:
    code, _, err = command("prepare", "ches")
    assert code == 2
    assert "did you mean 'chess'?" in err
