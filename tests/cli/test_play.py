"""A game typed in the terminal: what is read, what is asked back, what is shown and kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.agent import make
from plyground.cli import playing
from plyground.games.chess import pgn as chess_pgn

Type = Callable[..., str]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """What a person sees who types these lines."""

    def run(position: pg.Position, *lines: str, against: str = "random", side: int = 0) -> str:
        answers = iter([*lines, None])
        monkeypatch.setattr(playing, "_ask", lambda _: next(answers))
        monkeypatch.setattr("plyground.cli.playing.console._width", 200)
        playing.play(position, make(against, position.game), against, side, seed=1)
        return capsys.readouterr().out

    return run


def said(position: pg.Position, text: str) -> str:
    """The question or the refusal that a text gets."""
    with pytest.raises(pg.IllegalAction) as error:
        playing.read(position, text)
    return str(error.value)


# ---- reading ----


def test_a_part_of_a_name_does_where_it_is_clear() -> None:
    position = pg.load("sequence").start(3)  # hand: jh 2h tc 6s ts 8h; face up: 4h kc 5s 5c ts
    for text in ("place ts j2 take 5c", "ts j2 5c", "TS J2 5C", "5c j2 ts"):
        (action,) = playing.read(position, text)
        assert position.name(action) == "place ts j2 take 5c"
    assert [position.name(a) for a in playing.read(position, "ts j2 ts")] == ["place ts j2 take ts"]


def test_a_part_that_fits_several_moves_is_asked_about() -> None:
    position = pg.load("sequence").start(3)
    assert said(position, "ts j2") == "ts j2: take 4h, kc, 5s, 5c or ts?"
    assert said(position, "ts") == "ts: j2 or b6?"
    assert said(position, "qs j3").startswith("'qs j3' is not legal here")
    assert said(pg.load("chess").start(), "b1") == "b1: Na3 or Nc3?"


def test_an_answer_completes_what_was_asked_about(typed: Type) -> None:
    shown = typed(pg.load("sequence").start(3), "ts", "j2", "5c")
    assert "ts j2: take 4h, kc, 5s, 5c or ts?" in shown
    assert "last: place ts j2 take 5c" in shown


@pytest.mark.parametrize("text", ["e2e4", "e2>e4", "e2-e4", "Le2 Pe4", "e2 e4"])
def test_a_whole_turn_of_paco_sako_is_read(text: str) -> None:
    position = pg.load("paco_sako").start()
    names = []
    for action in playing.read(position, text):
        names.append(position.name(action))
        position.play(action)
    assert names == ["Le2", "Pe4"]


def test_what_is_no_whole_turn_is_refused() -> None:
    for text in ("e2e5", "e2e4e5", "Le2 Le2", "e2 nonsense"):
        assert "is not legal here" in said(pg.load("paco_sako").start(), text)


def test_moves_of_chess_are_read_in_both_notations() -> None:
    position = pg.load("chess").start()
    for text in ("Nf3", "nf3", "g1f3", "Ng1-f3"):
        assert position.name(playing.read(position, text)[0]) == "g1f3"


def test_moves_are_grouped() -> None:
    names = [f"place qs {cell} take {card}" for cell in ("j3", "b4") for card in ("6s", "qd")]
    names += ["place 2h a1 take 6s", "place 2h a1 take qd", "pass"]
    assert playing.grouped([name.split() for name in names]) == [
        "place qs j3, b4 take 6s, qd",
        "place 2h a1 take 6s, qd",
        "pass",
    ]


# ---- showing ----


def test_a_refusal_quotes_no_state_and_question_marks_help(typed: Type) -> None:
    shown = typed(pg.load("connect_four").position("4453"), "9", "help")
    assert "'9' is not legal here; legal: 1, 2, 3, 4, 5, 6, 7" in shown
    assert "/......." not in shown
    assert "save FILE" in shown


def test_paco_sako_says_how_to_type(typed: Type) -> None:
    assert typed(pg.load("paco_sako").start()).count("the square to lift, then the square to place") == 1
    assert typed(pg.load("paco_sako").start(), "help").count("the square to lift, then the square to place") == 2


def test_chess_is_shown_as_the_player_sits(typed: Type) -> None:
    white = typed(pg.load("chess").position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"), side=0)
    assert "random plays K" in white
    rows = [line for line in white.splitlines() if line[:2].strip().isdigit()]
    assert [row[0] for row in rows] == list("87654321")
    assert rows[-1] == "1  ·  ·  ·  ·  ♔  ·  ·  ·"
    assert sum(row.count("[") for row in rows) == 2, "the king's move, from where to where"
    black = typed(pg.load("chess").position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"), side=1)
    assert black.index("1  ·  ·  ·  ♔") < black.index("8  ·  ·  ·  ♚") < black.index("h  g  f  e")


def test_a_check_is_said() -> None:
    assert "White to move, in check" in pg.load("chess").rules.observe(
        pg.load("chess").position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1").state, 0
    )


# ---- the game ----


def test_resigning_ends_the_game_and_new_begins_one(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "1", "resign", "1", "new", "1")
    assert "You resign: random wins." in shown
    assert "The game is over." in shown
    assert shown.count("random plays") == 2


@pytest.mark.parametrize("piece", ["Q", "q", "=Q", "e8=Q"])
def test_an_answer_completes_a_promotion(typed: Type, piece: str) -> None:
    shown = typed(pg.load("chess").position("7k/4P3/8/8/8/8/8/K7 w - - 0 1"), "e8", piece)
    assert "e8: e8=Q, e8=N, e8=B or e8=R?" in shown
    assert "random plays" in shown


@pytest.mark.parametrize("word", ["q", "Q"])
def test_a_letter_that_may_be_a_piece_does_not_quit(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: word)
    assert playing._ask("your move") == word


def test_a_resignation_is_taken_back_alone(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "resign", "undo", "1", "resign", "undo", "2")
    assert "nothing to take back" not in shown
    assert shown.count("random plays") == 2
    shown = typed(pg.load("connect_four").start(), "resign", "new game", "undo 1")
    assert shown.count("The game is over.") == 2


def test_an_agent_that_fails_loses_but_the_game_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def act(self, states: Any, rngs: Any) -> Any:
            if len(states):
                raise pg.Error("the engine is gone")
            return np.zeros(0, np.int32)

    answers = iter(["1", f"save {tmp_path / 'game'}", None])
    monkeypatch.setattr(playing, "_ask", lambda _: next(answers))
    playing.play(pg.load("connect_four").start(), Broken(), "broken", 0, seed=1)
    assert "result: ● wins\n\n● 1\n" in (tmp_path / "game").read_text()


def test_a_saved_game_is_not_written_over_by_the_next(typed: Type, tmp_path: Path) -> None:
    shown = typed(pg.load("chess").start(), f"save {tmp_path / 'a'}", "new", f"save {tmp_path / 'a'}")
    assert "is there already" in shown


def test_a_new_game_of_cards_is_dealt_anew(typed: Type) -> None:
    shown = typed(pg.load("sequence").start(1), "new", "new")
    hands = {line for line in shown.splitlines() if line.startswith("red, seat 0")}
    assert len(hands) == 3


def test_a_game_is_saved_in_its_notation(typed: Type, tmp_path: Path) -> None:
    file, pgn = tmp_path / "game.txt", tmp_path / "game.pgn"
    typed(pg.load("connect_four").position("121212"), "1", f"save {file}")
    assert file.read_text() == "game: connect_four\n●: you\n○: random\n" + (
        "position: ......./......./......./xo...../xo...../xo.....\nresult: ● wins (four in a row)\n\n● 1\n"
    )
    shown = typed(pg.load("chess").start(), "e4", f"save {pgn}", "resign", f"save {pgn}", side=0)
    assert shown.count("Wrote") == 2
    (record,) = chess_pgn.read(pgn.read_text())
    assert record.result == "0-1"
    assert record.tags["White"] == "you"
    assert len(record.actions) == 2
    assert "is there already" in typed(pg.load("chess").start(), f"save {pgn}")
    assert "cannot write" in typed(pg.load("chess").start(), f"save {tmp_path}/none/x")
    assert len(pgn.read_text()) > 100


def test_a_saved_game_of_cards_tells_no_secret(typed: Type, tmp_path: Path) -> None:
    start = pg.load("sequence").start(1)
    typed(start, f"save {tmp_path / 'game'}")
    assert (
        tmp_path / "game"
    ).read_text() == "game: sequence\nred: you\nblue: random\nseed: 1\nresult: not finished\n\n"
    typed(pg.load("sequence").start(7), f"save {tmp_path / 'given'}")  # not the deal of the seed
    assert "position: given" in (tmp_path / "given").read_text()


# ---- the process ----


COUNT_COMPILATIONS = """
import sys
from numba.core import event
from plyground import cli, playing
run = playing.Sitting.run
def counted(sitting):
    with event.install_recorder("numba:compile") as found:
        run(sitting)
    print("compiled:", len(found.buffer))
playing.Sitting.run = counted
sys.argv = ["plyground", "play", sys.argv[1], "--seed", "1"]
cli.main()
"""


def test_everything_compiles_before_the_greeting(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COUNT_COMPILATIONS, str(ROOT / "examples" / "three_in_a_row.py")],
        input="hint\na1\nmoves\nundo\nquit\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PLYGROUND_CACHE": str(tmp_path)},
    )
    assert done.stderr.count("compiling") == 2  # rules and minimax
    assert "would play" in done.stdout
    assert "compiled: 0" in done.stdout


def test_ctrl_c_says_good_bye() -> None:
    command = [sys.executable, "-u", "-m", "plyground", "play"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        shown = ""
        while not shown.endswith("> "):
            shown += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("Good-bye.\n")
        assert process.wait(timeout=5) == 130


def test_a_terminal_without_our_signs_shows_letters() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    for arguments, wanted in ((["solve", "4453"], " . . o x x . ."), (["play", "chess"], "1  R  N  B  Q  K  B  N  R")):
        command = [sys.executable, "-m", "plyground", *arguments]
        done = subprocess.run(command, input="", capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        assert wanted in done.stdout
