"""A test game with hidden cards, chance in the deal and in play, and turns that do not alternate.

Eight cards, 0 to 7. Each side holds three; one more is drawn after the first trick. The leader plays a card face up,
the other answers, the higher card takes the trick, and its owner leads the next: whoever answered and won acts twice in
a row. Four tricks; more of them win.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.errors import InvalidText
from plyground.games.encoder import Encoder
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.rng import below

CARDS, TRICKS = 8, 4
NUM_ACTIONS, MAX_LEGAL, MAX_PLIES = CARDS, 4, 2 * TRICKS
CHANCE = True
DECK, GONE, TABLE = 2, 3, 4  # where a card lies, besides the hands 0 and 1
STATE = np.dtype(
    [
        ("where", np.int8, (CARDS,)),
        ("taken", np.int8, (2,)),
        ("led", np.int8),
        ("to_move", np.int8),
        ("outcome", np.int8),
    ],
    align=True,
)


@njit
def draw_card(state, side, rng):
    """Move a random card of the deck to a hand."""
    left = 0
    for card in range(CARDS):
        left += state["where"][card] == DECK
    skip = below(rng, left)
    for card in range(CARDS):
        if state["where"][card] == DECK:
            if skip == 0:
                state["where"][card] = side
                return
            skip -= 1


@njit
def reset(state, rng):
    for card in range(CARDS):
        state["where"][card] = DECK
    for k in range(6):
        draw_card(state, k % 2, rng)
    state["led"] = -1


@njit
def legal(state, actions):
    count = 0
    for card in range(CARDS):
        if state["outcome"] == RUNNING and state["where"][card] == state["to_move"]:
            actions[count] = card
            count += 1
    return count


@njit
def play(state, action, rng):
    side = state["to_move"]
    state["where"][action] = TABLE
    if state["led"] < 0:
        state["led"] = action
        state["to_move"] = 1 - side
        return
    winner = side if action > state["led"] else 1 - side
    state["where"][action] = GONE
    state["where"][state["led"]] = GONE
    state["led"] = -1
    state["taken"][winner] += 1
    state["to_move"] = winner
    tricks = state["taken"][0] + state["taken"][1]
    if tricks == 1:
        draw_card(state, 0, rng)
        draw_card(state, 1, rng)
    if tricks == TRICKS:
        lead = state["taken"][0] - state["taken"][1]
        state["outcome"] = DRAW if lead == 0 else FIRST_WINS + (lead < 0)


@njit
def determinize(state, seat, rng):
    """Gather the opponent's hand and the deck, and deal as many again."""
    cards = 0
    for card in range(CARDS):
        if state["where"][card] == 1 - seat:
            state["where"][card] = DECK
            cards += 1
    for _ in range(cards):
        draw_card(state, 1 - seat, rng)


@njit
def write_seen(state, seat, out):
    """For each card: own, on the table, gone, or anywhere else; then the tricks."""
    for card in range(CARDS):
        where = state["where"][card]
        out[card] = 1.0 if where == seat else 2.0 if where == TABLE else 3.0 if where == GONE else 0.0
    out[CARDS] = state["taken"][seat] - state["taken"][1 - seat]


def observe(state, seat):
    """The own hand, what is on the table and what is gone."""
    marks = {seat: "+", TABLE: "!", GONE: "-"}
    return "".join(marks.get(int(where), "?") for where in state["where"])


def action_name(state, action):
    return f"card{action}"


def text(state):
    return (
        f"{''.join(map(str, state['where']))} {state['taken'][0]}{state['taken'][1]} {state['led']} {state['to_move']}"
    )


def parse(source, state):
    try:
        where, taken, led, to_move = source.split()
        state["where"], state["taken"] = [int(c) for c in where], [int(c) for c in taken]
        state["led"], state["to_move"] = int(led), int(to_move)
    except (ValueError, OverflowError):
        raise InvalidText(f"not a duel: {source!r}") from None
    lead = int(state["taken"][0]) - int(state["taken"][1])
    if state["taken"].sum() == TRICKS:
        state["outcome"] = DRAW if lead == 0 else FIRST_WINS + (lead < 0)


def problems(state):
    hands = [(state["where"] == side).sum() for side in (0, 1)]
    return [] if abs(int(hands[0]) - int(hands[1])) <= 1 else ["hands of different sizes"]


ENCODERS = (Encoder("seen", 1, (CARDS + 1,), np.float32, write_seen, "what a seat sees"),)
