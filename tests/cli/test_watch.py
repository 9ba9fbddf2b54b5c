"""`plyground watch`: what is shown and what keys do. The game itself: tests/play/test_watching.py."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import plyground as pg
from plyground.cli import terminal
from plyground.cli.watch import Viewer
from plyground.play.watching import Watch, by_record


@pytest.fixture
def viewer(connect_four: pg.Game) -> Viewer:
    return Viewer(Watch(connect_four.start(), ("greedy", "random"), by_record([3, 3, 2])), speed=1.0, paused=False)


def shown(viewer: Viewer) -> str:
    with terminal.console.capture() as found:
        terminal.console.print(viewer.view())
    return found.get()


def test_keys_pause_step_go_back_and_change_the_speed(viewer: Viewer) -> None:
    viewer.press("right")
    assert viewer.paused
    assert "1. ● 4" in shown(viewer)
    viewer.press("n")
    assert "2. ○ 4" in shown(viewer)
    assert ".[○]." in shown(viewer)
    viewer.press("left")
    viewer.press("b")
    assert "the beginning" in shown(viewer)
    viewer.press("end")
    assert "2. ○ 4" in shown(viewer)
    viewer.press("home")
    assert "the beginning" in shown(viewer)
    viewer.press(" ")
    viewer.press("+")
    assert "speed 2 " in shown(viewer)
    viewer.press("-")
    viewer.press("-")
    assert "speed 0.5 " in shown(viewer)
    viewer.press("other")
    assert not viewer.quits
    viewer.press("q")
    assert viewer.quits


def test_without_a_terminal_a_game_is_a_line_for_each_turn_and_the_last_board(command, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    code, out, err = command("watch", "greedy", "random", "--seed", "1", "--save", str(file))
    assert code == 0, err
    assert out.startswith("1. ● 4\n2. ○ ")
    assert re.search(r"●, greedy, wins \(four in a row\)\.\nWrote .*game\.txt\.\n$", out)
    assert out.count("◆") == 4
    code, again, _ = command("watch", str(file))
    assert (code, again) == (0, out.partition("Wrote")[0])
    for words in (("connect_four", str(file)), (str(file), "--game", "connect_four")):
        assert command("watch", *words)[1] == again
    code, _, err = command("watch", "--save", str(file))
    assert (code, "exists already" in err) == (2, True)


def test_moves_of_chess_have_their_numbers_and_signs(command, tmp_path: Path) -> None:
    file = tmp_path / "game.pgn"
    file.write_text("1. e4 f6 2. d4 g5 3. Qh5#", encoding="utf-8")
    code, out, _ = command("watch", str(file))
    assert (code, out.splitlines()[:5]) == (0, ["1. e4", "1... f6", "2. d4", "2... g5", "3. Qh5#"])
    code, out, _ = command("watch", "greedy", "random", "--position", "7k/8/8/8/8/8/R7/1R4K1 w - - 0 9", "--seed", "1")
    assert (code, out[:3]) == (0, "9. "), "a FEN is of chess"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["greedy"], "greedy is no file; to watch agents, name two: plyground watch connect_four greedy random"),
        (["nothing.pgn"], "cannot read a game from 'nothing.pgn'"),
        (["a", "b", "c"], "watch takes [GAME] A B, or [GAME] FILE"),
        (["nobody", "random"], "no agent"),
        (["--speed", "0"], "speed is a positive number"),
    ],
)
def test_bad_words_are_one_sentence(command, words: list[str], message: str) -> None:
    code, _, err = command("watch", *words)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_saved_game_is_gone_on_with(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "game.txt"
    lines = iter(["4", f"save {file}", "quit"])
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(lines))
    code, out, _ = command("play", "connect_four", "greedy", "--side", "second", "--seed", "1")
    assert (code, f"Wrote {file}." in out) == (0, True)
    lines = iter(["5", f"save {file}", "undo", "quit"])
    code, out, err = command("play", "--load", str(file), "--seed", "1")
    assert code == 0, err
    assert "You are ○, greedy is ●." in out, "the person's side is that of the file"
    assert f"Wrote {file}." in out, "the file is the game's own"
    assert file.read_text(encoding="utf-8").count("\n○ ") == 2
    code, _, err = command("play", "--load", str(file), "--position", "44")
    assert (code, "not both" in err) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_a_game_is_followed_in_a_terminal() -> None:
    import pty

    words = ["-m", "plyground", "watch", "connect_four", "greedy", "greedy", "--speed", "50", "--seed", "1"]
    person, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    with subprocess.Popen([sys.executable, *words], env=env, **streams) as process:  # type: ignore[call-overload]
        os.close(terminal)
        text, end = "", time.monotonic() + 60
        while "wins" not in text and "draw" not in text and time.monotonic() < end:
            if select.select([person], [], [], 1.0)[0]:
                text += os.read(person, 65536).decode(errors="ignore")
        os.write(person, b"q")
        assert process.wait(20) == 0
    os.close(person)
    assert "● greedy against ○ greedy" in text
