"""The compiled twin of chess beside python-chess, in ten thousand positions: it has to be right before it can prove."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import chess
import numpy as np
import pytest

from conftest import JIT
from naive import chess as naive
from torture.twins import Chess

pytestmark = pytest.mark.once
GAMES, PLIES, LONG = (8, 30, 300) if JIT else (1, 2, 2)  # from each position in four ways, and how long
STARTS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 20",  # castling, and rooks that take rooks
    "r3k2r/1P4P1/8/3nn3/3NN3/8/1p4p1/R3K2R w KQkq - 0 1",  # pawns that take rooks and promote
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "8/1p1p4/2p5/KP3p1r/1R2Pp1k/8/4P1P1/8 b - - 0 1",  # en passant that would open a rank to the king
    "4k3/3p4/8/b3P3/8/2N5/3P4/4K3 b - - 0 1",  # pins along diagonals
    "4k3/8/8/2Pp4/8/8/8/b3K2q w - d6 0 2",  # in check beside a pawn that could capture en passant
    "8/8/8/8/8/1k6/1q6/K7 w - - 12 80",  # checkmate
    "R6k/8/6K1/8/8/8/8/8 b - - 150 99",  # checkmate comes before the clock
    "7k/5Q2/8/8/8/8/8/K7 b - - 0 50",  # stalemate
    "k7/1q6/8/8/8/8/1Q6/K7 w - - 0 1",
    "5k2/4P3/4K3/8/8/8/8/8 w - - 0 60",
    "5b1k/8/8/4B3/8/6n1/8/K1b4N b - - 0 40",  # what is left is often too little to mate
    "4kb2/8/8/8/8/8/3n4/2B1KB2 b - - 0 1",  # bishops on squares of both colours can mate,
    "4kb2/8/8/8/8/8/3n4/2B1K3 w - - 0 1",  # those on squares of one colour cannot
    "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 30 60",  # pawns that never move again: only counters end this one
    "r3k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K2R w Kq - 0 1",
)
CASTLINGS = ("e1g1", "e1c1", "e8g8", "e8c8")
ENDINGS = ("", "checkmate", "stalemate", "insufficient material", "{} occurrence", "{}-move rule")


def twin_of(board: chess.Board, automatic: bool) -> Any:
    """[1] the compiled twin in a position of python-chess."""
    twin = naive.started(1, automatic)
    for square in chess.SQUARES:
        piece = board.piece_at(square)
        sign = 1 if piece and piece.color else -1
        twin["board"][0, naive.SQUARES[square]] = piece.piece_type * sign if piece else naive.EMPTY
    rights = enumerate((chess.H1, chess.A1, chess.H8, chess.A8))
    twin["castling"] = sum(1 << bit for bit, rook in rights if board.castling_rights & 1 << rook)
    twin["passed"] = naive.NOWHERE if board.ep_square is None else naive.SQUARES[board.ep_square]
    twin["to_move"], twin["clock"], twin["move_number"] = not board.turn, board.halfmove_clock, board.fullmove_number
    twin["boards"], twin["repetitions"] = 0, 0  # nothing was before
    naive.look_at_all(twin)
    return twin


def state_of(twin: Any) -> list[Any]:
    """As `torture.twins.Chess.state`."""
    many, moves = ("fifth", 75) if twin["automatic"] else ("third", 50)
    names = "castling", "en_passant", "to_move", "check", "repetitions", "clock", "move_number"
    outcome = ("RUNNING", "DRAW", "FIRST_WINS", "SECOND_WINS")[twin["outcome"]]
    ending = ENDINGS[twin["ending"]].format(many if twin["ending"] == naive.REPETITION else moves)
    sets = *map(int, twin["pieces"]), *map(int, twin["sides"])
    return [*sets, *(twin[name].item() for name in names), outcome, ending]


def name_of(board: chess.Board, action: int) -> str:
    """An action's UCI move, as docs/rules/chess.md numbers them."""
    if action < 4096:
        start, end = divmod(action, 64)
        queen = board.piece_type_at(start) == chess.PAWN and end // 8 in (0, 7)
        return chess.SQUARE_NAMES[start] + chess.SQUARE_NAMES[end] + ("q" if queen else "")
    (file, way), piece = divmod((action - 4096) // 3, 3), (action - 4096) % 3
    start, end = ("7", "8") if board.turn else ("2", "1")
    return chess.FILE_NAMES[file] + start + chess.FILE_NAMES[file + way - 1] + end + "nbr"[piece]


def special(board: chess.Board, name: str) -> str:
    """The kind of a move that is castling, a promotion or en passant; else nothing."""
    if name in CASTLINGS and board.piece_type_at(chess.parse_square(name[:2])) == chess.KING:
        return name
    if board.is_en_passant(chess.Move.from_uci(name)):
        return "en passant"
    return f"promotion to {name[4]}" if len(name) == 5 else ""


def chosen(board: chess.Board, names: list[str], patient: bool, rng: random.Random) -> str:
    """A random move, special ones before others; a patient side goes back where it came from, to repeat positions."""
    played = board.move_stack[-2].uci() if len(board.move_stack) > 1 else ""
    if patient and played[2:4] + played[:2] in names and rng.random() < 0.7:
        return played[2:4] + played[:2]
    first = [name for name in names if special(board, name)]
    return rng.choice(first if first and rng.random() < 0.3 else names)


def follow(fen: str, automatic: bool, patient: bool, rng: random.Random, seen: Counter[str]) -> None:
    """Play one game beside both."""
    other = Chess({"draws": "automatic"} if automatic else {})
    other.board, other.seen = chess.Board(fen), Counter()
    other.look()
    twins, board = twin_of(other.board, automatic), other.board
    for _ in range(PLIES if patient or fen not in STARTS[-2:] else LONG):
        actions = twins["actions"][0, : twins["count"][0]].tolist()
        names = {name_of(board, action): action for action in actions}
        assert state_of(twins[0]) == other.state(), board.fen()
        assert len(actions) == len(names), board.fen()
        assert set(names) == other.legal(), board.fen()
        seen["positions"] += 1
        if not names:
            seen[other.ending] += 1
            break
        name = chosen(board, sorted(names), patient, rng)
        seen[special(board, name)] += 1
        seen["in check"] += board.is_check()
        seen["pinned"] += board.is_pinned(board.turn, chess.parse_square(name[:2]))
        other.play(name)
        assert naive.play_all(twins, np.array([names[name]], np.int32))


def test_it_agrees_with_python_chess() -> None:
    rng, seen = random.Random(0), Counter[str]()
    for fen in STARTS:
        for _ in range(GAMES):
            for automatic in (False, True):
                for patient in (False, True):
                    follow(fen, automatic, patient, rng, seen)
    promotions = (f"promotion to {piece}" for piece in "nbrq")
    counted = "third occurrence", "fifth occurrence", "50-move rule", "75-move rule"
    wanted = *CASTLINGS, *promotions, *counted, *ENDINGS[1:4], "en passant", "in check", "pinned"
    assert not JIT or min(seen[name] for name in wanted) >= 5, seen
    assert not JIT or seen["positions"] >= 10_000


def test_a_move_that_is_not_legal_is_refused() -> None:
    twins = naive.started(2, automatic=False)
    assert not naive.play_all(twins, np.array([12 * 64 + 28, 12 * 64 + 36], np.int32))  # e2e4, e2e5
    assert twins["clock"].tolist() == [0, 0]
    assert twins["to_move"].tolist() == [1, 0]
