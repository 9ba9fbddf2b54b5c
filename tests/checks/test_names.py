"""What a game does not define is told, and a name that is nearly one of the contract is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT, TESTS, TINY
from plyground.checks.names import misspelt, undefined
from plyground.games.interface import TABLE

pytestmark = pytest.mark.once
ROW = ROOT / "examples" / "three_in_a_row.py"


def test_names_that_a_game_does_not_define_are_listed_in_order() -> None:
    found = undefined(pg.load(ROW))
    assert found == [name for name in TABLE if name in found]
    assert {"SETTINGS", "determinize", "STYLES"} < set(found)
    assert not {"STATE", "play", "scene", "ENCODERS", "OPENING_PLIES"} & set(found)
    assert undefined(pg.load(TESTS / "tiny_games" / "every_name.py")) == []


@pytest.mark.parametrize(
    ("added", "question"),
    [
        ('SIDE = ("x", "o")', "`SIDE`: did you mean `SIDES`?"),
        ('sides = ("x", "o")', "`sides`: did you mean `SIDES`?"),
        ("SETTING: dict[str, int] = {}", "`SETTING`: did you mean `SETTINGS`?"),
        ("OTHER, STYLE = 1, {}", "`STYLE`: did you mean `STYLES`?"),
        ("def reasons(state):\n    return ''", "`reasons`: did you mean `reason`?"),
        ("SCENE = 1", ""),  # defined
        ("MASK = 1", ""),  # `mask` is a function
        ("def key(cell):\n    return cell", ""),  # KEYS is none
        ("LONGEST = 5", ""),
        ("from plyground.games.scene import row as prompts", ""),  # imported
    ],
)
def test_a_name_that_is_nearly_one_of_the_contract_is_asked_about(tmp_path: Path, added: str, question: str) -> None:
    path = tmp_path / "named.py"
    path.write_text(f"{ROW.read_text()}\n\n{added}\n")
    line = 1 + path.read_text().splitlines().index(added.splitlines()[0])
    assert misspelt(pg.load(path)) == ([f"{question} see {path}, line {line}"] if question else [])


@pytest.mark.parametrize("word", [str(ROW), *TINY, "connect_four"])
def test_right_games_are_asked_nothing(word: str) -> None:
    assert misspelt(pg.load(word)) == []
