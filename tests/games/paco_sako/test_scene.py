"""Paco Ŝako as a scene."""

from __future__ import annotations

import plyground as pg
from plyground.games.scene import Item


def test_a_union_is_two_items_on_a_cell(paco_sako: pg.Game) -> None:
    scene = paco_sako.position("4k3/8/8/8/8/2p5/8/c3K3 w 0 - - -").scene()
    items = {cell.name: cell.items for cell in scene.cells()}
    assert items["a1"] == (Item("rook", 0), Item("pawn", 1))
    assert items["c3"] == (Item("pawn", 1),)
    assert scene.status == "White to move: lift"


def test_what_is_lifted_is_in_the_hand(paco_sako: pg.Game) -> None:
    position = paco_sako.position("4k3/8/8/8/8/2p5/8/c3K3 w 0 - - -").play("La1")
    board, hand = position.scene().zones
    assert [cell.items for cell in hand.cells] == [(Item("rook", 0), Item("pawn", 1))]
    assert [(cell.name, cell.items) for cell in board.cells if cell.marks == ("lifted",)] == [("a1", ())]
    assert position.scene().status == "White to move: place"


def test_each_action_is_one_click(paco_sako: pg.Game) -> None:
    start = paco_sako.start()
    assert start.clicks("Le2") == ["e2"]
    assert start.play("Le2").clicks("Pe4") == ["e4"]
    promoting = paco_sako.position("4k3/P7/8/8/8/8/8/4K3 w 0 - - -").play("La7").play("Pa8")
    assert [promoting.clicks(name) for name in ("=R", "=N", "=B", "=Q")] == [
        [f"promote:{kind}"] for kind in ("rook", "knight", "bishop", "queen")
    ]
    board, choices = promoting.scene().zones
    assert [cell.items for cell in choices.cells] == [(Item(k, 0),) for k in ("rook", "knight", "bishop", "queen")]
    assert [cell.name for cell in board.cells if cell.marks == ("promotes",)] == ["a8"]


def test_the_own_side_sits_below(paco_sako: pg.Game) -> None:
    assert [paco_sako.start().scene(seat).cells()[0].name for seat in (0, 1)] == ["a8", "h1"]
