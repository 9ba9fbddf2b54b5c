"""Scenes as SVG: well-formed, complete, and without what a seat cannot see."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import plyground as pg
from conftest import TINY
from plyground.games import GAMES
from plyground.games.scene import Cell, Item, Scene, Zone, listed, row
from plyground.games.svg import COLOURS, MARK, PIECES, to_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("word", [*GAMES, TINY[1]])
def test_a_position_is_a_picture_in_a_notebook(word: str) -> None:
    position = pg.load(word).start(seed=3)
    root = ElementTree.fromstring(position._repr_svg_())  # noqa: S314 (our own text)
    assert root.tag == f"{SVG}svg"
    assert position.scene().status in "".join(root.itertext())


def test_every_item_is_drawn_once(connect_four: pg.Game) -> None:
    text = connect_four.position("4435")._repr_svg_()
    assert text.count('fill="#1f5fbf"') == text.count('fill="#e0721b"') == 2
    start = pg.load("chess").start()._repr_svg_()
    assert all(start.count(figure) == 8 for figure in PIECES["pawn"])
    assert start.count(PIECES["queen"][0]) == 1


def test_a_union_has_two_pieces_side_by_side() -> None:
    cell = Cell("e4", (Item("pawn", 0), Item("rook", 1)))
    text = to_svg(Scene((Zone("board", 1, 1, (cell,)),), "a union"))
    places = [float(each.attrib["x"]) for each in ElementTree.fromstring(text) if each.text in {"♙", "♜"}]  # noqa: S314
    assert len(places) == 2
    assert places[0] < places[1]


def test_words_are_escaped_and_unknown_kinds_are_named() -> None:
    scene = Scene((Zone("board", 1, 1, (Cell("a", (Item("<dragon>", 1),)),)),), "a < b & c")
    root = ElementTree.fromstring(to_svg(scene))  # noqa: S314
    assert {"<dragon>", "a < b & c"} <= set(root.itertext())


def test_a_game_without_scenes_is_its_drawing_line_by_line_and_a_list_of_actions() -> None:
    actions = [f"a{number}" for number in range(20)]
    root = ElementTree.fromstring(to_svg(listed("2 . |\n  a b", actions, "x to move")))  # noqa: S314
    first, second, name, *names, status = root.iter(f"{SVG}text")
    assert [first.text, second.text, name.text, status.text] == ["2 . |", "  a b", "actions", "x to move"]
    assert {each.get("font-family") for each in (first, second, *names)} == {"monospace"}
    heights = [float(each.attrib["y"]) for each in root.iter(f"{SVG}text")]
    assert heights == sorted(set(heights)), "each line below the one before"
    assert " ".join(str(each.text) for each in names) == ", ".join(actions)
    assert len(names) < 4
    assert not list(root.iter(f"{SVG}circle"))


def test_a_wide_drawing_and_many_actions_stay_in_the_picture() -> None:
    root = ElementTree.fromstring(to_svg(listed("#" * 90, map(str, range(2000)), "")))  # noqa: S314
    assert float(root.attrib["width"]) > 90 * 8
    assert float(root.attrib["height"]) < 400


def test_hidden_cards_are_not_in_the_picture() -> None:
    position = pg.load("sequence").start(seed=5)
    assert to_svg(position.scene(0)) != to_svg(position.scene(1))
    assert "?" in to_svg(position.scene(0))


def test_a_mark_is_seen_on_a_card_too() -> None:
    plain, marked = (Cell("a1", (Item("card:2s"),), marks) for marks in ((), ("locked",)))
    assert MARK not in to_svg(Scene((row("board", [plain]),), ""))
    assert f"stroke:{MARK}" in to_svg(Scene((row("board", [marked]),), ""))


def test_the_last_turn_the_winning_four_and_a_king_in_danger_are_marked(connect_four: pg.Game) -> None:
    def marks(position: pg.Position) -> dict[str, int]:
        return {mark: position._repr_svg_().count(f'fill="{colour}"') for mark, colour in COLOURS.items()}

    assert marks(pg.load("chess").start()) == {"last": 0, "check": 0}
    assert marks(pg.load("chess").start().play("e2e4"))["last"] == 2
    turn = pg.load("paco_sako").start().play("Le2").play("Pe4").play("Ld7").play("Pd5").play("Le4").play("Pd5")
    assert marks(turn)["last"] == 2, "of a whole turn: from where, to where"
    four = connect_four.position("121212").play("1")
    assert (marks(four)["last"], four._repr_svg_().count(f'fill="{MARK}"')) == (0, 4), "the last stone is one of four"
    assert marks(pg.load("paco_sako").position("4k3/8/8/8/8/8/4r3/4K3 w 0 - - -"))["check"] == 1
