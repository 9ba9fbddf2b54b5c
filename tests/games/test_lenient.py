"""Positions that no game reaches, read with `strict=False`: refused, or played without a step outside an array.

`make test` runs this file also with bounds checked and with the compiler off, where such a step is an error.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT, ROOT, TESTS
from plyground.games.paco_sako.text import CELL_OF
from plyground.games.sequence import cards
from plyground.games.sequence.text import MARKS

EXAMPLES = 60 if JIT else 25
PLIES = 6
CHECKED = bool(numba.config.BOUNDSCHECK)  # pyright: ignore
SQUARES = [f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh"]


def exercise(position: pg.Position, choose: Callable[[int], int]) -> None:
    """Every public question about a position and the next ones, along moves that `choose` picks."""
    game = position.game
    for _ in range(PLIES):
        legal = position.legal()
        assert len(legal) <= game.rules.MAX_LEGAL
        assert list(np.flatnonzero(game.legal_mask(position.states)[0])) == legal
        assert len(position.names()) == len(legal) == len(position.paths())
        for seat in range(game.rules.SEATS if game.rules.hidden else 1):
            position.scene(seat)
            game.rules.observe(position.state, seat)
        names = list(dict.fromkeys(map(str, game.encoders.values())))
        for name in names[:: 8 if len(names) > 10 else 1]:  # of Paco Ŝako's sixteen, a tensor and an index form
            position.encode(name)
        assert position.text
        assert position.view
        if not game.rules.CHANCE:
            assert position.perft(1) == len(legal)
        if "evaluate" in game.rules.compiled:
            game.kernels("evaluate").evaluate_all(position.states, np.empty(1, np.float32))
        if not legal:
            return
        if not CHECKED:  # these kernels would be compiled for this test alone
            assert position.ask(pg.agent("greedy", game)) in legal
        position = position.play(legal[choose(len(legal))])


def read(game: pg.Game, text: str) -> pg.Position | None:
    """The position, or None where it is refused."""
    try:
        return game.position(text, strict=False)
    except pg.InvalidText:
        return None


def picked(data: st.DataObject) -> Callable[[int], int]:
    return lambda count: data.draw(st.integers(0, count - 1))


# ---- chess ----


@st.composite
def chess_texts(draw: st.DrawFn) -> str:
    """Up to forty pieces anywhere, mostly with a king each; any rights, en passant square and clock."""
    letters = draw(st.sampled_from(["PNBRQpnbrq", "QRBNqrbn", "Qq", "PpNn", "PNBRQKpnbrqk"]))
    pieces = [
        *draw(st.lists(st.sampled_from(letters), max_size=38)),
        *draw(st.sampled_from(["Kk", "Kk", "Kk", "K", ""])),
    ]
    places = draw(st.permutations(range(64)))
    cells = dict(zip(places, pieces, strict=False))
    rows = ["".join(cells.get(8 * rank + file, "1") for file in range(8)) for rank in range(8)]
    rights = draw(st.sampled_from(["-", "-", "-", "K", "Qk"]))
    passed = draw(st.sampled_from([*64 * ["-"], *SQUARES]))
    clock = draw(st.sampled_from([0, 0, 98, 149, 9999]))
    return f"{'/'.join(rows)} {draw(st.sampled_from('wb'))} {rights} {passed} {clock} 1"


@settings(max_examples=3 * EXAMPLES)
@given(data=st.data())
def test_chess(data: st.DataObject) -> None:
    position = read(pg.load("chess"), data.draw(chess_texts()))
    if position is not None:
        exercise(position, picked(data))


QUEENS = "QQQQQQQQ/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQk w - - 0 1"


def test_more_moves_than_the_lists_hold_are_refused() -> None:
    game = pg.load("chess")
    with pytest.raises(pg.InvalidText, match="White has 27 pieces, but at most 16 can be played with"):
        game.position(QUEENS, strict=False)
    with pytest.raises(pg.InvalidText, match="White may have more than 256 moves with pieces that promoted"):
        game.position("8/QQQQQQQQ/QQQQQQQ1/8/8/8/8/K6k b - - 0 1", strict=False)
    odd = "NNN5/8/8/8/8/8/8/K6k w - - 0 1"
    assert len(game.position(odd, strict=False).legal()) > 3
    with pytest.raises(pg.InvalidText, match="White has 0 kings"):
        game.position("8/8/8/8/8/8/8/k7 w - - 0 1", strict=False)
    with pytest.raises(pg.InvalidText, match="Black is in check, but White is to move"):
        game.position("k7/8/8/8/8/8/8/R6K w - - 0 1", strict=False)
    with pytest.raises(pg.InvalidText, match="castling right 'K' without"):
        game.position("4k3/8/8/8/8/8/8/4K2r w K - 0 1", strict=False)


# ---- the others ----


@st.composite
def paco_sako_texts(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.sampled_from(list(CELL_OF)), max_size=20))
    cells = dict(zip(draw(st.permutations(range(64))), pieces, strict=False))
    rows = [[cells.get(8 * rank + file, "1") for file in range(8)] for rank in range(8)]
    lifted = draw(st.sampled_from(["", "", *(f"^{square}{piece}" for square in SQUARES[::5] for piece in "PRkAq")]))
    rights = draw(st.sampled_from(["-", "AHah", "A", "h"]))
    end = f"{draw(st.integers(0, 250))} {rights} {draw(st.sampled_from(['-', *SQUARES]))} -"
    promotion = draw(st.sampled_from(["", "", "", " =a8L", " =h1F", " =c8P"]))
    return f"{'/'.join(map(''.join, rows))}{lifted} {draw(st.sampled_from('wb'))} {end}{promotion}"


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_paco_sako(data: st.DataObject, paco_sako: pg.Game) -> None:
    position = read(paco_sako, data.draw(paco_sako_texts()))
    if position is not None:
        exercise(position, picked(data))


@pytest.mark.parametrize("board", ["NNNNNNNN/NNNNNNNN/N7/8/8/8/8/k7", "/".join(["NNNNNNNN"] * 4 + ["nnnnnnnn"] * 4)])
def test_more_pieces_than_a_game_has_are_played_within_bounds(paco_sako: pg.Game, board: str) -> None:
    exercise(paco_sako.position(f"{board} w 0 - - -"), lambda count: count // 2)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_connect_four(data: st.DataObject, connect_four: pg.Game) -> None:
    columns = [data.draw(st.text("xo", max_size=6)).ljust(6, ".") for _ in range(7)]
    rows = ["".join(column[row] for column in columns) for row in reversed(range(6))]
    position = read(connect_four, "/".join(rows))
    assert position is not None, "stones may be too many, and both sides may have won"
    exercise(position, picked(data))


def test_floating_stones_are_refused(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidText, match="a stone floats in column 2"):
        connect_four.position("......./......./......./......./.x...../.......", strict=False)


def cards_text(most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(cards.CARDS), max_size=most).map("".join)


@st.composite
def sequence_texts(draw: st.DrawFn, seats: int) -> str:
    marks = st.sampled_from(MARKS[:5])
    cells = ["#" if cell in cards.CORNERS else draw(marks) for cell in range(100)]
    if draw(st.booleans()):
        cells = ["#" if cell in cards.CORNERS else "_" for cell in range(100)]
    board = "/".join("".join(cells[row : row + 10]) for row in range(0, 100, 10))
    held = st.lists(st.tuples(st.sampled_from(cards.CARDS), st.sampled_from(["", "+", "'", "'''", "''''"])), max_size=7)
    hands = ["".join(map("".join, draw(held))) for _ in range(seats)]
    deck, discards = draw(cards_text(104)), draw(cards_text(104))
    display = draw(cards_text(5)) if draw(st.booleans()) else ""
    rest = f"display={display} deck={deck} discards={discards} reshuffles={draw(st.integers(0, 3))}"
    counts = (
        f"sequences={','.join(str(draw(st.integers(0, 1))) for _ in range(seats))} traded={draw(st.integers(0, 1))}"
    )
    return f"{board} turn={draw(st.integers(0, seats - 1))} hands={','.join(hands)} {rest} {counts}"


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed", "sequence:rules=boxed,seats=4"])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_sequence(data: st.DataObject, word: str) -> None:
    game = pg.load(word)
    position = read(game, data.draw(sequence_texts(int(game.settings["seats"]))))
    if position is None:
        return
    for seat in range(int(game.settings["seats"])):
        other = position.states.copy()
        game.kernels().determinize_all(other, np.array([seat], np.int32), np.ones(1, np.uint64))
    exercise(position, picked(data))


FULL = "#________#/" + "__________/" * 8 + "#________#"


def test_more_cards_than_there_are_are_refused() -> None:
    """A pile has room for all cards, and not for one more."""
    game = pg.load("sequence")
    text = f"{FULL} hands=2s3s,4s5s display=2c deck={'2s' * 100} discards={'3s' * 100}"
    with pytest.raises(pg.InvalidText, match=r"205 cards \(there are 104\)"):
        game.position(text, strict=False)
    with pytest.raises(pg.InvalidText, match="at most 3"):
        game.position(f"{FULL} hands=2s{chr(39) * 200},4s5s", strict=False)


def test_a_game_that_names_no_limits_refuses_every_problem() -> None:
    """Its rules may index with anything that a text says."""
    rules = pg.load(ROOT / "examples" / "three_in_a_row.py").rules
    assert rules.limits == rules.problems
    game = pg.load(TESTS / "tiny_games" / "every_name.py")
    assert game.rules.limits is game.rules.defined("limits")
