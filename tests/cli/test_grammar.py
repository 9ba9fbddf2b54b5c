"""One grammar for all commands: the game first, then agents; other orders are answered with the right line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.grammar import game_files, game_first, is_game, refuse_old_flags

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


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("play chess --against trained", "play chess trained"),
        ("play --against minimax:depth=5", "play minimax:depth=5"),
        ("play --against=greedy chess --side second", "play chess greedy --side second"),
        ("evaluate runs/x --against random greedy --games 4", "evaluate runs/x random greedy --games 4"),
        ("teach imitate --data x.ndjson", "train imitation --data x.ndjson"),
    ],
)
def test_old_command_lines_are_answered_with_the_right_line(command, typed: str, right: str) -> None:
    code, _, err = command(*typed.split())
    assert code == 2
    assert err.endswith(f": plyground {right}\n")


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
        assert command("check", *given, "--games", "4")[1].endswith("as far as 4 random games can tell.\n")
    for given in (["connect_four", "4453"], ["4453", "--game", "connect_four"], ["4453"]):
        assert json.loads(command("solve", *given, "--json")[1])["best"] == ["3", "6", "7"]
    for given in (["connect_four", "greedy"], ["greedy"]):
        code, out, _ = command("grade", *given, "--number", "5", "--games", "0", "--json")
        assert (code, json.loads(out)["agent"]) == (0, "greedy")


def test_play_takes_game_and_agent_in_any_part(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    for given, greeting in (
        ([], "You are ●, greedy is ○."),
        (["minimax:depth=2"], "You are ●, minimax:depth=2 is ○."),
        (["chess"], "You are White, greedy is Black."),
        (["chess", "random", "--side", "second"], "You are Black, random is White."),
        (["random", "--game", ROW], "random is"),
    ):
        code, out, err = command("play", *given)
        assert code == 0, err
        assert greeting in out


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("--train-advanced --cycles 3 --profile dqn_debug_masking", "plyground train --profile chess_dqn_original"),
        ("--eval-baseline --games 20 --load-best", "plyground evaluate RUN random greedy"),
        ("--collect --games 20 --depth 2 --topk 5 --tau 1.0", "plyground teach collect chess"),
        ("--train-imitation --data x --lr 0.001", "plyground train imitation chess --data FILE"),
        ("train imitation --batch 64 --lr=0.1", "--batch is --batch-size; --lr is --learning-rate"),
        ("train dqn chess --concurrency 8 --max-steps 80", "--concurrency is --num-envs; --max-steps is --max-plies"),
        ("teach collect --topk 3 --tau 0.5", "--topk is --top-k; --tau is --temperature"),
        ("train --profile chess_dqn --load x", "--load is --init RUN"),
    ],
)
def test_flags_of_the_documents_are_answered_with_those_of_today(command, typed: str, right: str) -> None:
    code, _, err = command(*typed.split())
    assert code == 2
    assert right in err


def test_options_of_ours_with_such_names_are_left_alone() -> None:
    refuse_old_flags(["bench", "rules", "--batch", "4"])
    refuse_old_flags(["train", "dqn", "--tau", "0.1"])
    refuse_old_flags([])


def test_a_misspelt_option_is_answered_with_the_nearest(command) -> None:
    code, out, err = command("train", "dqn", "chess", "--doubel-dqn")
    assert code == 2
    assert "--double-dqn" in out + err


def test_the_game_files_of_a_command_line_are_found(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'learner = "dqn"\ngame = "{ROW}"\n')
    for words in ([ROW], [f"{ROW}:size=3"], ["--game", ROW], [f"--game={ROW}"], [str(tmp_path)]):
        assert game_files(["match", *words]) == [Path(ROW)]
    assert game_files(["match", f"run:{tmp_path},checkpoint=last", "random"]) == [Path(ROW)]
    nothing = ["chess", "missing.py", "uci:engine.py", "run:missing", "a\0b.py", "x" * 5000 + ".py", f"{ROW}:a=,b"]
    assert game_files(["match", *nothing]) == []
