"""Which words of a line name games, saved games and runs; and one grammar for all commands: the game first, then
agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.people import side_of
from plyground.cli.words import game_files, game_first, is_game, run_path, saved_game
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
    for words in ([ROW], [f"{ROW}:size=3"], [str(tmp_path)]):
        assert game_files(["match", *words]) == [Path(ROW)]
    assert game_files(["match", f"run:{tmp_path},checkpoint=last", "random"]) == [Path(ROW)]
    nothing = ["chess", "missing.py", "uci:engine.py", "run:missing", "a\0b.py", "x" * 5000 + ".py", f"{ROW}:a=,b"]
    assert game_files(["match", *nothing]) == []


# ---- one grammar for all commands: the game first, then agents ----


def test_the_game_is_the_first_word_or_an_option_or_connect_four() -> None:
    for given, option in ((["chess", "a", "b"], ""), (["a", "b"], "chess"), (["chess", "a", "b"], "chess")):
        assert game_first(given, option, "match [GAME] A B", 2, 2) == ("chess", ["a", "b"])
    assert game_first(["a", "b"], "", "match [GAME] A B", 2, 2) == ("connect_four", ["a", "b"])


@pytest.mark.parametrize(
    ("given", "option", "message"),
    [
        (["a", "b", "chess"], "", "the game comes first: plyground match chess a b"),
        (["conect_four", "a", "b"], "", "no game 'conect_four'; did you mean 'connect_four'?"),
        (["chess", "a", "b"], "sequence", "two games are named: chess and --game sequence"),
        (["chess", "a"], "", "match takes [GAME] A B; not 'chess a'"),
        ([], "", "match takes [GAME] A B; nothing was given"),
    ],
)
def test_other_orders_are_answered_with_the_right_line(given: list[str], option: str, message: str) -> None:
    with pytest.raises(pg.Error) as error:
        game_first(given, option, "match [GAME] A B", 2, 2)
    assert str(error.value).startswith(message)


def test_a_word_that_is_no_game_is_answered_with_the_games() -> None:
    with pytest.raises(pg.UnknownName, match=r"no game 'conect'; did you mean 'connect_four'\? known: connect_four, "):
        game_first(["conect"], "", "games [GAME]")


def test_every_command_about_a_game_takes_it_first_and_as_an_option(command) -> None:
    few = ["--games", "2", "--json"]
    for given in ([ROW, "random", "greedy"], ["random", "greedy", "--game", ROW]):
        code, out, _ = command("match", *given, *few)
        assert (code, json.loads(out)["game"]) == (0, ROW)
        code, out, _ = command("ladder", *given, *few)
        assert (code, json.loads(out)["game"]) == (0, ROW)
    for given in ([ROW], ["--game", ROW]):
        assert command("perft", *given, "--depth", "2")[1] == "depth 2: 72\n"
        code, out, _ = command("bench", "rules", *given, "--json", "--seconds", "0.05", "--batch", "8")
        assert (code, json.loads(out)["game"]) == (0, ROW)
        assert f"{ROW}: 9 actions" in command("games", *given)[1]
        assert "as far as 4 random games can tell.\n" in command("check", *given, "--games", "4")[1]
    for given in (["connect_four", "4453"], ["4453", "--game", "connect_four"], ["4453"]):
        assert json.loads(command("solve", *given, "--json")[1])["best"] == ["3", "6", "7"]
    for given in (["connect_four", "greedy"], ["greedy"]):
        code, out, _ = command("grade", *given, "--positions", "5", "--games", "0", "--json")
        assert (code, json.loads(out)["agent"]) == (0, "greedy")


def test_play_takes_game_and_agent_in_any_part(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    for given, greeting in (
        ([], "You are ●, greedy is ○."),
        (["minimax:depth=2"], "You are ●, minimax:depth=2 is ○."),
        (["chess"], "You are White, greedy is Black."),
        (["chess", "random", "--side", "second"], "You are Black, random is White."),
        (["chess", "--side", "black", "random"], "You are Black, random is White."),
        (["random", "--game", ROW], "random is"),
    ):
        code, out, err = command("play", *given)
        assert code == 0, err
        assert greeting in out


def test_a_saved_game_is_found_among_words(tmp_path: Path) -> None:
    (record := tmp_path / "record").write_text("4453")
    for file in ("game.pgn", "game.txt", str(record)):
        assert saved_game(["chess", file, "level:3"], None) == (Path(file), ["chess", "level:3"])
    assert saved_game(["examples/game.py", "uci:/engine.txt"], None) == (None, ["examples/game.py", "uci:/engine.txt"])
    with pytest.raises(pg.InvalidValue, match=r"two files are named: a\.txt and b\.txt"):
        saved_game(["a.txt"], Path("b.txt"))


def test_play_and_analyse_take_a_saved_game_without_its_game(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    pgn = tmp_path / "game.pgn"
    pgn.write_text('[White "a"]\n\n1. e4 e5 *\n')
    for given in ([str(pgn)], [str(pgn), "random"], ["--load", str(pgn), "random"], ["chess", str(pgn)]):
        code, out, err = command("play", *given)
        assert code == 0, err
        assert "You are White" in out
    for given in ([str(pgn)], ["--file", str(pgn)], [str(pgn), "chess"]):
        code, out, err = command("analyse", *given, "--sims", "8", "--json")
        assert (code, json.loads(out)["length"]) == (0, 2), err
    code, _, err = command("analyse", "connect_four", str(pgn))
    assert (code, "it is a game of chess, not of connect_four" in err) == (2, True)


@pytest.mark.parametrize(
    ("word", "first", "second"),
    [
        ("chess", "first 1 White white w", "second 2 Black black b"),
        ("connect_four", "● x first white red", "○ o second black yellow"),
        ("sequence", "red r 1", "blue b 2"),
        (ROW, "x first", "o second"),
    ],
)
def test_sides_are_named_as_people_name_them(word: str, first: str, second: str) -> None:
    rules = pg.load(word)
    assert [side_of(rules, each) for each in first.split()] == [0] * len(first.split())
    assert [side_of(rules, each) for each in second.split()] == [1] * len(second.split())
    with pytest.raises(pg.UnknownName, match="known: first, second"):
        side_of(rules, "third")


def test_a_position_may_begin_with_a_hyphen(command, tmp_path: Path) -> None:
    path = tmp_path / "hyphens.py"
    path.write_text(Path(ROW).read_text().replace('".xo"', '"-xo"').replace('"."', '"-"'))
    code, out, err = command("perft", str(path), "--depth", "1", "--position", "-x--o----")
    assert (code, out) == (0, "depth 1: 7\n"), err


def test_a_folder_of_several_seeds_is_answered_with_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        (tmp_path / "runs" / "many" / f"seed-{seed}").mkdir(parents=True)
        (tmp_path / "runs" / "many" / f"seed-{seed}" / "config.toml").write_text('game = "connect_four"\n')
    for typed in ("runs/many", "run:runs/many", "many"):
        with pytest.raises(pg.InvalidValue, match=r"play connect_four runs/many/seed-0$"):
            game_first(["connect_four", typed], "", "play [GAME] [AGENT]", 0, 1)


def test_a_run_in_the_folder_of_runs_is_found_by_its_name_with_and_without_run(run: Path) -> None:
    for typed in ("x", "run:x", "runs/x", "run:runs/x"):
        assert game_first([typed], "", "play [GAME] [AGENT]", 0, 1) == ("chess", ["run:runs/x"])
    assert game_first(["run:x,checkpoint=12"], "", "play [GAME] [AGENT]", 0, 1)[1] == ["run:runs/x,checkpoint=12"]
    assert game_first(["run:y"], "", "play [GAME] [AGENT]", 0, 1)[1] == ["run:y"]
