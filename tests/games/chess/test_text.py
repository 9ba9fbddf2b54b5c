"""FEN and SAN: what is refused and why, what reads back, and that no text breaks a parser."""

from __future__ import annotations

import random
import re

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT
from plyground.games.chess import text as writing

START = chess.STARTING_FEN
EXAMPLES = 200 if JIT else 40


@pytest.fixture(scope="module")
def rules() -> pg.Game:
    return pg.load("chess")


# ---- FEN ----

REFUSED = {
    "e2e4": "a FEN has 6 fields .*, not 1: 'e2e4'",
    "8/8/8/8/8/8/8/8/8 w - - 0 1": "a FEN has 8 ranks, not 9",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQkq - 0 1": "rank 1 has 8 squares, not 7",
    "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1": "rank 7 has 8 squares, not 9",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBXKBNR w KQkq - 0 1": "written with .* not 'RNBXKBNR'",
    "4k3/8/8/8/8/8/8/4K3 x - - 0 1": "the side to move is 'w' or 'b', not 'x'",
    "4k3/8/8/8/8/8/8/4K3 w KX - 0 1": "castling is '-' or some of 'KQkq', not 'KX'",
    "4k3/8/8/8/8/8/8/4K3 w KK - 0 1": "castling is '-' or some of 'KQkq', not 'KK'",
    "4k3/8/8/8/8/8/8/4K3 w - e9 0 1": "the en-passant square is '-' or a square, not 'e9'",
    "4k3/8/8/8/8/8/8/4K3 w - - -1 1": "the clock is a number from 0 to 9999, not '-1'",
    "4k3/8/8/8/8/8/8/4K3 w - - 0 0": "the move number is a number from 1 to 9999, not '0'",
    "4k3/8/8/8/8/8/8/4K3 w - - ٣ 1": "the clock is a number",
    "4k3/8/8/8/8/8/8/4K3 w - - 99999 1": "the clock is a number",
    "4k3/8/8/8/8/8/8/4K1K1 w - - 0 1": "White has 2 kings",
    "8/8/8/8/8/8/8/4K3 w - - 0 1": "Black has 0 kings",
    "4k2P/8/8/8/8/8/8/4K3 w - - 0 1": "a pawn stands on h8",
    "4k3/8/8/8/8/8/8/p3K3 w - - 0 1": "a pawn stands on a1",
    "4k3/8/8/8/8/8/8/4K2r b - - 0 1": "White is in check, but Black is to move",
    "4k3/8/8/8/8/8/8/4KR2 w - e6 0 1": "en passant on e6, but no pawn can have come from e7 to e5",
    "4k3/8/8/4p3/8/8/8/4K3 w - e3 0 1": "en passant on e3, but White captures on rank 6",
    "4k3/4p3/8/4p3/8/8/8/4K3 w - e6 0 1": "en passant on e6, but no pawn can have come",
    "4k3/8/8/8/8/8/8/4K3 w K - 0 1": "castling right 'K' without king on e1 and rook on h1",
    "r3k3/8/8/8/8/8/8/4K3 w kq - 0 1": "castling right 'k' without king on e8 and rook on h8",
    "4k3/8/8/8/PPPPP3/PPPP4/8/4K3 w - - 0 1": "White has 9 pawns",
    "4k3/8/8/8/8/8/PPPPPPPP/QQ2K3 w - - 0 1": "White has more pieces than promoted pawns explain",
    "4k3/8/3N1N2/8/4R3/8/8/4K3 b - - 0 1": "more than two pieces give check",
    "x" * 5000: "a FEN has 6 fields",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_what_is_no_position_is_refused_with_its_reason(rules: pg.Game, text: str) -> None:
    with pytest.raises(pg.InvalidText, match=REFUSED[text]) as caught:
        rules.position(text)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


def test_all_problems_are_listed_at_once(rules: pg.Game) -> None:
    with pytest.raises(pg.InvalidText) as caught:
        rules.position("P3k1k1/8/8/8/8/8/8/8 w K e6 0 1")
    for part in (
        "White has 0 kings",
        "Black has 2 kings",
        "pawn stands on a8",
        "castling right 'K'",
        "en passant on e6",
    ):
        assert part in str(caught.value)


def test_counters_may_be_missing_and_spaces_do_not_matter(rules: pg.Game) -> None:
    position = rules.position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR  w KQkq -")
    assert position == rules.start()
    assert rules.position("qkKQ".join(START.split("KQkq"))).text == START  # rights in another order


def test_python_chess_finds_our_positions_valid_and_we_refuse_what_it_does(rules: pg.Game) -> None:
    """Pieces thrown on the board: we accept exactly what python-chess calls valid, promoted pieces aside."""
    rng, accepted = random.Random(4), 0
    for _ in range(3000 if JIT else 100):
        board = chess.Board(None)
        for piece in [chess.Piece(chess.KING, True), chess.Piece(chess.KING, False)] * (rng.random() < 0.97):
            board.set_piece_at(rng.randrange(64), piece)
        for _ in range(rng.choice([0, 1, 3, 8])):
            board.set_piece_at(rng.randrange(64), chess.Piece(rng.randint(1, 5), rng.random() < 0.5))
        board.turn = rng.random() < 0.5
        fen = f"{board.board_fen()} {'wb'[not board.turn]} - - 0 1"
        if len(board.checkers()) > 2 or board.status() & (
            chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS
        ):
            continue
        promoted = any(len(board.pieces(kind, side)) > 2 for kind in (2, 3, 4, 5) for side in (True, False))
        if promoted:
            continue
        if board.is_valid():
            accepted += 1
            position = rules.position(fen)
            assert position.over or sorted(position.names()) == sorted(move.uci() for move in board.legal_moves)
        else:
            with pytest.raises(pg.InvalidText):
                rules.position(fen)
    assert accepted > (300 if JIT else 5)


# ---- SAN ----


def test_san_and_its_variants_are_read(rules: pg.Game) -> None:
    position = rules.position("r3k2r/1P6/8/3pP3/8/N7/8/R3K2R w KQkq d6 0 1")
    readings = {
        "O-O": "e1g1",
        "0-0-0": "e1c1",
        "exd6": "e5d6",
        "exd6e.p.": "e5d6",
        "ed6": "e5d6",
        "b8=Q+": "b7b8q",
        "b8N": "b7b8n",
        "bxa8=R+!": "b7a8r",
        "Nc4": "a3c4",
        "Na3-c4??": "a3c4",
        "Rxh8+": "h1h8",
        "Rh1xh8": "h1h8",
        "e5e6": "e5e6",
        "a1-b1": "a1b1",
    }
    for written, name in readings.items():
        assert position.name(position.action(written)) == name, written


@pytest.mark.parametrize(
    ("fen", "move", "message"),
    [
        (START, "Nd4", "'Nd4' is not legal in .*; legal: Na3, Nc3, Nf3"),
        (START, "e2e5", "'e2e5' is not legal in .*; legal: b1a3"),
        (START, "e5", "'e5' is not legal"),
        (START, "O-O", "'O-O' is not legal"),
        (START, "", "'' is not legal"),
        (START, "e2e4q", "'e2e4q' is not legal"),
        ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "O-O", "'O-O' is not legal"),
        ("4k3/8/8/1N3N2/8/8/8/4K3 w - - 0 1", "Nd6", "'Nd6' is ambiguous in .*; it may mean: Nbd6[+], Nfd6[+]"),
        ("4k3/8/8/1N3N2/8/1N3N2/8/4K3 w - - 0 1", "Nfd4", "'Nfd4' is ambiguous in .*; it may mean: Nf3d4, Nf5d4"),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a8", "'a8' is ambiguous in .*; it may mean: a8=Q[+], a8=N, a8=B, a8=R[+]"),
        ("4k3/8/8/8/3p4/4P3/8/4K3 w - - 0 1", "d4", "'d4' is not legal"),  # only exd4
        ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", "Kg8", "the game is over"),
    ],
)
def test_moves_that_are_illegal_or_ambiguous_are_refused_and_nothing_changes(
    rules: pg.Game, fen: str, move: str, message: str
) -> None:
    position = rules.position(fen)
    with pytest.raises(pg.IllegalAction, match=message) as caught:
        position.play(move)
    assert position.text == fen
    assert "\n" not in str(caught.value)


def test_moves_are_numbered_as_in_a_pgn(rules: pg.Game) -> None:
    position = rules.position("7k/8/8/8/8/8/R7/1R4K1 w - - 0 12")
    assert [writing.move_number(each.state) for each in (position, position.play("Ra7"))] == ["12.", "12..."]


# ---- any text ----

MOVE = r"[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](=?[QRBN])?[+#]?"
LIKE_FEN = st.builds(
    lambda ranks, side, rights, passed, rest: f"{'/'.join(ranks)} {side} {rights} {passed} {rest}",
    st.lists(st.text("pnbrqkPNBRQK12345678", max_size=8), min_size=7, max_size=9),
    st.sampled_from("wbx"),
    st.text("KQkq-", min_size=1, max_size=4),
    st.one_of(st.just("-"), st.from_regex(r"[a-i][0-9]", fullmatch=True)),
    st.from_regex(r"[0-9]{0,5} [0-9]{0,3}", fullmatch=True),
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.one_of(st.text(max_size=80), LIKE_FEN))
def test_any_text_is_a_position_or_one_declared_error(text: str) -> None:
    game = pg.load("chess")
    try:
        position = game.position(text)
    except pg.InvalidText:
        return
    assert game.position(position.text) == position


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.randoms(use_true_random=False), st.data())
def test_a_legal_fen_with_one_character_changed_never_breaks_anything(rng: random.Random, data: st.DataObject) -> None:
    game = pg.load("chess")
    board = chess.Board()
    for _ in range(rng.randrange(40)):
        board.push(rng.choice(list(board.legal_moves) or [chess.Move.null()]))
    fen = board.fen()
    if board.is_valid():
        assert chess.Board(game.position(fen).text) == chess.Board(board.fen(en_passant="legal"))
    place = data.draw(st.integers(0, len(fen) - 1))
    changed = fen[:place] + data.draw(st.sampled_from("pnbrqkPNBRQK12345678/wb-KQ 0e")) + fen[place + 1 :]
    try:
        position = game.position(changed)
    except pg.InvalidText:
        return
    assert game.position(position.text) == position
    for name in position.names()[:3]:
        position.play(name)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.one_of(st.text(max_size=12), st.from_regex(MOVE, fullmatch=True)))
def test_any_text_is_a_move_or_one_declared_error(text: str) -> None:
    position = pg.load("chess").position("r3k2r/1P6/8/3pP3/8/N7/8/R3K2R w KQkq d6 0 1")
    board = chess.Board(position.text)
    try:
        move = position.name(position.action(text))
    except pg.IllegalAction:
        if re.fullmatch(MOVE, text) and not re.match("[a-h][1-8]x?[a-h]", text):  # there python-chess takes e1a1 too
            with pytest.raises(ValueError, match=" in r3k2r"):
                board.parse_san(text)
        return
    assert chess.Move.from_uci(move) in board.legal_moves
