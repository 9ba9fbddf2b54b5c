"""Chess as a network sees it, against planes built square by square from python-chess."""

from __future__ import annotations

import chess
import numpy as np
import pytest

import plyground as pg
from plyground.backend.games import on_device
from plyground.checks import laws

KINDS = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
RIGHTS = {
    True: (chess.BB_H1, chess.BB_A1),
    False: (chess.BB_H8, chess.BB_A8),
}


@pytest.fixture(scope="module")
def rules() -> pg.Game:
    return pg.load("chess")


@pytest.fixture(scope="module")
def sample(rules: pg.Game) -> laws.Sample:
    return laws.sample(rules, 40, seed=12, most=400)


def naive_flat839(board: chess.Board) -> list[float]:
    out: list[float] = []
    for colour in (chess.WHITE, chess.BLACK):
        for kind in KINDS:
            out += [float(square in board.pieces(kind, colour)) for square in range(64)]
    out.append(float(board.turn))
    out += [float(bool(board.castling_rights & bit)) for colour in (True, False) for bit in RIGHTS[colour]]
    passed = board.ep_square if board.has_legal_en_passant() else None
    out += [float(square == passed) for square in range(64)]
    return [*out, min(1.0, board.halfmove_clock / 100), min(1.0, board.fullmove_number / 200)]


def naive_planes(board: chess.Board, seat: int, repetitions: int) -> np.ndarray:
    me = seat == 0
    planes = np.zeros((20, 8, 8), np.float32)
    for square, piece in board.piece_map().items():
        row = chess.square_rank(square) if me else 7 - chess.square_rank(square)
        planes[KINDS.index(piece.piece_type) + 6 * (piece.color != me), row, chess.square_file(square)] = 1
    if board.has_legal_en_passant():
        assert board.ep_square is not None
        row = chess.square_rank(board.ep_square) if me else 7 - chess.square_rank(board.ep_square)
        planes[12, row, chess.square_file(board.ep_square)] = 1
    for k, (colour, wing) in enumerate([(me, 0), (me, 1), (not me, 0), (not me, 1)]):
        planes[13 + k] = bool(board.castling_rights & RIGHTS[colour][wing])
    planes[17], planes[18] = repetitions >= 2, repetitions >= 3
    planes[19] = min(board.halfmove_clock, 100) / 100
    return planes


def test_flat839_is_what_its_description_says(rules: pg.Game, sample: laws.Sample) -> None:
    found = rules.encode("flat839", sample.states)
    assert found.shape[1] == 839
    for row, state in zip(found, sample.states, strict=True):
        assert row == pytest.approx(naive_flat839(chess.Board(rules.rules.text(state))), abs=1e-7)


def test_the_order_of_the_pieces_is_p_n_b_r_q_k(rules: pg.Game) -> None:
    """The project that this encoder comes from had two orders, and its warm start permuted the inputs."""
    flat = rules.start().encode("flat839")
    where = [np.flatnonzero(flat[64 * plane : 64 * plane + 64]).tolist() for plane in range(12)]
    assert where[:6] == [list(range(8, 16)), [1, 6], [2, 5], [0, 7], [3], [4]]
    assert where[6:] == [list(range(48, 56)), [57, 62], [58, 61], [56, 63], [59], [60]]


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_planes_and_index_agree_with_a_naive_twin(rules: pg.Game, sample: laws.Sample, seat: int | None) -> None:
    states = sample.every
    planes, tokens = rules.encode("planes", states, seat), rules.encode("index", states, seat)
    assert tokens.dtype == np.int16
    assert np.array_equal(on_device(rules, "numpy").expand("index", tokens).reshape(planes.shape), planes)
    for row, state in zip(planes, states, strict=True):
        looking = int(state["to_move"]) if seat is None else seat
        expected = naive_planes(chess.Board(rules.rules.text(state)), looking, int(state["repetitions"]))
        assert np.array_equal(row, expected)


def test_special_planes_are_seen(rules: pg.Game) -> None:
    position = rules.position("4k3/8/8/8/3pP3/8/8/R3K3 b Q e3 0 1")
    planes = position.encode("planes")
    assert planes[12, 5, 4] == 1  # e3, upside down
    assert planes[13:17, 0, 0].tolist() == [0, 0, 0, 1]
    shuffled = rules.start()
    for move in ["Nf3", "Nf6", "Ng1", "Ng8"]:
        shuffled = shuffled.play(move)
    assert shuffled.encode("planes")[17:, 0, 0].tolist() == pytest.approx([1, 0, 0.04])
    for move in ["Nf3", "Nf6", "Ng1", "Ng8"]:
        shuffled = shuffled.play(move)
    assert shuffled.encode("planes")[17:, 0, 0].tolist() == pytest.approx([1, 1, 0.08])
    assert 838 not in shuffled.encode("index")[[37, 38]]
    assert shuffled.reason == "third occurrence"


def test_a_mirrored_position_looks_the_same_and_offers_the_same_slots(rules: pg.Game, sample: laws.Sample) -> None:
    slots = rules.slots("planes")
    assert np.array_equal(rules.slots("index"), slots)
    assert np.array_equal(rules.slots("flat839"), np.tile(np.arange(rules.num_actions), (2, 1)))
    for state in sample.states[::7]:
        position = rules.position(rules.rules.text(state))
        mirrored = rules.position(chess.Board(position.text).mirror().fen())
        for encoder in ("planes", "index"):
            one, other = position.encode(encoder), mirrored.encode(encoder)
            assert np.array_equal(np.sort(one.reshape(-1)), np.sort(other.reshape(-1)))
        assert np.array_equal(position.encode("planes"), mirrored.encode("planes"))
        masks = [rules.legal_mask(each.states)[0] for each in (position, mirrored)]
        seen = [set(slots[each.to_move][mask]) for each, mask in zip((position, mirrored), masks, strict=True)]
        assert seen[0] == seen[1]


def test_under_promotions_keep_their_slots(rules: pg.Game) -> None:
    white, black = rules.position("7k/1P6/8/8/8/8/8/K7 w - - 0 1"), rules.position("7k/8/8/8/8/8/1p6/7K b - - 0 1")
    slots = rules.slots("planes")
    assert [slots[0][white.action(f"b7b8{piece}")] for piece in "qnbr"] == [
        slots[1][black.action(f"b2b1{piece}")] for piece in "qnbr"
    ]
