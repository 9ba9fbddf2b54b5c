"""Pictures are drawn from scenes, for every game."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import plyground as pg
from plyground.games.scene import Cell, Item, Scene, row
from plyground.report.analysis import GameAnalysis, PlyAnalysis
from plyground.report.figures import BLUE, ORANGE, new_figure, save_figure
from plyground.report.pictures import MARK, draw_board, draw_scene, save_values


def drawn(scene: Scene) -> tuple[dict[str, tuple[float, float]], list[Circle]]:
    """The texts with their places, and the circles of a picture."""
    axes = Figure().add_subplot()
    draw_scene(axes, scene)
    texts = {text.get_text(): text.get_position() for text in axes.texts}
    return texts, [patch for patch in axes.patches if isinstance(patch, Circle)]


def coloured(circles: list[Circle], colour: str, filled: bool = True) -> list[tuple[float, float]]:
    from matplotlib.colors import same_color

    edge_or_face = (each.get_facecolor() if filled else each.get_edgecolor() for each in circles)
    pairs = zip(circles, edge_or_face, strict=True)
    return [each.center for each, found in pairs if same_color(found, colour) and each.fill == filled]  # type: ignore[attr-defined]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_every_game_can_be_drawn(game: pg.Game, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"board.{suffix}"
    figure = new_figure(6, 6)
    draw_board(figure.add_subplot(), game.start(seed=1))
    save_figure(path, figure)
    beginning = path.read_bytes()[:300]
    assert beginning.startswith(b"\x89PNG") if suffix == "png" else b"<svg" in beginning or b"<?xml" in beginning


def test_discs_and_the_winning_line_are_drawn_where_they_lie(connect_four: pg.Game) -> None:
    texts, circles = drawn(connect_four.position("1212121").scene())
    assert coloured(circles, BLUE) == [(0, 3), (0, 2), (0, 1), (0, 0)]
    assert coloured(circles, ORANGE) == [(1, 2), (1, 1), (1, 0)]
    assert coloured(circles, MARK, filled=False) == [(0, 3), (0, 2), (0, 1), (0, 0)]
    assert texts["7"] == (6, pytest.approx(-0.95))
    assert "● wins: four in a row" in texts


def test_pieces_stand_on_their_squares_and_a_union_shares_one() -> None:
    texts, _ = drawn(pg.load("chess").position("4k3/8/8/8/8/8/8/K7 w - - 0 1").scene())
    assert texts["♔"] == (0, pytest.approx(-0.04))
    assert texts["♚"] == (4, pytest.approx(6.96))
    texts, _ = drawn(pg.load("paco_sako").position("4k3/8/8/8/8/2p5/8/c3K3 w 0 - - -").scene())
    assert texts["♖"][0] < 0 < texts["♟"][0] + 0.5


def test_cards_are_drawn_with_their_suits_and_backs_without() -> None:
    hand = row("hand", [Cell("a", (Item("card:th"),)), Cell("b", (Item("card:as"),)), Cell("c", (Item("card:back"),))])
    texts, _ = drawn(Scene((hand,), "red to move"))
    assert {"10♥", "A♠", "?", "hand", "red to move"} == set(texts)


def test_an_unknown_kind_is_its_name_in_a_circle() -> None:
    texts, circles = drawn(Scene((row("zone", [Cell("a", (Item("meeple", 1),))]),), ""))
    assert texts["meeple"] == (0, 0)
    assert len(coloured(circles, "white")) == 1


def test_signs_stand_where_the_items_of_moves_would_come_to_lie() -> None:
    for word, moves in (("connect_four", {"4": (3, 0), "1": (0, 0)}), ("chess", {"e2e4": (4, 3)})):
        axes = Figure().add_subplot()
        draw_board(axes, pg.load(word).start(), {move: f"<{move}>" for move in moves})
        found = {text.get_text(): text.get_position() for text in axes.texts}
        assert {move: found[f"<{move}>"] for move in moves} == moves


def test_the_values_of_a_game_are_drawn_with_its_mistakes(tmp_path: Path) -> None:
    """An unfinished analysis of one ply, and a solved game; the worst mistakes carry their moves."""
    good = PlyAnalysis(1, "●", "4", "4", ["4"], 0.1, 1, 0.0, "", "", "")
    bad = PlyAnalysis(2, "○", "1", "4", ["4"], 0.9, 1, 0.8, "blunder", "", "")
    path = tmp_path / "values.svg"
    save_values(path, GameAnalysis("connect_four", [good, bad], 5))
    written = path.read_text(encoding="utf-8")
    assert all(f"<!-- {text} -->" in written for text in ("blunder", "solver", "1", "value for the first side"))
    save_values(path, GameAnalysis("chess", [replace(good, exact=None)], 5))
    assert "<!-- solver -->" not in path.read_text(encoding="utf-8")
