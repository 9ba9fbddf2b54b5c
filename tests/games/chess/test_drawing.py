"""Chess as a picture of characters."""

from __future__ import annotations

import plyground as pg
from plyground.cli import terminal


def test_the_board_is_drawn() -> None:
    position = pg.load("chess").start().play("e4")
    assert str(position).splitlines() == [
        "8  r n b q k b n r  *",
        "7  p p p p p p p p",
        "6  . . . . . . . .",
        "5  . . . . . . . .",
        "4  . . . . P . . .",
        "3  . . . . . . . .",
        "2  P P P P . P P P",
        "1  R N B Q K B N R",
        "   a b c d e f g h",
    ]
    coloured = terminal.board(position)
    styles = [str(span.style) for span in coloured.spans]
    assert styles.count("bold yellow") == styles.count("bold blue") == 16
