"""Connect Four as a picture of characters."""

from __future__ import annotations

import plyground as pg


def test_a_drawn_board_reads_back(connect_four: pg.Game) -> None:
    position = connect_four.position("4453")
    drawn = str(position)
    assert drawn.splitlines()[-3:] == [" . . . ○ . . .", " . . ○ ● ● . .", " 1 2 3 4 5 6 7"]
    assert connect_four.position(drawn) == position
    assert connect_four.position(position.text) == position
    assert connect_four.position(position.text.replace("/", "\n")) == position
