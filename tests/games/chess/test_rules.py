"""Chess against python-chess: legal moves, notation, outcomes and draws, in random and in shuffling games."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys

import chess
import numba
import pytest

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.chess.text import text

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
FULL_SPEED = JIT and not numba.config.BOUNDSCHECK  # pyright: ignore
POSITIONS = 300 if FULL_SPEED else 25 if JIT else 8  # from each beginning, with each setting: 3600 in all
BEGINNINGS = {
    "startpos": chess.STARTING_FEN,
    "castling, en passant, promotions": KIWIPETE,
    "promotions": "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "pins along the rank": "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "few pieces": "8/8/1B2k3/8/4K3/2n5/8/6b1 w - - 0 70",
    "clocks run": "4k2r/7p/8/8/8/8/P7/R3K3 b Qk - 97 60",
}


@pytest.fixture(scope="module", params=["claimed", "automatic"])
def variant(request: pytest.FixtureRequest) -> pg.Game:
    return pg.load("chess", draws=request.param)


def expected_end(board: chess.Board, automatic: bool) -> tuple[str, str]:
    """Outcome and reason by python-chess."""
    if board.is_checkmate():
        return ("SECOND_WINS" if board.turn else "FIRST_WINS"), "checkmate"
    if board.is_stalemate():
        return "DRAW", "stalemate"
    if board.is_insufficient_material():
        return "DRAW", "insufficient material"
    if board.is_repetition(5 if automatic else 3):
        return "DRAW", f"{'fifth' if automatic else 'third'} occurrence"
    if board.halfmove_clock >= (150 if automatic else 100):
        return "DRAW", f"{75 if automatic else 50}-move rule"
    return "RUNNING", ""


def compare(position: pg.Position, board: chess.Board) -> None:
    """Everything that can be said about one position."""
    assert position.text == board.fen(en_passant="legal")
    assert bool(position.state["checkers"]) == board.is_check()
    assert position.to_move == (not board.turn)
    end = expected_end(board, position.game.settings["draws"] == "automatic")
    assert (position.outcome.name, position.reason) == end
    occurred = next(n for n in range(6, 0, -1) if board.is_repetition(n))
    assert position.state["repetitions"] == occurred
    if position.over:
        assert position.legal() == []
        return
    assert sorted(position.names()) == sorted(move.uci() for move in board.legal_moves)
    assert position.legal() == sorted(position.legal())
    again = position.game.position(board.fen(en_passant=random.choice(["fen", "legal", "xfen"])))
    assert again == position
    assert again.legal() == position.legal()
    assert again.outcome == position.outcome


def compare_san(position: pg.Position, board: chess.Board) -> None:
    for action, name in zip(position.legal(), position.names(), strict=True):
        written = position.notation(action)
        assert written == board.san(chess.Move.from_uci(name))
        assert position.action(written) == action
        assert position.action(written.rstrip("+#")) == action


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_random_games_agree_with_python_chess(variant: pg.Game, beginning: str) -> None:
    rng = random.Random(beginning)
    seen = 0
    while seen < POSITIONS:
        board, position = chess.Board(BEGINNINGS[beginning]), variant.position(BEGINNINGS[beginning])
        while True:
            compare(position, board)
            seen += 1
            if position.over or (seen >= POSITIONS and not FULL_SPEED):
                break
            if seen % 3 == 0 or not FULL_SPEED:  # about 40,000 moves
                compare_san(position, board)
            name = rng.choice(position.names())
            position = position.play(name)
            board.push_uci(name)


@pytest.mark.parametrize("beginning", ["startpos", "castling, en passant, promotions", "few pieces", "clocks run"])
def test_shuffling_games_agree_on_repetition_and_clocks(variant: pg.Game, beginning: str) -> None:
    rng = random.Random(beginning)
    endings: set[str] = set()
    for number in range(12 if FULL_SPEED else 2):
        board, position = chess.Board(BEGINNINGS[beginning]), variant.position(BEGINNINGS[beginning])
        while not position.over and (JIT or len(board.move_stack) < 30):
            name = _shuffle(board, rng, back=0.3 if number % 2 else 0.9)
            position = position.play(name)
            board.push_uci(name)
            assert (position.outcome.name, position.reason) == expected_end(
                board, variant.settings["draws"] == "automatic"
            )
            assert position.state["repetitions"] == next(n for n in range(6, 0, -1) if board.is_repetition(n))
            assert position.text == board.fen(en_passant="legal")
        endings.add(position.reason)
    if FULL_SPEED and beginning != "clocks run":
        assert any("occurrence" in ending for ending in endings)


def _shuffle(board: chess.Board, rng: random.Random, back: float) -> str:
    """A move that undoes the side's last one, or else moves a piece without capturing, if there is one."""
    if len(board.move_stack) >= 2 and rng.random() < back:
        last = board.move_stack[-2]
        undo = chess.Move(last.to_square, last.from_square)
        if undo in board.legal_moves:
            return undo.uci()
    quiet = [move for move in board.legal_moves if not board.is_zeroing(move)]
    return rng.choice(quiet or list(board.legal_moves)).uci()


@pytest.mark.compiled
def test_clocks_of_50_and_75_moves_are_reached(variant: pg.Game) -> None:
    """Kings and rooks walk about, never three times to the same place."""
    limit = 150 if variant.settings["draws"] == "automatic" else 100
    rng = random.Random(5)
    reasons: list[str] = []
    for _ in range(20):
        board = chess.Board("3rk3/8/8/8/8/8/8/3RK3 w - - 0 1")
        position = variant.position(board.fen())
        while not position.over:
            moves = [move for move in board.legal_moves if not board.is_zeroing(move)] or list(board.legal_moves)
            move = rng.choice(moves)
            board.push(move)
            position = position.play(move.uci())
            assert (position.outcome.name, position.reason) == expected_end(board, limit == 150)
        reasons.append(position.reason)
        if position.reason.endswith("move rule"):
            assert position.state["clock"] == limit
    assert f"{limit // 2}-move rule" in reasons


def test_mate_on_the_hundredth_ply_wins() -> None:
    game = pg.load("chess")
    position = game.position("7k/5K2/8/8/8/8/8/6R1 w - - 99 80").play("g1h1")
    assert position.state["clock"] == 100
    assert (position.outcome, position.reason) == (pg.Outcome.FIRST_WINS, "checkmate")


def test_the_setting_is_part_of_the_name() -> None:
    game = pg.load("chess:draws=automatic")
    assert str(game) == "chess:draws=automatic"
    assert str(pg.load("chess")) == "chess"
    assert game.position("4k3/8/8/8/8/8/8/R3K3 w - - 120 90").outcome == pg.Outcome.RUNNING
    assert pg.load("chess").position("4k3/8/8/8/8/8/8/R3K3 w - - 120 90").outcome == pg.Outcome.DRAW
    with pytest.raises(pg.InvalidValue, match="claimed, automatic"):
        pg.load("chess:draws=never")


def test_the_most_moves_known_fit() -> None:
    position = pg.load("chess").position("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(position.legal()) == 218
    assert position.perft(1) == 218


def test_keys_of_different_positions_differ() -> None:
    """No two of many positions share a key, and a key ignores the counters."""
    sample = laws.sample(pg.load("chess"), 60 if JIT else 1, seed=3)
    keys: dict[int, str] = {}
    for state in sample.states[:: 1 if JIT else 20]:
        placed = text(state).rsplit(" ", 2)[0]
        key = int(state["history"][state["clock"]])
        assert keys.setdefault(key, placed) == placed
    assert len(set(keys.values())) == len(keys)


# ---- Stockfish ----


def stockfish() -> str:
    found = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if not found:
        pytest.skip("Stockfish is not installed")
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("fen", BEGINNINGS.values(), ids=list(BEGINNINGS))
def test_divide_counts_like_stockfish(fen: str) -> None:
    counts = pg.load("chess").position(fen).divide(4)
    lines = [*(f"{name}: {count}" for name, count in counts.items()), f"Nodes searched: {sum(counts.values())}"]
    assert sorted(lines) == stockfish_divides(fen, 4)


@pytest.mark.compiled
def test_the_command_prints_the_lines_of_stockfish() -> None:
    command = [sys.executable, "-m", "plyground", "perft", "chess", "--position", KIWIPETE, "--depth", "5", "--divide"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert sorted(line for line in printed.splitlines() if line) == stockfish_divides(KIWIPETE, 5)


def stockfish_divides(fen: str, depth: int) -> list[str]:
    asked = f"position fen {fen}\ngo perft {depth}\nquit\n"
    answer = subprocess.run([stockfish()], input=asked, capture_output=True, text=True, check=True).stdout
    return sorted(
        line for line in answer.splitlines() if re.fullmatch(r"[a-h1-8nbrq]{4,5}: \d+|Nodes searched: \d+", line)
    )
