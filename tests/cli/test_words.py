"""Which words of a command line name games, game files and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.grammar import game_first
from plyground.cli.words import agents_in, game_files, is_game, run_path
from plyground.games.typed_names import game_name

ROW = str(ROOT / "examples" / "three_in_a_row.py")


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("chess", True),
        ("sequence:seats=4", True),
        ("my_game.py", True),
        ("my_game.py:length=5", True),
        ("C:\\games\\mine.py", True),
        ("greedy", False),
        ("minimax:depth=3", False),
        ("uci:/usr/games/engine.py", False),
        ("run:runs/chess.py-1", False),
        ("chess960", False),
        ("4453", False),
    ],
)
def test_a_word_that_names_a_game_is_recognised(word: str, wanted: bool) -> None:
    assert is_game(word) == wanted


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("connect4", "connect_four"), ("Connect Four", "connect_four"), ("connect-four", "connect_four"),
        ("c4", "connect_four"), ("ConnectFour", "connect_four"), ("paco-sako", "paco_sako"), ("Chess", "chess"),
        ("Sequence:seats=4", "sequence:seats=4"), ("my_game.py", "my_game.py"), ("greedy", "greedy"),
    ],
)  # fmt: skip
def test_games_are_understood_in_other_spellings(typed: str, name: str) -> None:
    assert game_name(typed) == name
    assert game_first([typed, "a", "b"], "", "match [GAME] A B", 0, 3)[0] == (
        name if is_game(typed) else "connect_four"
    )


def test_three_in_a_row_is_an_example() -> None:
    for word in ("tic-tac-toe", "TicTacToe", "three_in_a_row"):
        with pytest.raises(pg.InvalidValue, match=r"plyground play examples/three_in_a_row\.py"):
            is_game(word)


def test_a_run_is_found_by_what_people_type(run: Path) -> None:
    for word in ("runs/x", "x", "run:runs/x", "run:x,checkpoint=last", "runs/x/", "runs/x/config.toml"):
        assert run_path(word) == run
    assert run_path("runs/x/checkpoints/12") == run
    assert run_path("runs/y") == Path("runs/y")


def test_a_run_is_an_agent_and_knows_its_game(run: Path) -> None:
    assert game_first(["x", "greedy"], "", "match [GAME] A B", 2, 2) == ("chess", [f"run:{run}", "greedy"])
    assert game_first(["sequence", "run:runs/x"], "", "grade [GAME] AGENT", 1, 1) == ("sequence", ["run:runs/x"])


def test_the_game_files_of_a_command_line_are_found(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'learner = "dqn"\ngame = "{ROW}"\n')
    for words in ([ROW], [f"{ROW}:size=3"], ["--game", ROW], [f"--game={ROW}"], [str(tmp_path)]):
        assert game_files(["match", *words]) == [Path(ROW)]
    assert game_files(["match", f"run:{tmp_path},checkpoint=last", "random"]) == [Path(ROW)]
    nothing = ["chess", "missing.py", "uci:engine.py", "run:missing", "a\0b.py", "x" * 5000 + ".py", f"{ROW}:a=,b"]
    assert game_files(["match", *nothing]) == []


def test_the_agents_of_a_file_are_found_without_running_it(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("1 / 0\ndef make(game): ...\nclass Centre:\n    def act(self): ...\ndef _own(): ...\n")
    assert agents_in(str(own)) == ["Centre", "make"]
    for text in ("STATE = 0\ndef legal(): ...\n", "def make(:", "\0"):
        own.write_text(text)
        assert agents_in(str(own)) is None
    assert agents_in(str(tmp_path / "not_there.py")) is None
