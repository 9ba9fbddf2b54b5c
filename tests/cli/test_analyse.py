"""The command `analyse`: tables, JSON, pictures, Ctrl-C and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents import search as agents_search
from plyground.cli import analyse as display
from plyground.cli import terminal
from plyground.games.rng import seeds

pytestmark = pytest.mark.compiled
THREE = str(ROOT / "examples" / "three_in_a_row.py")
FEW = ("--sims", "200")


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal.console, "_width", 200)


@pytest.mark.usefixtures("wide")
def test_a_position_is_shown_with_its_moves_and_the_solver_beside(command) -> None:
    code, out, _ = command("analyse", "connect_four", "--position", "112233", *FEW)
    assert code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line[:1] == "│"]
    assert len(rows) == 7
    assert (rows[0][0], rows[0][2:4]) == ("4", ["win in 1 move", "wins in 1 move"])
    assert "proven: a win" in out


def test_the_board_is_shown_before_anything_is_compiled(command, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_nothing(_: pg.Game) -> None:
        raise pg.Error("compiling")

    monkeypatch.setattr(pg.Game, "compile", compile_nothing)
    code, out, err = command("analyse", "connect_four", "--position", "4453")
    assert (code, "compiling" in err) == (2, True)
    assert ". . ○ ● ● . ." in out


def test_a_position_is_drawn_as_in_play(command) -> None:
    code, out, _ = command("analyse", "--position", "7k/8/8/8/8/8/R7/1R4K1 b - - 0 1", *FEW)
    assert (code, out.splitlines()[7]) == (0, "1  ·  ♖  ·  ·  ·  ·  ♔  ·"), "a FEN is of chess"


def test_moves_that_an_agent_cannot_tell_apart_are_said_to_be_equal(capsys: pytest.CaptureFixture[str]) -> None:
    start = pg.load("connect_four").start()
    found = start.analyse("search:sims=7")
    won = [replace(move, value=1.0, visits=1) for move in found.moves]
    terminal.console.print(display.moves_table(replace(found, moves=won), start))
    shown = capsys.readouterr().out
    assert "It sees no difference between these 7 moves: each game that was tried was won." in shown
    assert "prior" not in shown, "equal priors say nothing"
    tiny = [replace(move, value=-0.001) for move in found.moves]
    terminal.console.print(display.moves_table(replace(found, moves=tiny), start))
    assert "-0.00" not in capsys.readouterr().out
    terminal.console.print(display.moves_table(replace(found, moves=[*won[1:], replace(won[0], value=0.5)]), start))
    assert "no difference" not in capsys.readouterr().out


def test_a_position_as_json_has_every_move(command) -> None:
    code, out, _ = command("analyse", THREE, "--position", "startpos", *FEW, "--json")
    found = json.loads(out)
    assert (code, found["stopped"], found["simulations"], len(found["moves"])) == (0, False, 200, 9)
    first = found["moves"][0]
    assert {"name", "prior", "visits", "value", "proven", "line", "exact"} <= first.keys()
    assert sum(move["visits"] for move in found["moves"]) == 200
    assert first["exact"] is None, "three in a row has no solver"


@pytest.mark.usefixtures("wide")
def test_a_game_is_shown_with_its_mistakes_the_worst_first(command, tmp_path: Path) -> None:
    picture = tmp_path / "values.png"
    code, out, err = command("analyse", "--position", "112233", "--moves", "756", *FEW, "--picture", str(picture))
    assert code == 0
    assert "inaccuracy from 0.1, mistake from 0.2, blunder from 0.3" in out
    assert "ply 1: ● 7, blunder: lost" in out
    assert out.index("ply 1: ●") < out.index("better: 4")
    assert "analyse connect_four --position" in out, "the command that looks at the mistake"
    assert f"wrote {picture}" in err
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("wide")
def test_moves_are_written_as_in_play(command) -> None:
    code, out, _ = command("analyse", "chess", "--position", "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "--sims", "2000")
    assert (code, "│ Ra7 " in out, "a2a7" in out) == (0, True, False)
    code, out, _ = command("analyse", "chess", "--moves", "f3 e5 g4 Nc6", "--sims", "2000")
    assert code == 0
    assert "│ g4 " in out
    assert "better: Qh4#\n" in out
    assert "\n2. g4, blunder: lost" in out
    code, out, _ = command("analyse", "paco_sako", "--sims", "60")
    assert (code, "│ e2>e4 " in out) == (0, True), "whole turns"
    code, out, _ = command("analyse", "paco_sako", "--moves", "e2e4 e7e5 d2d4", "--sims", "60")
    assert (code, "│ 2    │ black │ e7>e5  │" in out, "3 of 3 turns." in out) == (0, True, True), "a row for each turn"


LEGAL = """[White "Anna"]
[Black "Ben"]

1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0
"""


@pytest.mark.usefixtures("wide")
def test_a_game_of_chess_is_shown_as_chess_players_write_it(command, tmp_path: Path) -> None:
    file = tmp_path / "game.pgn"
    file.write_text(f'[White "?"]\n\n1. e4 *\n\n{LEGAL}', encoding="utf-8")
    code, out, _ = command("analyse", str(file), "--number", "2", "--sims", "1000")
    assert (code, out.splitlines()[0].rstrip()) == (0, "chess: White Anna against Black Ben")
    rows = [[cell.strip() for cell in line.split("│")[1:5]] for line in out.splitlines() if line[:1] == "│"]
    assert rows[-4] == ["5...", "Black", "Bxd1", "win in 2 moves"]
    assert [row[0] + row[2] for row in rows[-3:]] == ["6.Bxf7+", "6...Ke7", "7.Nd5#"]
    assert (rows[-2][3], rows[-1][3]) == ("win in 1 move", "win")
    assert "\n5... Bxd1, blunder: lost" in out
    assert f"This is game 2 of 2 in {file}: --number N analyses another one." in out
    code, out, _ = command("analyse", str(file), "--sims", "20")
    assert (code, out.splitlines()[0].rstrip()) == (0, "chess"), "a player who is not told"


def test_without_a_terminal_a_long_search_says_now_and_then_how_far_it_is(
    command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plyground.cli.terminal.NowAndThen.SECONDS", 0.0)
    _, out, err = command("analyse", "connect_four", "--position", "4453", "--sims", "2000")
    assert re.search(r"^[\d,]+ simulations? in \d+ s, best so far [1-7] \(.+\)$", err, re.MULTILINE)
    assert "so far" not in out
    _, _, err = command("analyse", "connect_four", "--moves", "445", "--sims", "20")
    assert "○ 4: 2 of 3\n" in err


def test_alpha_beta_analyses_chess_unless_simulations_are_named(command) -> None:
    mate = ("chess", "--position", "7k/5ppp/8/8/8/8/8/KR6 w - - 0 1", "--json")
    by_default, by_tree = (json.loads(command("analyse", *mate, *more)[1]) for more in ((), ("--sims", "50")))
    assert by_default["agent"] == "minimax:nodes=2000000"
    assert by_default["nodes"] > 0 == by_default["simulations"] == by_tree["nodes"]
    assert by_tree["simulations"] > 0
    for found in (by_default, by_tree):
        assert (found["moves"][0]["name"], found["moves"][0]["proven"], found["moves"][0]["distance"]) == (
            "b1b8",
            "win",
            1,
        )
    _, out, _ = command("analyse", "chess", "--agent", "minimax:nodes=3000")
    assert re.search(r"3,000 nodes to depth \d in .* s \(", out)
    assert "15 moves not shown" in " ".join(out.split())


def test_a_game_as_json_names_the_worst_plies(command, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text("1122337", encoding="utf-8")
    code, out, _ = command("analyse", "connect_four", "--file", str(file), "--json", *FEW)
    found = json.loads(out)
    assert code == 0
    assert (found["length"], len(found["plies"]), found["stopped"]) == (7, 7, False)
    assert found["worst"] == sorted(found["worst"], key=lambda ply: -found["plies"][ply - 1]["lost"])
    assert 7 in found["worst"]


@pytest.mark.parametrize("arguments", [("--position", "4453"), ("--moves", "4453")])
def test_ctrl_c_shows_what_was_found_so_far(
    command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def interrupted(module: Any, name: str) -> None:
        whole = getattr(module, name)

        def search(*given: Any) -> Iterator[Any]:
            yield next(iter(whole(*given)))
            raise KeyboardInterrupt

        monkeypatch.setattr(module, name, search)

    interrupted(agents_search, "analyse") if "--position" in arguments else interrupted(display, "analyses_of_game")
    code, out, err = command("analyse", *arguments, "--json", *FEW)
    assert (code, json.loads(out)["stopped"]) == (130, True)
    assert "stopped; this is what was found so far" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sims", "0"], "sims of the agent search is a whole number of at least 1, not 0"),
        (["--time", "-1"], "time of the agent search is a number of seconds above 0, not -1"),
        (["--position", "1212121"], "an analysis needs a running game; FIRST_WINS in"),
        (["sequence", "--moves", "x"], "the analysis of a whole game is for games without chance in which nothing is"),
        (["--agent", "minmax:time=1"], "no search for --agent of an analysis 'minmax:time=1'; did you mean 'minimax'?"),
        (["--agent", "uci:stockfish"], "known: minimax:time=1, search, search:model=trained"),
        (["chess", "--agent", "minimax", "--sims", "9"], "--sims is for tree searches; minimax takes --time, or nodes"),
        (["chess", "--agent", "minimax:depth=2"], "such as minimax:time=1, not 'minimax:depth=2'"),
        (["e4 e5 Nf3"], "'e4 e5 Nf3' is no file; the moves of a game: plyground analyse chess --moves 'e4 e5 Nf3'"),
        (["--position", "e4 e5 Nf3"], "'e4 e5 Nf3' is neither a string of columns"),
        (["chess", "--position", "hello"], "a FEN has 6 fields"),
        (["8/8/8/8/8/8/8/K1k5 w - - 0 1"], "; a position: plyground analyse chess --position"),
        (["nonsense"], "a position: plyground analyse connect_four --position nonsense"),
        (["--moves", "1. e4 e5 2. Ke3"], "ply 3: 'Ke3' is not legal in 'rnbq"),
        (["--position", "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "--moves", "Kb2 Kh7"], "ply 1: 'Kb2' is not legal in '7k/8"),
        (["--agent", f"search:model={ROOT}/src/plyground/trained/chess"], "has learned chess, not connect_four"),
        (["--moves", "4", "--file", "x"], "analyse takes --moves or --file, not both"),
        (["--picture", "a.png"], "the picture shows the values of a game: name one by --moves or --file"),
    ],
)
def test_bad_input_is_one_sentence(command, arguments: list[str], message: str) -> None:
    code, _, err = command("analyse", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_an_analysis_of_cards_knows_what_the_seat_to_move_may_see(command) -> None:
    start = pg.load("sequence").start(3)
    code, out, _ = command("analyse", "sequence", "--position", start.text, "--sims", "60", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["position"] == start.view
    assert {len(move["line"]) for move in found["moves"]} == {1}, "nothing below the root is known"
    assert found["moves"][0]["name"] in start.names()


@pytest.mark.parametrize("words", [("analyse", "--sims", "60"), ("play", "window", "--seed", "1", "--explain")])
def test_hidden_cards_are_not_shown(command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """The same lines for all deals that the seat to move cannot tell apart."""
    monkeypatch.setattr("plyground.agents.search.THOROUGH", 60)
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    start, shown = pg.load("sequence").start(3), set[str]()
    for seed in range(3):
        states = start.states.copy()
        start.game.kernels().determinize_all(states, np.zeros(1, np.int32), seeds(seed, 1))
        text = pg.Position(start.game, states).text
        code, out, _ = command(words[0], "sequence", *words[1:], "--position", text)
        assert (code, "visits" in out) == (0, True)
        shown.add(re.sub(r"simulations in .*", "", out))
    assert len(shown) == 1


@pytest.mark.usefixtures("wide")
def test_a_game_is_played_with_the_best_moves_explained(command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table before each move of the person; none after the last."""
    lines = iter(["4", "quit"])
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(lines))
    code, out, _ = command("play", "connect_four", "greedy", "--position", "112233", "--explain")
    assert code == 0
    assert out.count("visits") == 1
    assert "wins in 1 move" in out
