"""Sequence's planes, one by one, against the state's own words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.sequence import encoders as planes
from plyground.games.sequence.cards import CARDS, LAYOUT
from plyground.games.sequence.text import known_hand, pool, rows

NAMES = np.array(LAYOUT.split()).reshape(10, 10)


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed,seats=4"])
def test_planes_tell_the_state_as_its_seat_knows_it(word: str) -> None:
    game = pg.load(word)
    states = laws.sample(game, 20 if JIT else 1, seed=3, most=60 if JIT else 5).states
    for state in states:
        for seat in range(int(state["seats"])):
            position = pg.Position(game, np.array([state]))
            seen = position.encode("planes", seat)
            assert seen.min() == 0
            assert seen.max() == 1
            _check_chips(seen, state, seat)
            _check_cards(seen, state, seat)
            assert (seen[planes.FLAGS + 4] == (state["turn"] == seat)).all()
            assert (seen[planes.FLAGS + 3] == np.float32(state["deck_size"] / 104)).all()
            assert (seen[planes.FLAGS + 2] == state["traded"]).all()


def _check_chips(seen: np.ndarray, state: np.void, seat: int) -> None:
    board = np.array([list(row) for row in rows(state)])
    marks = ("rXbO#", "bOrX#")[seat % 2]
    for plane, mark in enumerate(marks):
        assert np.array_equal(seen[plane], board == mark)


def _check_cards(seen: np.ndarray, state: np.void, seat: int) -> None:
    others = [other for other in range(int(state["seats"])) if other != seat]
    piles = [
        Counter(known_hand(state, seat, seat)),
        Counter(CARDS[card] for card in state["display"] if card >= 0),
        *(
            Counter(card for other in others if other % 2 == side for card in known_hand(state, seat, other))
            for side in (1 - seat % 2, seat % 2)
        ),
        Counter(CARDS[card] for card in state["discards"] if card >= 0),
        pool(state, seat),
    ]
    empty = np.array([list(row) for row in rows(state)]) == "_"
    for k, pile in enumerate(piles):
        copies = np.vectorize(lambda name, pile=pile: 0.5 * pile[name])(NAMES)
        assert np.array_equal(seen[planes.COPIES + k], copies)
        if k < 3:
            assert np.array_equal(seen[planes.PLAYABLE + k], copies * empty)
        assert (seen[planes.JACKS + 2 * k] == 0.25 * (pile["jd"] + pile["jc"])).all()
        assert (seen[planes.JACKS + 2 * k + 1] == 0.25 * (pile["jh"] + pile["js"])).all()


def test_the_last_moves_of_the_others_are_shown() -> None:
    position = pg.load("sequence").start(1)
    name = next(name for name in position.names() if name.startswith("place 2c e2"))
    position = position.play(name)
    assert np.argwhere(position.encode("planes")[planes.LAST]).tolist() == [[1, 4]]
    assert not position.encode("planes", seat=0)[planes.LAST].any()
