"""Chess as a scene."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.games.scene import Item


@pytest.fixture(scope="module")
def rules() -> pg.Game:
    return pg.load("chess")


def test_the_own_side_sits_below(rules: pg.Game) -> None:
    for seat, corners in ((0, ("a8", "h1")), (1, ("h1", "a8"))):
        (board,) = rules.start().scene(seat).zones
        assert (board.cells[0].name, board.cells[-1].name) == corners
        pieces = {cell.name: cell.items for cell in board.cells}
        assert pieces["e1"] == (Item("king", 0),)
        assert pieces["d8"] == (Item("queen", 1),)
        assert pieces["e4"] == ()


@pytest.mark.parametrize(
    ("fen", "move", "path"),
    [
        ("startpos", "e2e4", ["e2", "e4"]),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O", ["e1", "g1"]),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "O-O-O", ["e8", "c8"]),
        ("8/4P2k/8/8/8/8/8/K7 w - - 0 1", "e8=N", ["e7", "e8", "promote:knight"]),
        ("8/4P2k/8/8/8/8/8/K7 w - - 0 1", "e8=Q", ["e7", "e8", "promote:queen"]),
        ("k7/8/8/8/8/8/3p3K/4R3 b - - 0 1", "dxe1=R", ["d2", "e1", "promote:rook"]),
    ],
)
def test_a_move_is_clicked_from_where_to_where(rules: pg.Game, fen: str, move: str, path: list[str]) -> None:
    assert rules.position(fen).clicks(move) == path


def test_promotions_are_offered_while_a_pawn_may_promote(rules: pg.Game) -> None:
    for fen, zones in (("8/4P2k/8/8/8/8/3p4/K7 {} - - 0 1", 2), ("8/8/4P2k/8/3p4/8/8/K7 {} - - 0 1", 1)):
        for side, letter in enumerate("wb"):
            found = rules.position(fen.format(letter)).scene().zones
            assert len(found) == zones
            if zones == 2:
                assert [cell.items for cell in found[1].cells] == [
                    (Item(kind, side),) for kind in ("queen", "rook", "bishop", "knight")
                ]


def test_a_king_in_check_is_marked_and_the_status_says_so(rules: pg.Game) -> None:
    scene = rules.position("4k3/8/8/8/8/8/8/K3R3 b - - 0 1").scene()
    assert [(cell.name, cell.marks) for cell in scene.cells() if cell.marks] == [("e8", ("check",))]
    assert scene.status == "Black to move, check"
    assert rules.start().scene().status == "White to move"
    assert rules.position("R6k/8/6K1/8/8/8/8/8 b - - 0 1").scene().status == "White wins: checkmate"
