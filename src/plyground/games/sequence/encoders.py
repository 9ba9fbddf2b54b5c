"""Network inputs for Sequence, from the observing seat's point of view, with only the cards that it may know.

Known are its own cards, the face-up ones, the discards, and of another hand the cards that everybody saw it take. The
*pool* is all the rest: both copies of each kind less those, which is all that counting cards can tell.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.encoder import Encoder
from plyground.games.interface import State
from plyground.games.sequence import cards
from plyground.games.sequence.patterns import STATE_VECTOR, state_vector

Floats = NDArray[np.float32]

OWN, OWN_LOCKED, THEIRS, THEIR_LOCKED, CORNERS, LAST = range(6)
PLAYABLE = 6  # three planes: empty cells that a card fits in the own hand, face up, known with the opponents
COPIES = 9  # six planes: copies of the cell's card (halves), by where they are
HAND, DISPLAY, OPPONENTS, PARTNER, DISCARDS, POOL = range(6)
JACKS = COPIES + 6  # six pairs of constant planes: two-eyed and one-eyed jacks (quarters), by where they are
FLAGS = JACKS + 12  # seven constant planes
PLANES = FLAGS + 7


@njit
def write_features(state: State, seat: int, out: Floats) -> None:
    """How often each pattern occurs, own and the opponent's: `patterns.py`."""
    state_vector(state, seat % 2, out)


@njit
def write_planes(state: State, seat: int, out: Floats) -> None:
    """[34, 10, 10] chips, last moves, cards by where they are, jacks, flags; all between 0 and 1.

    A plane's cells stand at CELLS * plane + cell. Constant planes are counted in their first cell and then filled.
    """
    out[:] = 0
    write_chips(state, seat % 2, out)
    write_last(state, seat, out)
    write_cards(state, seat, out)
    write_flags(state, seat, out)
    for plane in range(JACKS, PLANES):
        out[cards.CELLS * plane : cards.CELLS * (plane + 1)] = out[cards.CELLS * plane]


@njit
def write_chips(state: State, side: int, out: Floats) -> None:
    """Own and the opponents' chips, unlocked and locked, and the corners."""
    for cell in range(cards.CELLS):
        mark = state["cells"][cell]
        out[cards.CELLS * OWN + cell] = mark == cards.CHIP + side
        out[cards.CELLS * OWN_LOCKED + cell] = mark == cards.LOCKED + side
        out[cards.CELLS * THEIRS + cell] = mark == cards.CHIP + 1 - side
        out[cards.CELLS * THEIR_LOCKED + cell] = mark == cards.LOCKED + 1 - side
        out[cards.CELLS * CORNERS + cell] = mark == cards.CORNER


@njit
def write_last(state: State, seat: int, out: Floats) -> None:
    """Where the other seats last placed or removed a chip."""
    for owner in range(state["seats"]):
        move = state["last"][owner]
        if owner != seat and 0 <= move < cards.TRADES:
            out[cards.CELLS * LAST + int(cards.CELL_OF[move % cards.SQUARES])] = 1


@njit
def write_cards(state: State, seat: int, out: Floats) -> None:
    """Where the cards are that the seat can locate; all others are in the pool."""
    for card in range(cards.KINDS):
        add_copies(out, POOL, card, 2)
    for owner in range(state["seats"]):
        whose = HAND if owner == seat else PARTNER if owner % 2 == seat % 2 else OPPONENTS
        for k in range(state["held"][owner]):
            if owner == seat or state["drawn"][owner, k] == cards.OPEN:
                locate(out, whose, state["hands"][owner, k])
    for k in range(state["display_size"]):
        locate(out, DISPLAY, state["display"][k])
    for k in range(state["discards_size"]):
        locate(out, DISCARDS, state["discards"][k])
    for cell in range(cards.CELLS):  # a card fits only an empty cell
        if state["cells"][cell] == cards.EMPTY:
            for k in range(3):
                out[cards.CELLS * (PLAYABLE + k) + cell] = out[cards.CELLS * (COPIES + k) + cell]


@njit
def locate(out: Floats, where: int, card: int) -> None:
    """One copy of a card is here, so it is not in the pool."""
    add_copies(out, where, card, 1)
    add_copies(out, POOL, card, -1)


@njit
def add_copies(out: Floats, where: int, card: int, copies: int) -> None:
    """Count copies of an ordinary card on its two cells, of a jack in its plane's first cell."""
    if card < cards.ORDINARY:
        for k in range(2):
            out[cards.CELLS * (COPIES + where) + int(cards.SPOTS[card, k])] += 0.5 * copies
    else:
        out[cards.CELLS * (JACKS + 2 * where + (card >= cards.JH))] += 0.25 * copies


@njit
def write_flags(state: State, seat: int, out: Floats) -> None:
    """Sequences of both sides, the trade question, the deck, whose turn it is, and the settings."""
    mine = state["sequences"][seat % 2] + state["sequences"][seat % 2 + 2]
    theirs = state["sequences"][1 - seat % 2] + state["sequences"][3 - seat % 2]
    out[cards.CELLS * FLAGS] = min(mine, cards.WIN) / cards.WIN
    out[cards.CELLS * (FLAGS + 1)] = min(theirs, cards.WIN) / cards.WIN
    out[cards.CELLS * (FLAGS + 2)] = state["traded"]
    out[cards.CELLS * (FLAGS + 3)] = state["deck_size"] / cards.ALL_CARDS
    out[cards.CELLS * (FLAGS + 4)] = state["turn"] == seat
    out[cards.CELLS * (FLAGS + 5)] = state["rules"] == cards.BOXED
    out[cards.CELLS * (FLAGS + 6)] = state["seats"] == cards.MOST_SEATS


_planes = "chips and locked chips of both sides; corners; last moves; playable cells; cards by place; flags"
ENCODERS = (
    Encoder("planes", 1, (PLANES, cards.SIZE, cards.SIZE), np.float32, write_planes, _planes, bounds=(0, 1)),
    Encoder("features", 1, (len(STATE_VECTOR),), np.float32, write_features, f"counts of {', '.join(STATE_VECTOR)}"),
)
