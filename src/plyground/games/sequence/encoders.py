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
Cells = NDArray[np.int8]

OWN, OWN_LOCKED, THEIRS, THEIR_LOCKED, CORNERS, LAST = range(6)
PLAYABLE = 6  # three planes: empty cells that a card fits in the own hand, face up, known with the opponents
COPIES = 9  # six planes: copies of the cell's card (halves), by where they are
HAND, DISPLAY, OPPONENTS, PARTNER, DISCARDS, POOL = range(6)
JACKS = COPIES + 6  # six pairs of constant planes: two-eyed and one-eyed jacks (quarters), by where they are
FLAGS = JACKS + 12  # seven constant planes
PLANES = FLAGS + 7

# `lines` has more planes
BUILD = PLANES  # five planes: lines of five through a cell that hold 0 .. 4 other own chips and can still be completed
BLOCK = BUILD + 5  # the same for the opponent
HEART_BUILD, HEART_BLOCK = BLOCK + 5, BLOCK + 6  # own chips on the other hearts if the opponent has none; the reverse
SLOT = BLOCK + 7  # five planes: the two cells of the card that lies there face up, or a corner for a jack
LINE_PLANES = SLOT + cards.SLOTS
TWO_EYED, ONE_EYED = cards.CORNERS[:2]  # the corners that stand for a jack in such a plane


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


# ---- lines of five ----


@njit
def write_lines(state: State, seat: int, out: Floats) -> None:
    """[51, 10, 10] `planes`, and what a chip on each cell would do in the lines of five and in the heart block."""
    write_planes(state, seat, out[: cards.CELLS * PLANES])
    out[cards.CELLS * PLANES :] = 0
    for line in range(len(cards.WINDOWS)):
        write_line(state["cells"], cards.WINDOWS[line], seat % 2, out)
    for k in range(cards.CELLS * BUILD, cards.CELLS * HEART_BUILD):
        out[k] = min(out[k], np.float32(1))
    if state["rules"] != cards.BOXED:
        write_hearts(state["cells"], seat % 2, out)
    for slot in range(state["display_size"]):
        card, first = state["display"][slot], cards.CELLS * (SLOT + slot)
        if card >= cards.ORDINARY:
            out[first + (TWO_EYED if card < cards.JH else ONE_EYED)] = 1
        else:
            out[first + int(cards.SPOTS[card, 0])] = 0.5
            out[first + int(cards.SPOTS[card, 1])] = 0.5


@njit
def write_line(cells: Cells, line: Cells, side: int, out: Floats) -> None:
    """Count one line of five for each of its cells that may change, as if that cell were empty, in quarters."""
    own, theirs, free, own_locked, their_locked = 0, 0, 0, 0, 0
    for k in range(5):
        mark = cells[line[k]]
        free += mark == cards.CORNER
        own += mark == cards.CHIP + side or mark == cards.LOCKED + side
        theirs += mark == cards.CHIP + 1 - side or mark == cards.LOCKED + 1 - side
        own_locked += mark == cards.LOCKED + side
        their_locked += mark == cards.LOCKED + 1 - side
    for k in range(5):
        cell = int(line[k])
        mark = cells[cell]
        if mark == cards.CORNER or mark >= cards.LOCKED:
            continue
        is_own, is_theirs = mark == cards.CHIP + side, mark == cards.CHIP + 1 - side
        if theirs - is_theirs == 0 and own_locked <= 1:
            out[cards.CELLS * (BUILD + min(own - is_own + free, 4)) + cell] += np.float32(0.25)
        if own - is_own == 0 and their_locked <= 1:
            out[cards.CELLS * (BLOCK + min(theirs - is_theirs + free, 4)) + cell] += np.float32(0.25)


@njit
def write_hearts(cells: Cells, side: int, out: Floats) -> None:
    """In quarters: chips on the other hearts, where all of them can still be one side's, and one for the cell."""
    for cell in cards.HEARTS:
        own, theirs = 0, 0
        for heart in cards.HEARTS:
            mark = cells[heart]
            own += heart != cell and (mark == cards.CHIP + side or mark == cards.LOCKED + side)
            theirs += heart != cell and (mark == cards.CHIP + 1 - side or mark == cards.LOCKED + 1 - side)
        out[cards.CELLS * HEART_BUILD + cell] = np.float32(0.25 * (own + 1)) if theirs == 0 else np.float32(0)
        out[cards.CELLS * HEART_BLOCK + cell] = np.float32(0.25 * (theirs + 1)) if own == 0 else np.float32(0)


def parts_of_actions() -> NDArray[np.int64]:
    """[A, 3] maps: a chip by a card, by a two-eyed jack, one removed, a trade, the two other actions; see `Encoder`."""
    found: list[tuple[int, int, int]] = []
    for slot in range(cards.SLOTS):
        for move in range(cards.MOVES):
            kind, cell = (move // cards.SQUARES + 1) // 2, int(cards.CELL_OF[move % cards.SQUARES])
            if move >= cards.TRADES:
                kind, cell = 3, int(cards.SPOTS[move - cards.TRADES, 0])
            found.append((kind, cell, SLOT + slot))
    return np.array([*found, (4, cards.CORNERS[0], -1), (4, cards.CORNERS[1], -1)], np.int64)


_planes = "chips and locked chips of both sides; corners; last moves; playable cells; cards by place; flags"
ENCODERS = (
    Encoder("planes", 1, (PLANES, cards.SIZE, cards.SIZE), np.float32, write_planes, _planes, bounds=(0, 1)),
    Encoder(
        "lines",
        1,
        (LINE_PLANES, cards.SIZE, cards.SIZE),
        np.float32,
        write_lines,
        f"{_planes}; open lines through each cell; the heart block; the face-up cards in order",
        parts=parts_of_actions,
        bounds=(0, 1),
    ),
    Encoder("features", 1, (len(STATE_VECTOR),), np.float32, write_features, f"counts of {', '.join(STATE_VECTOR)}"),
)
