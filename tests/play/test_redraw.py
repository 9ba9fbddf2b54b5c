"""Moves are taken back, and what the player has not seen is drawn anew."""

from __future__ import annotations

import random

import pytest

import plyground as pg
from conftest import TESTS
from plyground.errors import InvalidValue
from plyground.play.line import Line
from plyground.play.redraw import Redraw, redrawn, taken_back

DICE = str(TESTS / "tiny_games" / "dice_race.py")
CARDS = [f"sequence:rules={rules},seats={seats}" for rules in ("course", "boxed") for seats in (2, 4)]


def some_line(start: pg.Position, plies: int, seed: int) -> list[int]:
    rng, position, actions = random.Random(seed), start, list[int]()
    while len(actions) < plies and not position.over:
        actions.append(rng.choice(position.legal()))
        position = position.play(actions[-1])
    return actions


@pytest.mark.parametrize("spec", CARDS)
def test_what_a_seat_sees_stays_and_the_cards_to_come_do_not(spec: str) -> None:
    game = pg.load(spec)
    for seed in range(3):
        position = Line(game.start(seed), some_line(game.start(seed), 30, seed)).position
        seat, rules = position.seat, game.rules
        seen = {rules.view(position.state, seat)}
        next_cards = set[int]()
        for again in range(20):
            other = position.redrawn(seat, again)
            seen.add(rules.view(other.state, seat))
            assert rules.observe(other.state, seat) == rules.observe(position.state, seat)
            assert other.scene(seat) == position.scene(seat)
            assert (other.names(), other.paths()) == (position.names(), position.paths())
            assert other.problems == [], "the others' hands are consistent"
            assert other.rngs != position.rngs
            next_cards.add(int(other.state["deck"][other.state["deck_size"] - 1]))
        assert len(seen) == 1
        assert len(next_cards) > 5, "20 draws of some 60 cards"


def test_dice_that_were_seen_are_thrown_anew() -> None:
    start = pg.load(DICE).start(1)
    seen = {int(start.redrawn(0, seed).play("roll").state["last"]) for seed in range(10)}
    assert len(seen) > 5
    assert all(start.redrawn(0, seed) == start for seed in range(10)), "what lies on the table stays"


def test_a_game_in_which_everything_is_seen_or_that_is_over_stays_as_it_is() -> None:
    start, over, kept = pg.load("connect_four").start(), pg.load(DICE).position("21 20 3 0 2"), [Redraw(1, 0, 5)]
    assert taken_back(start, 0, 0, []) == (start, [])
    assert taken_back(over, 1, 0, kept) == (over, kept)


@pytest.mark.parametrize("seat", [-1, 4, 99, True, 1.5])
def test_a_seat_that_is_none_is_refused(seat: int) -> None:
    with pytest.raises(InvalidValue, match="has seats 0 to 3, not "):
        redrawn(pg.load("sequence").start(), 0, [Redraw(0, seat, 1)])
