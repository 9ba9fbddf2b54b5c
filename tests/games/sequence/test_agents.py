"""Sequence's policies: what they do where it is clear, and how strong they are."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.games.rng import seeds
from plyground.games.sequence.text import parse

EMPTY: str = "#________#/" + "__________/" * 8 + "#________#"


def _position(board: str, hand: str, display: str = "2c3c4c5c6c", rules: str = "course") -> pg.Position:
    game = pg.load("sequence", rules=rules)
    state = game.blank.copy()
    face_up = f"display={display}" if rules == "course" else "deck=kskd"
    parse(f"{board} turn=0 hands={hand},2h3h4h5h6h7h {face_up} discards=2s", state[0])
    return pg.Position(game, state)


def _row(number: int, marks: str) -> str:
    lines = EMPTY.split("/")
    lines[number] = marks
    return "/".join(lines)


def _choice(name: str, position: pg.Position) -> str:
    return position.name(int(make(name, position.game).act(position.states, seeds(0, 1))[0]))


@pytest.mark.parametrize("name", ["greedy", "window"])
def test_they_complete_five(name: str) -> None:
    position = _position(_row(3, "_rrrr_____"), "8c2s4s5s6s7s")  # a4 is an 8c
    assert _choice(name, position).startswith("place 8c a4")


@pytest.mark.parametrize("name", ["greedy", "window"])
def test_they_block_a_five(name: str) -> None:
    position = _position(_row(3, "_bbbb_____"), "8c2s4s5s6s7s")
    assert _choice(name, position).startswith("place 8c a4")


@pytest.mark.parametrize("name", ["greedy", "window"])
@pytest.mark.parametrize("rules", ["course", "boxed"])
def test_they_trade_a_dead_card(name: str, rules: str) -> None:
    board = _row(0, "#r_______#").replace("/" + "_" * 10 + "/#________#", "/______b___/#________#")
    position = _position(board, "2s3s4s5s6s7s", rules=rules)
    assert _choice(name, position).startswith("trade 2s")


def test_window_keeps_a_wild_jack_and_takes_another() -> None:
    position = _position(EMPTY, "jd3s4s5s6s7s", "2c3cjc5c6c")
    choice = _choice("window", position)
    assert "jd" not in choice
    assert choice.endswith("take jc")


def test_window_values_the_heart_block_by_the_courses_rules_only() -> None:
    board = _row(4, "____rr____").split("/")
    board[5] = "____r_____"
    hand = "3h5s6s7s8s9s"
    assert _choice("window", _position("/".join(board), hand)).startswith("place 3h f6")
    far = "/".join(board).replace("__________", "rrr_______", 1)
    assert _choice("window", _position(far, "3h3c6s7s8s9s", rules="boxed")) == "place 3c d2"


@pytest.mark.compiled
@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed", "sequence:seats=4"])
def test_window_beats_random_and_greedy(word: str) -> None:
    game = pg.load(word)
    window, greedy, random = (make(name, game) for name in ("window", "greedy", "random"))
    assert play_match(game, window, random, 100, seed=1).wins >= 98
    assert play_match(game, window, greedy, 400, seed=1).score >= 0.6


@pytest.mark.compiled
def test_a_match_swaps_sides_on_the_same_deal() -> None:
    game = pg.load("sequence")
    window = make("window", game)
    scores = play_match(game, window, window, 40, seed=2).scores
    assert 0.3 < scores.mean() < 0.7
    assert (scores.sum(axis=1) == 1).mean() > 0.5  # who sits well wins both games of a pair, in turn
