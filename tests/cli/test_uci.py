"""The engine as a program: driven by python-chess, and left by a GUI that dies."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import pytest

from plyground.agents.uci import find

pytestmark = pytest.mark.compiled
PROGRAM = [sys.executable, "-m", "plyground", "uci"]
PATIENCE = 300.0  # seconds: it may have to be compiled, on a busy machine


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(PROGRAM, timeout=PATIENCE) as engine:
        yield engine


def test_python_chess_plays_a_game_with_it(engine: chess.engine.SimpleEngine) -> None:
    """Both sides, with its clock; python-chess checks every move and every line."""
    board, clock = chess.Board(), chess.engine.Limit(white_clock=0.3, black_clock=0.3, white_inc=0.01, black_inc=0.01)
    while not board.is_game_over() and board.ply() < 30:
        move = engine.play(board, clock, info=chess.engine.INFO_ALL, ponder=board.ply() < 4).move
        assert move
        assert move in board.legal_moves
        board.push(move)


def test_python_chess_analyses_with_it(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board("7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20")
    best, second = engine.analyse(board, chess.engine.Limit(depth=8), multipv=2)
    score = best.get("score")
    assert score
    assert score.white() == chess.engine.Mate(2)
    first, other = best.get("pv", [])[0], second.get("pv", [])[0]
    assert first != other
    root = [move for move in board.legal_moves if move != first]
    assert engine.analyse(board, chess.engine.Limit(nodes=2000), root_moves=root).get("pv", [])[0] in root
    with engine.analysis(board) as endless:
        endless.get()
        begun = time.monotonic()
        endless.stop()
        endless.wait()
        assert time.monotonic() - begun < 0.5  # 0.005 on an idle machine


def test_python_chess_sets_its_options(engine: chess.engine.SimpleEngine) -> None:
    engine.configure({"Level": 3, "Threads": 1, "Hash": 16})
    assert engine.play(chess.Board(), chess.engine.Limit(time=5), game="another").move
    engine.configure({"Level": 10, "UCI_LimitStrength": True, "UCI_Elo": 1500})
    assert engine.play(chess.Board(), chess.engine.Limit(time=5)).move
    engine.configure({"UCI_LimitStrength": False})


def test_a_gui_that_dies_ends_it_quietly() -> None:
    """Its input ends and nobody reads its output, in the middle of a search."""
    with subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin
        assert program.stdout
        assert program.stderr
        program.stdin.write("uci\nisready\ngo infinite\n")
        program.stdin.flush()
        for line in program.stdout:
            if line.startswith("info depth"):
                break
        program.stdout.close()
        program.stdin.close()
        assert program.wait(20) == 0
        assert "Traceback" not in program.stderr.read()


def test_a_gui_that_asks_only_who_it_is_does_not_wait_for_the_compiler(tmp_path: Path) -> None:
    """Nothing is compiled in an empty cache, which takes 20 s of an idle core."""
    begun = time.monotonic()
    done = subprocess.run(
        PROGRAM,
        input="uci\nquit\n",
        env={**os.environ, "PLYGROUND_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "uciok")
    assert "Traceback" not in done.stderr
    assert time.monotonic() - begun < 15  # 0.3 on an idle machine


@pytest.mark.peers
@pytest.mark.skipif(find("polyglot") is None, reason="Polyglot is not installed (Debian: apt install polyglot)")
def test_polyglot_plays_a_game_with_it(tmp_path: Path) -> None:
    """Polyglot is how XBoard speaks to UCI engines. It translates, checks each move, and ends with its engine."""
    script = tmp_path / "engine"
    script.write_text(f"#!/bin/sh\nexec {' '.join(PROGRAM)}\n")
    script.chmod(0o700)
    polyglot = [str(find("polyglot")), "-noini", "-ec", str(script), "-ed", str(tmp_path)]
    with subprocess.Popen(polyglot, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as program:
        assert program.stdin
        said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=lambda: [said.put(line) for line in program.stdout or ()], daemon=True).start()

        def send(*lines: str) -> None:
            assert program.stdin
            program.stdin.write("".join(f"{line}\n" for line in lines))
            program.stdin.flush()

        def wait_for(word: str) -> str:
            while not (line := said.get(timeout=PATIENCE)).startswith(word):
                pass
            return line

        send("xboard", "protover 2")
        wait_for("feature done=1")
        send("new", "level 40 0:05 0", "post")
        board = chess.Board()
        while board.ply() < 20:
            move = min(board.legal_moves, key=lambda each: each.uci())
            board.push(move)
            send("time 500", "otim 500", f"usermove {move.uci()}")
            board.push_uci(wait_for("move ").split()[1])
        send("quit")
        assert program.wait(10) == 0
