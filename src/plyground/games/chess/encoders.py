"""Network inputs for chess.

`planes` [20, 8, 8], as the observing seat sees the board: its own pieces below, row 0 its first rank. Black's board is
turned upside down (not left to right), and so are its actions (`slot`).

    0-5   own pawns, knights, bishops, rooks, queens, king
    6-11  the opponent's
    12    the square of a legal en-passant capture
    13-16 castling rights: own king's and queen's side, the opponent's
    17-18 this position has been on the board before: at least once, at least twice
    19    plies without capture or pawn move, as a share of 100

`index` [40] is the same as tokens of a vocabulary, for a network with an embedding or for `spread`:

    0-831    a piece or the en-passant square: 64 * plane + square
    832-837  planes 13 to 18, all ones
    838      nothing: fills the slots that are not needed
    839-939  the last plane: 839 + its plies, 100 at most

Slots 0-31 hold the pieces, 32 en passant, 33-36 castling, 37-38 repetition, 39 the clock.

`flat839` [839] is absolute, as the chess DQN it comes from describes it: white P N B R Q K, black P N B R Q K (64
squares each, a1 first), 1 if White is to move, castling K Q k q, the en-passant square (64), clock / 100, move number
/ 200, both 1 at most.
A network with it has 4096 outputs, the first 4096 actions: a promotion is to a queen.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import ONE, ZERO
from plyground.games.chess.board import NO_SQUARE, QUEENING_ACTIONS, lowest
from plyground.games.encoder import Encoder
from plyground.games.interface import State

Floats = NDArray[np.float32]
Tokens = NDArray[np.int16]

PLANES = 20
EN_PASSANT, CASTLING, REPEATED, CLOCK = 12, 13, 17, 19
CELLS = 64 * CASTLING  # tokens below are single squares
NOTHING = CELLS + CLOCK - CASTLING
CLOCKS = NOTHING + 1
TURNED = 64 * 56 + 56
F0, F1 = np.float32(0), np.float32(1)
UNIT = 0.0, 1.0


@njit
def slot(action: int, seat: int) -> int:
    """Black's actions upside down. Promotions to less than a queen are numbered by files, the same for both."""
    return action ^ TURNED if seat == 1 and action < QUEENING_ACTIONS else action


@njit
def counted(state: State) -> np.int64:
    """The clock, 100 at most."""
    return np.int64(state["clock"]) if state["clock"] < 100 else np.int64(100)


@njit
def write_index(state: State, seat: int, out: Tokens) -> None:
    """The tokens of a position; the last slots always mean the same."""
    turned = np.uint64(56 * seat)
    count = 0
    for plane in range(12):
        side = seat if plane < 6 else 1 - seat
        rest = state["pieces"][plane % 6] & state["sides"][side]
        while rest != ZERO:
            out[count] = 64 * plane + np.int64(lowest(rest) ^ turned)
            count += 1
            rest &= rest - ONE
    for empty in range(count, 39):
        out[empty] = NOTHING
    if state["en_passant"] != NO_SQUARE:
        out[32] = 64 * EN_PASSANT + np.int64(np.uint64(state["en_passant"]) ^ turned)
    rights = np.int64(state["castling"])
    if seat == 1:
        rights = (rights >> 2) | ((rights & 3) << 2)
    for k in range(4):
        if (rights >> k) & 1:
            out[33 + k] = CELLS + k
    for k in range(2):
        if state["repetitions"] >= k + 2:
            out[37 + k] = CELLS + 4 + k
    out[39] = CLOCKS + counted(state)


@njit
def write_planes(state: State, seat: int, out: Floats) -> None:
    """The same as planes of 8x8."""
    out[:] = F0
    turned = np.uint64(56 * seat)
    for plane in range(12):
        side = seat if plane < 6 else 1 - seat
        rest = state["pieces"][plane % 6] & state["sides"][side]
        while rest != ZERO:
            out[64 * plane + np.int64(lowest(rest) ^ turned)] = F1
            rest &= rest - ONE
    if state["en_passant"] != NO_SQUARE:
        out[64 * EN_PASSANT + np.int64(np.uint64(state["en_passant"]) ^ turned)] = F1
    for k in range(4):
        if (state["castling"] >> (k ^ (2 * seat))) & 1:
            out[64 * (CASTLING + k) : 64 * (CASTLING + k + 1)] = F1
    for k in range(2):
        if state["repetitions"] >= k + 2:
            out[64 * (REPEATED + k) : 64 * (REPEATED + k + 1)] = F1
    out[64 * CLOCK :] = np.float32(counted(state)) / np.float32(100)


@njit
def spread(place: int, token: int, tokens: int) -> tuple[int, int, int]:
    """What a token fills in `planes`: so many cells from the first on, with how many hundredths."""
    if token < CELLS:
        return token, 1, 100
    if token < NOTHING:
        return 64 * (token - CELLS + CASTLING), 64, 100
    return 64 * CLOCK, 0 if token == NOTHING else 64, token - CLOCKS


@njit
def write_flat839(state: State, seat: int, out: Floats) -> None:
    """The same for both seats."""
    out[:] = F0
    for plane in range(12):
        rest = state["pieces"][plane % 6] & state["sides"][plane // 6]
        while rest != ZERO:
            out[64 * plane + np.int64(lowest(rest))] = F1
            rest &= rest - ONE
    out[768] = 1 - state["to_move"]
    for k in range(4):
        out[769 + k] = (state["castling"] >> k) & 1
    if state["en_passant"] != NO_SQUARE:
        out[773 + np.int64(state["en_passant"])] = F1
    out[837] = np.float32(counted(state)) / np.float32(100)
    out[838] = np.float32(state["move_number"]) / np.float32(200) if state["move_number"] < 200 else F1


ENCODERS = (
    Encoder("planes", 1, (PLANES, 8, 8), np.float32, write_planes, "own pieces below; see the file", slot, bounds=UNIT),
    Encoder(
        "index",
        1,
        (40,),
        np.int16,
        write_index,
        "`planes` as 40 tokens",
        slot,
        dense="planes-v1",
        spread=spread,
        bounds=(0, 939),
    ),
    Encoder(
        "flat839",
        1,
        (839,),
        np.float32,
        write_flat839,
        "absolute: pieces, side, castling, en passant, clocks",
        bounds=UNIT,
    ),
)
