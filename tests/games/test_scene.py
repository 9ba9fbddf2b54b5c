"""Scenes as plain data: defaults, boards for both seats, the status line, JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.scene import Cell, Item, Scene, as_json, board, row, square_board, status


def test_a_cell_is_clicked_by_its_name_unless_it_has_another_word() -> None:
    assert Cell("e4").click == "e4"
    assert Cell("a1", click="column:1").click == "column:1"
    assert Cell("e4") == Cell("e4", click="e4")


def test_a_board_is_turned_for_the_other_seat() -> None:
    rows = [[Cell("a2"), Cell("b2")], [Cell("a1"), Cell("b1")]]
    assert [cell.name for cell in board(rows).cells] == ["a2", "b2", "a1", "b1"]
    turned = board(rows, "21", "ab", turned=True)
    assert [cell.name for cell in turned.cells] == ["b1", "a1", "b2", "a2"]
    assert (turned.row_labels, turned.column_labels) == (("1", "2"), ("b", "a"))
    squares = [Cell(f"{file}{rank}") for rank in range(1, 9) for file in "abcdefgh"]
    assert [square_board(squares, seat).cells[0].name for seat in (0, 1, 2, 3)] == ["a8", "h1", "a8", "h1"]


@pytest.mark.parametrize(
    ("outcome", "side", "line"),
    [
        (RUNNING, 1, "black to move, check"),
        (DRAW, 0, "draw: stalemate"),
        (FIRST_WINS, 1, "white wins: stalemate"),
        (FIRST_WINS + 1, 0, "black wins: stalemate"),
    ],
)
def test_the_status_says_who_moves_or_who_has_won(outcome: int, side: int, line: str) -> None:
    state = np.array([(side, outcome)], [("to_move", np.int8), ("outcome", np.int8)])[0]
    assert status(state, ("white", "black"), "stalemate", ", check") == line
    assert status(state, ("white", "black"), "") in (line.split(":")[0], "black to move")


def test_a_scene_as_json_reads_back_the_same() -> None:
    scene = Scene((row("hand", [Cell("hand", (Item("pawn", 0), Item("card:qh")), ("locked",))]),), "white to move")
    assert json.loads(json.dumps(as_json(scene))) == {
        "zones": [
            {
                "name": "hand",
                "rows": 1,
                "columns": 1,
                "cells": [
                    {
                        "name": "hand",
                        "items": [{"kind": "pawn", "side": 0}, {"kind": "card:qh", "side": None}],
                        "marks": ["locked"],
                        "click": "hand",
                    }
                ],
                "row_labels": [],
                "column_labels": [],
            }
        ],
        "status": "white to move",
    }


def test_a_game_without_scenes_shows_its_drawing_and_its_actions() -> None:
    position = pg.load(TINY[1]).start()
    picture, actions = position.scene().zones
    assert picture.cells[0].items == (Item("text:----o---- 0 0 running"),)
    assert [cell.click for cell in actions.cells] == ["action:left", "action:right", "action:rest"]
    assert position.clicks("rest") == ["action:rest"]
    assert position.paths() == {0: ["action:left"], 1: ["action:right"], 2: ["action:rest"]}
    assert position.scene().status == "first to move"


def test_the_list_of_actions_is_for_the_seat_that_acts() -> None:
    """The legal actions of a card game are its hand."""
    position = pg.load(TINY[0]).start(seed=5)
    own, other = position.scene(position.seat), position.scene(1 - position.seat)
    assert [zone.name for zone in own.zones] == ["picture", "actions"]
    assert [zone.name for zone in other.zones] == ["picture"]
    assert position.scene() == own


def test_clicks_of_an_illegal_move_are_refused(connect_four: pg.Game) -> None:
    with pytest.raises(pg.IllegalAction, match="legal: 1, 2, 3, 5, 6, 7"):
        connect_four.position("444444").clicks("4")


def test_the_example_marks_its_winning_line() -> None:
    game = pg.load(ROOT / "examples" / "three_in_a_row.py")
    scene = game.position("xxxoo....").scene()
    assert [cell.name for cell in scene.cells() if cell.marks == ("win",)] == ["a1", "b1", "c1"]
    assert scene.status == "x wins"
    assert game.start().clicks("b2") == ["b2"]
