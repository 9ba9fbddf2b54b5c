"""Sequence's planes, one by one, against the state's own words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.sequence import encoders as planes
from plyground.games.sequence.cards import CARDS, CELL_OF, DECLINE, LAYOUT, MOVES, SQUARES, WINDOWS
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


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed,seats=4"])
def test_line_planes_count_what_a_chip_would_do(word: str) -> None:
    game = pg.load(word)
    for state in laws.sample(game, 12 if JIT else 1, seed=4, most=60 if JIT else 5).states:
        seat = int(state["turn"])
        seen = pg.Position(game, np.array([state])).encode("lines", seat).reshape(-1, 100)
        assert np.array_equal(
            seen[: planes.PLANES], pg.Position(game, np.array([state])).encode("planes").reshape(-1, 100)
        )
        marks = "".join(rows(state))
        for first, own, other in ((planes.BUILD, "rX", "bO"), (planes.BLOCK, "bO", "rX")):
            for cell in range(100):
                counts = _lines_through(marks, cell, *((own, other) if seat % 2 == 0 else (other, own)))
                assert seen[first : first + 5, cell].tolist() == [min(1, counts[k] / 4) for k in range(5)]
        for slot in range(5):
            name = CARDS[state["display"][slot]] if slot < state["display_size"] else ""
            cells = [0, 9][name in ("jh", "js")] if name[:1] == "j" else np.flatnonzero(NAMES.ravel() == name)
            expected = np.zeros(100)
            expected[cells] = 1 if name[:1] == "j" else 0.5
            assert np.array_equal(seen[planes.SLOT + slot], expected)


def _lines_through(marks: str, cell: int, own: str, other: str) -> Counter[int]:
    """How many lines of five through a cell hold so many own chips and corners, and can still be completed."""
    found = Counter[int]()
    for line in WINDOWS.tolist():
        if cell in line and marks[cell] not in "#XO":
            rest = "".join(marks[place] for place in line if place != cell)
            locked = sum(marks[place] == own[1] for place in line)
            if not set(rest) & set(other) and locked <= 1:
                found[sum(mark in own + "#" for mark in rest)] += 1
    return found


def test_parts_of_an_action_are_its_cell_and_the_card_that_it_takes() -> None:
    game = pg.load("sequence")
    parts, played = planes.parts_of_actions(), set[tuple[int, ...]]()
    assert len(parts) == game.num_actions
    for action, (kind, cell, plane) in enumerate(parts.tolist()):
        slot, move = divmod(action, MOVES)
        assert plane == (planes.SLOT + slot if action < DECLINE else -1)
        if action < DECLINE and move < 5 * SQUARES:
            assert cell == CELL_OF[move % SQUARES]
            assert kind == (0, 1, 1, 2, 2)[move // SQUARES]
        played.add((kind, cell, plane))
    assert len(played) == game.num_actions - 2 * 5 * SQUARES, "only jacks of one kind share their parts"
