"""The engine as a program: driven by python-chess, and left by a GUI that dies."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import chess
import chess.engine
import pytest

pytestmark = pytest.mark.compiled
PROGRAM = [sys.executable, "-m", "plyground", "uci"]


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(PROGRAM, timeout=60) as engine:
        yield engine


def test_python_chess_plays_a_game_with_it(engine: chess.engine.SimpleEngine) -> None:
    """Both sides, with its clock; python-chess checks every move and every line."""
    board, clock = chess.Board(), chess.engine.Limit(white_clock=0.3, black_clock=0.3, white_inc=0.01, black_inc=0.01)
    while not board.is_game_over() and board.ply() < 30:
        played = engine.play(board, clock, info=chess.engine.INFO_ALL, ponder=board.ply() < 4)
        assert played.move in board.legal_moves
        board.push(played.move)


def test_python_chess_analyses_with_it(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board("7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20")
    best, second = engine.analyse(board, chess.engine.Limit(depth=8), multipv=2)
    assert best["score"].white() == chess.engine.Mate(2)
    assert second["pv"][0] != best["pv"][0]
    root = [move for move in board.legal_moves if move != best["pv"][0]]
    other = engine.analyse(board, chess.engine.Limit(nodes=2000), root_moves=root)
    assert other["pv"][0] in root
    with engine.analysis(board) as endless:
        endless.get()
        begun = time.monotonic()
        endless.stop()
        endless.wait()
        assert time.monotonic() - begun < 0.5  # 0.005 on an idle machine


def test_python_chess_sets_its_options(engine: chess.engine.SimpleEngine) -> None:
    engine.configure({"Level": 3, "Threads": 1, "Hash": 16})
    played = engine.play(chess.Board(), chess.engine.Limit(time=5), game="another")
    assert played.move in chess.Board().legal_moves
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
