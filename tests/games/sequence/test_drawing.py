"""Sequence as a picture of characters."""

from __future__ import annotations

import plyground as pg
from sequence_texts import EMPTY, HANDS, text_of


def test_the_picture_shows_chips_hand_display_and_the_last_move() -> None:
    position = pg.load("sequence").position(text_of(EMPTY, HANDS)).play("place 2s b1 take 4c")
    seen = position.game.rules.observe(position.state, 1)
    assert "[2s●]" in seen
    assert "face up: 2c 3c 5c 6c" in seen
    assert "blue, seat 1 (you) to move: 2h 3h 4h 5h 6h 7h" in seen
    assert "red, seat 0: 4c ?? ?? ?? ?? ??   last: place 2s b1 take 4c" in seen
    assert "3s 4s 5s 6s 7s 4c" in str(position)
