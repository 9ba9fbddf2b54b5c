"""Games in other spellings than ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import plyground as pg
from plyground.games.typed_names import game_name, unknown_game


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        *(("connect4", "connect_four"), ("Connect Four", "connect_four"), ("paco-sako", "paco_sako")),
        *(("Sequence:seats=4", "sequence:seats=4"), ("my_game.py", "my_game.py"), ("greedy", "greedy")),
    ],
)
def test_a_game_has_one_name_here(typed: str, name: str) -> None:
    assert game_name(typed) == name


def test_python_understands_the_same_spellings() -> None:
    assert pg.load("connect4") == pg.load("connect_four")
    assert str(pg.load("Sequence:seats=4")) == "sequence:seats=4"
    with pytest.raises(pg.InvalidValue, match=r"examples/three_in_a_row\.py"):
        pg.load("tic-tac-toe")
    with pytest.raises(pg.UnknownName, match="no game 'Go'; known: connect_four"):
        pg.load("Go")


@pytest.mark.parametrize("wrong", [None, 4, b"chess", ["chess"]])
def test_what_is_no_name_is_refused(wrong: Any) -> None:
    for take in (game_name, pg.load, lambda game: pg.agent("greedy", game)):
        with pytest.raises(
            pg.InvalidValue, match=r"^a game is its name, the path of its \.py file, or what `load` returns"
        ):
            take(wrong)


def test_a_file_that_is_there_is_suggested_for_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for word in ("clobber", "clobber:rows=5"):
        assert "clobber.py" not in str(unknown_game(word))
    (tmp_path / "clobber.py").touch()
    assert "no game 'clobber'; did you mean 'clobber.py'? known: connect_four, " in str(unknown_game("clobber"))
    assert "did you mean" not in str(unknown_game("nothing"))
    with pytest.raises(pg.UnknownName, match=r"no game 'clobber'; did you mean 'clobber\.py'\?"):
        pg.load("clobber")
