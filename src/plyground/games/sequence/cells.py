"""Sequence as cells: what a seat sees of a game with two or four seats.

board      10x10: 0 empty, 1 own chip, 2 the opponents', 3 own locked chip, 4 theirs, 5 corner; own is the own team's
hand       by card, how many copies: 0, 1 or 2; and so in the next four groups
partner    of the partner's hand what everybody knows; likewise
opponents  of the opponents' hands
display    the cards that lie face up
discards   the others are in the pool: in the deck, or secret in a hand
sequences  own and theirs, 2 at most
traded     1 if the trade question of this turn has been answered
deck       how many cards are left, in eights, rounded up: 0 no card, 1 one to eight, ...
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.cells import Cells, Group, Out
from plyground.games.interface import State
from plyground.games.sequence import cards

HAND = cards.CELLS  # the first cell after the board; then those of the next groups
PARTNER, OPPONENTS, DISPLAY, DISCARDS, SEQUENCES = (HAND + k * cards.KINDS for k in range(1, 6))
TRADED, DECK = SEQUENCES + 2, SEQUENCES + 3
EIGHT = 8


@njit
def write_cells(state: State, seat: int, out: Out) -> None:
    side = seat % 2
    for cell in range(HAND):
        mark = state["cells"][cell]
        if mark != cards.EMPTY and mark != cards.CORNER and side == 1:
            mark += 1 if mark % 2 == 1 else -1  # red and blue are exchanged
        out[cell] = mark
    for cell in range(HAND, SEQUENCES):
        out[cell] = 0
    for owner in range(state["seats"]):
        whose = HAND if owner == seat else PARTNER if owner % 2 == side else OPPONENTS
        for k in range(state["held"][owner]):
            if owner == seat or state["drawn"][owner, k] == cards.OPEN:
                count_card(out, whose, state["hands"][owner, k])
    count_pile(out, DISPLAY, state["display"], state["display_size"])
    count_pile(out, DISCARDS, state["discards"], state["discards_size"])
    for k in range(2):
        team = (side + k) % 2
        out[SEQUENCES + k] = min(state["sequences"][team] + state["sequences"][team + 2], cards.WIN)
    out[TRADED] = state["traded"]
    out[DECK] = (state["deck_size"] + EIGHT - 1) // EIGHT


@njit
def count_pile(out: Out, first: int, pile: NDArray[np.int8], size: int) -> None:
    """Count the cards of a pile."""
    for k in range(size):
        count_card(out, first, pile[k])


@njit
def count_card(out: Out, first: int, card: int) -> None:
    """Count one card; there are two of each."""
    cell = first + int(card)
    out[cell] = min(out[cell] + 1, cards.COPIES)


WORDS = ("own chip", "their chip", "own locked chip", "their locked chip", "corner")
CARDS = ("hand", "partner", "opponents", "display", "discards")
NAMES = [
    *(cards.cell_name(cell) for cell in range(cards.CELLS)),
    *(f"{card} in {group}" for group in CARDS for card in cards.CARDS),
    "own sequences",
    "their sequences",
    "traded",
    "deck in eights",
]
GROUPS = (
    Group("board", cards.CELLS, cards.CORNER + 1, (cards.SIZE, cards.SIZE), words=WORDS),
    *(Group(name, cards.KINDS, cards.COPIES + 1) for name in CARDS),
    Group("sequences", 2, cards.WIN + 1),
    Group("traded", 1, 2),
    Group("deck", 1, cards.ALL_CARDS // EIGHT + 1),
)
CELLS = Cells(GROUPS, write_cells, names=lambda state, seat: NAMES)
