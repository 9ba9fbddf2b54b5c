"""Paco Ŝako: chess in which nothing is taken. Pieces of both sides unite, and who unites with the king has won.

A turn is a sequence of actions of one player: lift a piece, place it; where it takes over a union, the piece released
there is in the hand and is placed in turn. Actions 0 .. 63 lift from a square, 64 .. 127 place on one (a1 = 0, b1 = 1,
..., h8 = 63), 128 .. 131 promote to rook, knight, bishop, queen. How pieces move is in `board.py`, what
chains can reach in `search.py`, the notations in `text.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import ONE, ZERO, lowest
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS, Actions, Rng, Setting, State
from plyground.games.paco_sako.board import BOARD, LIFT, NOWHERE, PLACE, liftable, targets
from plyground.games.paco_sako.search import WORK, act, castlings
from plyground.games.rng import mix

__all__ = ["WORK"]  # part of the contract

# ---- board ----

NUM_ACTIONS = 132
MAX_LEGAL = 64
MAX_PLIES = 30_000  # a chain may run in circles, so there is no exact bound; turns are bounded by progress
OPENING_PLIES = 8  # two turns of each side
IDLE_LIMIT = 100

FIELDS = [
    *BOARD,
    ("idle", np.uint8),  # turns begun since the last new union or promotion
    ("repetitions", np.int8),  # a setting
    ("seen", np.int8),  # how often the position has stood at the end of a turn
]
HEAD = np.dtype(FIELDS, align=True)
HISTORY = [("recorded", np.int16), ("history", np.uint64, (IDLE_LIMIT,))]  # keys of positions since the last progress
STATE = np.dtype([*FIELDS, *HISTORY], align=True)
UNCOUNTED = ("seen",)
SETTINGS = {
    "repetitions": Setting(3, (0, 2, 3, 4, 5, 6), "how often a position may stand until the game is drawn; 0: forever"),
    "castling": Setting(
        "engine",
        ("engine", "clean"),
        "whether a rook keeps its right when a chain releases it from its corner (engine) or loses it (clean)",
    ),
}

WHITE = [0x000000000000FF4A, 0x00000000000000D3, 0x000000000000003C]
BLACK = [0x4AFF000000000000, 0xD300000000000000, 0x3C00000000000000]
START = np.array([WHITE, BLACK], np.uint64)  # [2, 3] the planes


# ---- rules ----


@njit
def reset(state: State, rng: Rng) -> None:
    """The array of chess."""
    for side in range(2):
        for digit in range(3):
            state["planes"][side, digit] = START[side, digit]
    state["required"] = LIFT
    state["origin"] = NOWHERE
    state["en_passant"] = NOWHERE
    state["promoting"] = NOWHERE
    state["rights"] = 15


@njit
def legal(state: State, actions: Actions, work: State) -> int:
    """The legal actions: lifts, placements or promotions, never two kinds at once."""
    if state["outcome"] != RUNNING:
        return 0
    if state["required"] == LIFT:
        return write_actions(liftable(state), 0, actions)
    if state["required"] == PLACE:
        return write_actions(targets(state) | castlings(state, work), 64, actions)
    return write_actions(np.uint64(0b1111), 128, actions)


@njit
def write_actions(squares: np.uint64, first: int, actions: Actions) -> int:
    """List squares as actions of one sort."""
    count = 0
    while squares:
        actions[count] = first + lowest(squares)
        squares &= squares - ONE
        count += 1
    return count


@njit
def play(state: State, action: int, rng: Rng, work: State) -> None:
    """Act, and see whether the game is over."""
    if action < 64:
        state["idle"] += 1
    if act(state, action):
        state["idle"] = 0
        state["recorded"] = 0
    if state["outcome"] == RUNNING and state["required"] == LIFT:  # a turn has ended, or a gift has been accepted
        record(state)
    if state["outcome"] == RUNNING and stuck(state):
        state["outcome"] = SECOND_WINS if state["to_move"] == 0 else FIRST_WINS


# ---- outcome ----


@njit
def stuck(state: State) -> bool:
    """Whether the player who must act cannot: nothing to lift, or nowhere to place what a chain has released."""
    if state["required"] == LIFT:
        return liftable(state) == ZERO
    return state["required"] == PLACE and targets(state) == ZERO


@njit
def record(state: State) -> None:
    """Count the position, and end a game without progress."""
    if state["idle"] >= IDLE_LIMIT:
        state["outcome"] = DRAW
        return
    if state["repetitions"] == 0:
        return
    now, seen = position_key(state), 1
    for index in range(state["recorded"]):
        seen += state["history"][index] == now
    state["history"][state["recorded"]] = now
    state["recorded"] += 1
    state["seen"] = seen
    if seen >= state["repetitions"]:
        state["outcome"] = DRAW


@njit
def position_key(state: State) -> np.uint64:
    """What makes two positions the same: the pieces, who is to move, the en passant square, the rights."""
    small = np.int64(state["to_move"]) | np.int64(state["rights"]) << 1 | (np.int64(state["en_passant"]) + 1) << 8
    mixed = mix(np.uint64(small))
    for side in range(2):
        for digit in range(3):
            mixed = mix(mixed ^ state["planes"][side, digit])
    return mixed


# ---- symmetries ----
# Left and right differ by castling; exchanging the colours is what encoders do for black.


def engine_number(action: int, side: int = 0) -> int:
    """The action's number in the original interface: from 1, with the ranks mirrored for black (side 1)."""
    return 1 + (action ^ 56 if side == 1 and action < 128 else action)


def from_engine_number(number: int, side: int = 0) -> int:
    """The action that has this number there."""
    return engine_number(number - 1, side) - 1
