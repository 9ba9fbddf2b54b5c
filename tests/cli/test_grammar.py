"""One grammar for all commands: the game first, then agents; other orders are answered with the right line."""

from __future__ import annotations

import json

import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.grammar import game_first

ROW = str(ROOT / "examples" / "three_in_a_row.py")


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
        (["random", "--game", ROW], "random is"),
    ):
        code, out, err = command("play", *given)
        assert code == 0, err
        assert greeting in out


def test_a_misspelt_option_is_answered_with_the_nearest(command) -> None:
    code, out, err = command("train", "dqn", "chess", "--doubel-dqn")
    assert code == 2
    assert "--double-dqn" in out + err
