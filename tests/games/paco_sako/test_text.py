"""Paco Ŝako as it is written: FENs, the exchange notation, turns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako import text as texts

FENS = """rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w 0 AHah - -
8/8/8/8/8/8/8/8 w 0 - - -
rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b 1 AHah d3 -
rnbqkbnr/ppppp1pp/8/5p2/3P4/8/PPP1PPPP/RNBQKBNR w 2 AHah f6 -
rnbqkbnr/pppppppp/8/8/8/8/PPP1PPPP/RNBQKBNR^d2P w 1 AHah - -
rnbqkbnr/ppp1pppp/8/3d4/8/8/PPPPPPPP/R1BQKBNR b 0 AHah - -
rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/R1BQKBNR^d5d b 1 AHah - -
4k3/8/8/8/8/8/8/4K2I w 0 H - -
8/8/8/8/8/3aP3/8/8 w 0 - - -
rnbqXbnr/ppp1pppp/8/8/4a3/8/PPPP1PPP/RNBQK1NR b 0 AHah - -
r1bqkbnr/pppppppp/8/8/4P3/5P2/PPPPu1PP/RNBQ1BNR w 0 ah - -
4e3/3P1e2/3k4/8/8/8/8/8 w 0 - - -
5rk1/ppp2pep/8/1B1ah2D/4f1b1/2N3SP/PPP2DP1/5L1K w 0 - - -
4a3/5e2/3k4/8/8/8/8/8^e8B w 1 - - - =e8P
rnbqkb1r/ppp1pppp/8/3n4/8/8/PPPPPPPP/RdBQKBNR b 4 AHah - - =b1L
2P1k3/8/8/8/8/8/8/4K3 w 1 - - - =c8F""".splitlines()


@pytest.mark.parametrize("text", FENS)
def test_texts_are_written_as_they_are_read(paco_sako: pg.Game, text: str) -> None:
    assert paco_sako.position(text).text == text


def test_both_cases_of_equal_kinds_are_read_and_lower_is_written(paco_sako: pg.Game) -> None:
    assert paco_sako.position("8/8/8/8/8/AHOVY3/8/8 w 0 - - -").text == "8/8/8/8/8/ahovy3/8/8 w 0 - - -"


def test_without_a_king_there_are_no_rights(paco_sako: pg.Game) -> None:
    assert paco_sako.position("8/8/8/8/8/8/8/R3K2R w 0 AH - -").text == "8/8/8/8/8/8/8/R3K2R w 0 - - -"
    assert paco_sako.position("4k3/8/8/8/8/8/8/R6R^e1K w 1 AH - -").text == "4k3/8/8/8/8/8/8/R6R^e1K w 1 AH - -"


def test_the_exchange_notation(paco_sako: pg.Game) -> None:
    text = "rnbqkbnr/ppp1pppp/8/3d4/8/8/PPPPPPPP/R1BQKBNR w 0 - - -"
    position = paco_sako.position(text)
    written = texts.exchange(position.state)
    assert written.splitlines()[3] == ".. .. .. NP .. .. .. .."
    assert written.splitlines()[0] == ".R .N .B .Q .K .B .N .R"
    assert paco_sako.position(written) == position


REPLAYS = {
    "startpos": (
        "Le2 Pe4 Ld7 Pd5 Le4 Pd5 Lb8 Pa6 Lf1 Pa6 Ld8 Pd5 Pd4",
        ["e2>e4", "d7>d5", "e4xd5", "Nb8>a6", "Bf1xNa6", "Qd8>Pd5>d4"],
    ),
    "4k3/8/8/8/8/8/7C/4K3 w 0 - - -": ("Lh2 Ph4 Le8 Pd8", ["PRh2>h4", "Ke8>d8"]),
    "4k3/8/8/8/8/8/7c/4K3 w 0 - - -": ("Lh2 Ph8", ["RPh2>h8"]),
    "rnbqkbn1/pppppp2/5p2/5p2/8/8/PPPPPPPC/RNBQKBNR b 0 AHa - -": (
        "Lh2 Ph8 =N Lh1 Ph8 Pg6",
        ["RPh2>h8", "=N:Rh1>Nh8>g6"],
    ),
    "4k3/8/8/8/8/8/8/R3K2R w 0 AH - -": ("Le1 Pg1 Le8 Pe7", ["0-0", "Ke8>e7"]),
    "r3k2r/8/8/8/8/8/8/4K3 b 0 ah - -": ("Le8 Pc8", ["0-0-0"]),
    "4e3/3P1e2/3k4/8/8/8/8/8 w 0 - - -": ("Ld7 Pe8 =N Pf7 Pe8 Pd6", ["d7>Be8=N>Bf7>Ne8xKd6"]),
    "4k3/2P5/8/8/8/8/8/4K3 w 0 - - -": ("Lc7 Pc8 =Q", ["c7>c8=Q"]),
    "8/8/8/8/2p5/8/3D4/4K3 w 0 - - -": ("Ld2 Pd4 Lc4 Pd3 Pe1", ["PNd2>d4", "c4>Nd3xKe1"]),
    "8/8/8/8/4p3/4P3/3P4/8 w 0 - - -": ("Ld2 Pd4 Le4 Pd3", ["d2>d4", "e4xd3"]),
}


@pytest.mark.parametrize("text", REPLAYS)
def test_turns_in_replay_notation(paco_sako: pg.Game, text: str) -> None:
    actions, turns = REPLAYS[text]
    position = paco_sako.position(text)
    assert analysis.replay(position, actions.split()) == turns
    side = position.to_move
    assert [name for k, turn in enumerate(turns) for name in texts.read_turn(turn, (side + k) % 2)] == actions.split()


@pytest.mark.parametrize("written", ["", "e2", "e2>e9", "e4=Q", "0-0-0-0", "e2e4", ">e4"])
def test_what_is_no_turn_is_refused(written: str) -> None:
    with pytest.raises(pg.InvalidText, match="is no turn"):
        texts.read_turn(written, 0)


REFUSED = {
    "e4": "is neither a FEN such as",
    "8/8/8/8/8/8/8/8": "is not a FEN of Paco Ŝako",
    "8/8/8/8/8/8/8 w 0 - - -": "8 ranks of 8 squares, not 8, 8, 8, 8, 8, 8, 8 ",
    "8/8/8/8/8/8/8/9 w 0 - - -": "is written '9'",
    "8/8/8/8/8/8/8/7? w 0 - - -": "no piece and no union is written",
    "8/8/8/8/8/8/8/71K w 0 - - -": "not 8, 8, 8, 8, 8, 8, 8, 9",
    "8/8/8/8/8/8/8/8^e2p w 0 - - -": "no piece of the player to move, white",
    "8/8/8/8/8/8/8/8^e2? w 0 - - -": "is not a FEN",
    "8/8/8/8/8/8/8/8^e2k w 0 - - -": "no piece of the player to move, white",
    "8/8/8/8/8/8/8/8 w 999 - - -": "ends at 100, not at 999",
    "8/8/8/8/8/8/8/8 w 0 - - - =e8F": "does not fit",
    "2P5/8/8/8/8/8/8/8 w 0 - - - =c8P": "does not fit",
    "8/8/8/8/8/8/8/8 w 0 KQkq - -": "is not a FEN",
    "x" * 5000: "at most 1000 characters, not 5000",
    ".. ..": "nor 8 lines of 8 cells",
    "\n".join([".. " * 8] * 7 + [".. " * 7 + "PX"]): "no cell is written 'PX'",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:20])
def test_what_is_no_text_is_refused_with_its_reason(paco_sako: pg.Game, text: str) -> None:
    with pytest.raises(pg.InvalidText) as caught:
        paco_sako.position(text)
    assert REFUSED[text] in str(caught.value)
    assert len(str(caught.value)) < 500


WRONG = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w 0 AHah - -": [],
    "rnbqXbnr/ppp1pppp/8/8/4a3/8/PPPP1PPP/RNBQK1NR b 0 AHah - -": [],
    "rnbqXbnr/ppp1pppp/8/8/4a3/8/PPPP1PPP/RNBQK1NR w 0 AHah - -": [
        "the black king on e8 is in a union, but the game goes on"
    ],
    "rnbqkbnr/pppppppp/8/8/8/P7/PPPPPPPP/RNBQKBNR w 0 - - -": ["white has 17 pieces, not 16", "white has 9 pawns"],
    "rnbqkbnr/pppppppp/8/8/8/R7/PPPPPPPP/1NBQKBNR w 0 Aah - -": ["castling right A, but no white rook on a1"],
    "rnbq1bnr/ppppkppp/4p3/8/8/8/PPPPPPPP/RNBQKBNR w 0 ah - -": [
        *("castling right a, but no black king on e8", "castling right h, but no black king on e8"),
    ],
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w 0 AHah e3 -": ["no pawn of black has just passed over e3"],
    "r5Rb/1P6/4fa2/p2P1I1p/1RT1E1rP/1s2kN2/1b6/2T2v1K^a4F b 18 - a3 -": [],  # lifted with the pawn that has passed
    "r5Rb/1P6/4fa2/p2P1I1p/1RT1E1rP/1s2kN2/1b6/2T2v1K^b4F b 18 - a3 -": [
        *("no pawn of white has just passed over a3", "the hand has lifted from b4, but the square is not empty"),
    ],
    "Pnbqkbnr/pppppppp/8/8/8/7r/1PPPPPPP/RNBQKBNR w 0 AHh - -": ["a white pawn on a8, its last rank, is not promoting"],
    "4k3/8/8/8/8/8/8/8 w 0 - e4 -": [
        *("white has 0 pieces, not 16", "white has 0 kings", "black has 1 pieces, not 16"),
        "no pawn of black has just passed over e4",
    ],
    "rnbqkbnr/pppppppp/8/8/8/8/1PPPPPPP/NNBQKBNR^a1P w 1 Hah - -": [
        *("white has only 1 R, but no piece is ever lost", "the hand has lifted from a1, but the square is not empty"),
    ],
}


def test_a_counter_above_its_range_is_refused_and_its_layer_ends_at_1(paco_sako: pg.Game) -> None:
    text = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w {} AHah - -"
    for idle in (101, 120, 250):
        with pytest.raises(pg.InvalidText, match=f"{idle} turns without progress"):
            paco_sako.position(text.format(idle))
    assert paco_sako.position(text.format(100)).encode("tensor")[-1].max() == 1.0


@pytest.mark.parametrize("text", WRONG)
def test_all_problems_are_listed(paco_sako: pg.Game, text: str) -> None:
    problems = paco_sako.position(text).problems
    assert problems == WRONG[text]
    if problems:
        with pytest.raises(pg.InvalidText) as caught:
            paco_sako.position(text, strict=True)
        assert "; ".join(problems) in str(caught.value)
    else:
        assert paco_sako.position(text, strict=True) == paco_sako.position(text)


@settings(max_examples=300 if JIT else 30, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.text("rnbqkRNBQKadeo/8 wb-^=", max_size=90),
        st.builds("/".join, st.lists(st.text("PpKkRnaDxz", min_size=8, max_size=8), min_size=8, max_size=8)).map(
            "{} w 3 Ah d3 -".format
        ),
    )
)
def test_any_text_is_a_position_or_one_declared_error(text: str) -> None:
    game = pg.load("paco_sako")
    try:
        position = game.position(text)
    except pg.InvalidText:
        return
    assert game.position(position.text) == position
    assert isinstance(position.problems, list)
    assert bool(position.legal()) != position.over
