"""Sequence in words: texts of states."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT
from plyground.play import typed
from sequence_texts import EMPTY, HANDS, board_of, text_of


def test_a_text_reads_back_and_can_be_typed() -> None:
    game = pg.load("sequence")
    position = game.position(text_of(EMPTY, HANDS))
    assert game.position(position.text) == position
    after = position.play("place 2s b1 take 4c")
    assert game.position(after.text) == after
    assert "hands=3s4s5s6s7s4c+,2h3h" in after.text
    assert "last=place-2s-b1-take-4c," in after.text


def test_a_ten_may_be_typed_as_people_write_it() -> None:
    position = pg.load("sequence").position(text_of(EMPTY, "tsth4s5s6s7s,2h3h4h5h6h7h"))
    assert position.action("place 10s j2 take 4c") == position.action("place ts j2 take 4c")
    for typed_text, same in (("10s j2 4c", "ts j2 4c"), ("10H 4c j2", "th 4c j2"), ("10s", "ts"), ("10d", "td")):
        assert typed.candidates(position, typed_text) == typed.candidates(position, same)
    assert typed.candidates(position, "10s"), "it is held"


def test_the_example_of_the_prompt_can_be_played() -> None:
    game = pg.load("sequence")
    example = game.rules.TYPING.partition("(")[2].partition(")")[0]
    position = game.position(text_of(EMPTY, HANDS, "jd3c4c5c6c"))
    assert [position.name(action) for action in typed.read(position, example)] == ["place 2s b1 take jd"]


REFUSED = {
    "e4": "ten rows of ten cells, not 'e4'",
    EMPTY.replace("#", "r", 1): "'r' at a1: the corner holds only '#'",
    EMPTY.replace("_", "#", 1): "'#' at b1: a cell is '_', 'r', 'b', 'X' or 'O'",
    f"{EMPTY} hands=2s1s,": "no card '1s' in hands=2s1s",
    f"{EMPTY} hands=2s????,": "this is a seat's view",
    f"{EMPTY} deck=87": "this is a seat's view, not a whole state",
    f"{EMPTY} hands=2s": "has 1 parts for 2 seats",
    f"{EMPTY} hands=2s2s3s3s4s4s5s,": "hands holds at most 6 cards, not 7",
    f"{EMPTY} turn=2": "turn is a number from 0 to 1, not '2'",
    f"{EMPTY} trun=0": "did you mean 'turn'",
    f"{EMPTY} turn": "cannot read 'turn'",
    f"{EMPTY} last=place-2s-a1,": "no action 'place-2s-a1'",
    text_of(EMPTY, HANDS).replace("deck=2s", "deck=3s"): "3 copies of 3s .there are 2.; missing cards: 2s",
    text_of(EMPTY, "2s3s4s,2h3h4h5h6h7h"): "seat 0 holds 3 cards, not 6",
    text_of(board_of(r="b1"), HANDS): "1 chips on the board, but only 0 cards were played",
    text_of(board_of(X="b1"), HANDS, rest="discards"): "red has 0 sequences and some locked chips",
    "x" * 5000: "at most 3000 characters, not 5000",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: REFUSED[text][:30])
def test_what_is_no_position_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(pg.InvalidText, match=REFUSED[text]) as caught:
        pg.load("sequence").position(text)
    assert len(str(caught.value)) < 600


PIECES = st.sampled_from(["2s", "jd", "+", "'", ",", "??", "zz", "12", "#", "_" * 10, "/", "=", "place-2s-b1"])
WORDS = st.sampled_from(["turn", "hands", "display", "deck", "discards", "sequences", "last", "traded", "passes", "x"])


@settings(max_examples=200 if JIT else 20, deadline=None)
@given(st.lists(st.tuples(WORDS, st.lists(PIECES, max_size=8)), max_size=6), st.booleans(), st.text(max_size=20))
def test_any_text_is_a_position_or_one_declared_error(
    words: list[tuple[str, list[str]]], board: bool, other: str
) -> None:
    text = " ".join([EMPTY if board else other, *(f"{key}={''.join(parts)}" for key, parts in words)])
    game = pg.load("sequence")
    try:
        position = game.position(text)
    except pg.InvalidText:
        return
    assert game.position(position.text) == position
