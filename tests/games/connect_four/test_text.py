"""Connect Four as people write it: columns, boards, arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.connect_four import text as texts


@pytest.mark.parametrize("moves", ["1", "1212121", "4455667", "7162534", "333333222222"])
def test_column_strings_play_like_moves(connect_four: pg.Game, moves: str) -> None:
    position = connect_four.start()
    for move in moves:
        position = position.play(move)
    assert connect_four.position(moves) == position


def test_a_full_board_is_a_draw(connect_four: pg.Game) -> None:
    text = "xxoxxox/ooxooxo/xxoxxox/ooxooxo/xxoxxox/ooxooxo"
    state = connect_four.blank.copy()
    texts.parse(text, state[0])
    assert pg.Outcome(int(state["outcome"][0])) == pg.Outcome.DRAW


def test_a_board_array_reads_back(connect_four: pg.Game) -> None:
    position = connect_four.position("44531177")
    array = position.encode("board")
    assert connect_four.position(array) == position
    assert connect_four.position(array.tolist()) == position


def test_columns_finds_an_order_that_leads_there(connect_four: pg.Game) -> None:
    sample = laws.sample(connect_four, 100 if JIT else 3, seed=5)
    for row in range(0, len(sample.after), 7):
        position = pg.Position(connect_four, sample.after[row : row + 1])
        order = texts.columns(position.state)
        assert order is not None
        assert connect_four.position(order) == position


REFUSED = {
    "8": "no column '8' .move 1 of '8'.; columns are 1 to 7",
    "1111111": "column 1 is full at move 7 of '1111111'; open columns: 2, 3, 4, 5, 6, 7",
    "12121212": "the game is over after '1212121', but '12121212' goes on",
    "e4": "'e4' is neither a string of columns 1 to 7 nor a board",
    "......./......./......./......./...x...": "nor a board of 6 rows of 7 cells",
    "......./......./......./......./...q.../..ox...": "no stone is written 'q'",
    "......./......./......./......./...x.../.......": "a stone floats in column 4",
    "......./......./......./......./......./oo.....": "0 stones of x against 2 of o",
    "......./......./......./......./oooo.../xxxx...": "both sides have four in a row",
    "......./......./......./......./ooo..../xxxxo..": "x has four in a row, but the other side moved last",
    "......./......./......./......./......./oxoxoxo": "3 stones of x against 4 of o",
    "......./......./......./......./x....../o......": "no order of moves leads there",
    "x" * 5000: "at most 1000 characters, not 5000",
    "1" * 5000: "at most 1000 characters, not 5000",
    "٤٤": "neither a string of columns",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:12])
def test_what_is_no_position_is_refused_with_its_reason(connect_four: pg.Game, text: str) -> None:
    with pytest.raises(pg.InvalidText, match=REFUSED[text]) as caught:
        connect_four.position(text)
    assert len(str(caught.value)) < 500


def test_all_problems_are_listed_at_once(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidText, match=r"floats in column 1; 0 stones of x against 3 of o"):
        connect_four.position("......./......./......./o....../......./oo.....")


@pytest.mark.parametrize(
    "array", [np.zeros((7, 6)), np.full((6, 7), 3), np.zeros(42), [[0] * 7] * 5, "abc", None, np.full((6, 7), np.nan)]
)
def test_what_is_no_board_array_is_refused(connect_four: pg.Game, array: object) -> None:
    with pytest.raises(pg.InvalidText):
        connect_four.position(array)


def test_a_board_with_one_stone_more_has_the_second_side_to_move(connect_four: pg.Game) -> None:
    board = np.zeros((6, 7), int)
    board[3:] = [[0, 0, 0, 2, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0], [1, 2, 0, 2, 1, 0, 0]]
    assert (board == 1).sum() == 4
    assert (board == 2).sum() == 3
    position = connect_four.position(board)  # four against three: then the second side is to move
    assert position.to_move == 1


@settings(max_examples=300 if JIT else 30, deadline=None)
@given(
    st.one_of(st.text(max_size=60), st.text(".xo/\n 1234567", max_size=60), st.text("xo.", min_size=42, max_size=42))
)
def test_any_text_is_a_position_or_one_declared_error(text: str) -> None:
    game = pg.load("connect_four")
    if len(text) == 42 and "/" not in text:
        text = "/".join(text[k : k + 7] for k in range(0, 42, 7))
    try:
        position = game.position(text)
    except pg.InvalidText:
        return
    assert game.position(position.text) == position
