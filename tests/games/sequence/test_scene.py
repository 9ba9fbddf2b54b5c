"""Sequence as a scene: hands stay hidden, and each action is card, cell and card taken."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.games.scene import Item, Zone
from plyground.games.sequence.text import parse
from sequence_texts import EMPTY, HANDS, board_of, text_of


def position_of(word: str, text: str) -> pg.Position:
    """A position that need not be reachable: chips without the cards they cost."""
    game = pg.load(word)
    state = game.blank.copy()
    parse(text, state[0])
    return pg.Position(game, state)


def zones_of(position: pg.Position, seat: int) -> dict[str, Zone]:
    return {zone.name: zone for zone in position.scene(seat).zones}


def test_a_seat_sees_its_own_hand_and_of_the_others_what_everybody_knows() -> None:
    position = pg.load("sequence").position(text_of(EMPTY, HANDS)).play("place 2s b1 take 4c")
    zones = zones_of(position, 1)
    assert [cell.name for cell in zones["hand"].cells] == [f"hand:{rank}h" for rank in "234567"]
    assert [cell.items for cell in zones["seat 0"].cells] == [(Item("card:4c"),), *[(Item("card:back"),)] * 5]
    assert [cell.click for cell in zones["face up"].cells] == ["take:2c", "take:3c", "take:5c", "take:6c", "take:js"]


def test_the_board_shows_cards_chips_corners_and_locked_chips() -> None:
    text = text_of(board_of(r="b1", b="c1", X="d1", O="e1"), HANDS)
    cells = {cell.name: cell for cell in position_of("sequence", text).scene().zones[0].cells}
    assert cells["a1"].items == (Item("corner"),)
    assert (cells["b1"].items, cells["b1"].marks) == ((Item("card:2s"), Item("chip", 0)), ())
    assert cells["c1"].items == (Item("card:3s"), Item("chip", 1))
    assert (cells["d1"].items[1], cells["d1"].marks) == (Item("chip", 0), ("locked",))
    assert (cells["e1"].items[1], cells["e1"].marks) == (Item("chip", 1), ("locked",))
    assert cells["f1"].items == (Item("card:6s"),)


def test_equal_cards_have_cells_of_their_own_and_one_click() -> None:
    position = position_of("sequence", text_of(EMPTY, "2s2s3s4s5s6s,2h3h4h5h6h7h", "2c2c4c5c6c"))
    hand, face_up = zones_of(position, 0)["hand"], zones_of(position, 0)["face up"]
    assert [(cell.name, cell.click) for cell in hand.cells[:2]] == [("hand:2s", "hand:2s"), ("hand:2s:2", "hand:2s")]
    assert [(cell.name, cell.click) for cell in face_up.cells[:2]] == [("take:2c", "take:2c"), ("take:2c:2", "take:2c")]


@pytest.mark.parametrize(
    ("word", "move", "path"),
    [
        ("sequence", "place 2s b1 take 4c", ["hand:2s", "b1", "take:4c"]),
        ("sequence:rules=boxed", "place 2s b1", ["hand:2s", "b1"]),
    ],
)
def test_a_move_is_card_cell_and_card_taken(word: str, move: str, path: list[str]) -> None:
    boxed = "boxed" in word
    hands = "2s3s4s5s6s7s8s,2h3h4h5h6h7h8h" if boxed else HANDS
    position = pg.load(word).position(text_of(EMPTY, hands, "" if boxed else "2c3c4c5c6c"))
    assert position.clicks(move) == path


def test_a_jack_removes_a_chip() -> None:
    position = position_of("sequence", text_of(board_of(b="d4"), "js3s4s5s6s7s,2h3h4h5h6h7h"))
    assert position.clicks("remove d4 with js take 4c") == ["hand:js", "d4", "take:4c"]


def test_trade_and_refusal_are_offered_when_they_are_due_and_only_to_the_seat_that_acts() -> None:
    position = position_of("sequence", text_of(board_of(b="b1 g9"), HANDS))
    assert [cell.name for cell in zones_of(position, 0)["choices"].cells] == ["trade", "decline"]
    assert "choices" not in zones_of(position, 1)
    assert position.clicks("trade 2s take 4c") == ["hand:2s", "trade", "take:4c"]
    assert position.clicks("decline") == ["decline"]
    assert "choices" not in zones_of(position.play("decline"), 0)
    boxed = position_of("sequence:rules=boxed", text_of(board_of(b="b1 g9"), "2s3s4s5s6s7s8s,2h3h4h5h6h7h8h", ""))
    assert [cell.name for cell in zones_of(boxed, 0)["choices"].cells] == ["trade"]
    assert boxed.clicks("trade 2s") == ["hand:2s", "trade"]


def test_a_pass_is_offered_to_whom_nothing_else_is_left() -> None:
    taken = board_of(b="b1 g9 c1 f9 d1 e9 e1 d9 f1 c9 g1 b9")
    position = position_of("sequence", text_of(taken, HANDS, traded="1"))
    assert position.names() == ["pass"]
    assert [cell.name for cell in zones_of(position, 0)["choices"].cells] == ["pass"]
    assert position.clicks("pass") == ["pass"]


def test_the_status_counts_sequences_and_the_deck() -> None:
    assert pg.load("sequence").start(1).scene().status == "red to move; sequences 0 to 0; 87 cards in the deck"
