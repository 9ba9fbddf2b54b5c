"""Connect Four as a scene."""

from __future__ import annotations

import plyground as pg
from plyground.games.scene import Item


def test_discs_lie_where_the_text_has_them(connect_four: pg.Game) -> None:
    position = connect_four.position("4453")
    (board,) = position.scene().zones
    assert (board.rows, board.columns, board.column_labels) == (6, 7, tuple("1234567"))
    discs = {cell.name: cell.items for cell in board.cells if cell.items}
    first, second = (Item("disc", 0),), (Item("disc", 1),)
    assert discs == {"d1": first, "d2": second, "e1": first, "c1": second}
    drawn = "".join(".xo"[1 + cell.items[0].side if cell.items else 0] for cell in board.cells)  # type: ignore[operator]
    assert drawn == position.text.replace("/", "")


def test_any_cell_of_a_column_drops_a_disc_there(connect_four: pg.Game) -> None:
    position = connect_four.start()
    assert position.clicks("4") == ["column:4"]
    assert [cell.name for cell in position.scene().cells() if cell.click == "column:4"] == [
        f"d{k}" for k in range(6, 0, -1)
    ]


def test_the_winning_line_is_marked_in_each_direction(connect_four: pg.Game) -> None:
    lines = {
        "1121314": "a1 b1 c1 d1",
        "1212121": "a1 a2 a3 a4",
        "12233434464": "a1 b2 c3 d4",
        "76655454424": "d4 e3 f2 g1",
    }
    for moves, cells in lines.items():
        scene = connect_four.position(moves).scene()
        assert sorted(cell.name for cell in scene.cells() if cell.marks == ("win",)) == sorted(cells.split()), moves
        assert scene.status == "● wins: four in a row"
        before = connect_four.position(moves[:-1]).scene()
        assert not any(cell.marks for cell in before.cells())
