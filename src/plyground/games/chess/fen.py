"""FENs and UCI moves as compiled functions over bytes, for datasets of millions of positions.

They know the form that `text.py` writes and no other; whatever else `text.py` can read is left to it, and so are
messages about what is wrong. `tests/games/chess/test_fen.py` compares the two.
"""

# Compiled code mixes the integers of Python and numpy:
# pyright: reportArgumentType=false, reportAssignmentType=false, reportReturnType=false

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import ONE, ZERO, popcount
from plyground.games.chess import board
from plyground.games.dataset_format import TextCodec
from plyground.games.interface import State

Bytes = NDArray[np.uint8]

LONGEST = 100  # bytes of a FEN: 71 of pieces at most, and five fields
WHITE, BLACK = (np.frombuffer(letters, np.uint8) for letters in (b"PNBRQK", b"pnbrqk"))
KIND = np.full(256, -1, np.int8)  # [byte] the kind of a piece, plus 6 if it is Black's
KIND[WHITE], KIND[BLACK] = np.arange(6), np.arange(6) + 6
RIGHTS = np.frombuffer(b"KQkq", np.uint8)
HOMES = np.array([[4, 7], [4, 0], [60, 63], [60, 56]], np.uint64)  # [right] where king and rook stand
LESSER = np.frombuffer(b"nbr", np.uint8)
USUAL = np.array([8, 2, 2, 2, 1, 1])  # [kind] pieces of a side at the start
SPACE, SLASH, DASH, NOUGHT, A, W, B, Q = (np.uint8(ord(sign)) for sign in " /-0awbq")


# ---- positions ----


@njit
def read_position(text: Bytes, state: State) -> bool:
    """Fill a blank record from a FEN; returns whether that was possible. The rules still have to settle it."""
    at = read_pieces(text, state)
    if at < 0 or at + 2 > len(text):
        return False
    state["to_move"] = text[at] == B
    at += 2
    rights = 0
    while at < len(text) and text[at] != SPACE:
        for k in range(4):
            if text[at] == RIGHTS[k]:
                rights |= 1 << k
        at += 1
    state["castling"] = rights
    if at + 2 >= len(text):
        return False
    state["en_passant"] = board.NO_SQUARE
    at += 1
    if text[at] != DASH:
        square = np.int64(text[at]) - A + 8 * (np.int64(text[at + 1]) - NOUGHT - 1)
        if not 0 <= square < 64:
            return False
        state["en_passant"] = square
        at += 1
    clock, at = read_number(text, at + 2)
    number, _ = read_number(text, at + 1)
    state["clock"], state["move_number"] = clock, number
    return clock >= 0 and number >= 1


@njit
def read_pieces(text: Bytes, state: State) -> int:
    """Put the pieces of a FEN on an empty board; returns the place of the next field, -1 if there is none."""
    rank, file = 7, 0
    for at in range(len(text)):
        sign = text[at]
        kind = KIND[sign]
        if sign == SPACE:
            return at + 1
        if sign == SLASH:
            rank, file = rank - 1, 0
        elif kind < 0:
            file += np.int64(sign) - NOUGHT
        if kind >= 0:
            if not (rank >= 0 and 0 <= file < 8):
                return -1
            bit = ONE << np.uint64(8 * rank + file)
            state["pieces"][kind % 6] |= bit
            state["sides"][kind // 6] |= bit
            file += 1
    return -1


@njit
def read_number(text: Bytes, at: int) -> tuple[int, int]:
    """A number of at most four digits and the place behind it; -1 without one."""
    value, digits = np.int64(0), 0
    while at < len(text) and 0 <= np.int64(text[at]) - NOUGHT <= 9 and digits < 5:
        value, digits, at = 10 * value + np.int64(text[at]) - NOUGHT, digits + 1, at + 1
    return (value if 0 < digits < 5 else -1), at


@njit
def write_position(state: State, out: Bytes) -> int:
    """The FEN of a position; returns its length."""
    at = write_pieces(state, out)
    out[at], out[at + 1], out[at + 2] = SPACE, B if state["to_move"] else W, SPACE
    at += 3
    for k in range(4):
        if state["castling"] >> k & 1:
            out[at] = RIGHTS[k]
            at += 1
    if state["castling"] == 0:
        out[at] = DASH
        at += 1
    out[at] = SPACE
    at = write_square(np.int64(state["en_passant"]), out, at + 1)
    out[at] = SPACE
    at = write_number(np.int64(state["clock"]), out, at + 1)
    out[at] = SPACE
    return write_number(np.int64(state["move_number"]), out, at + 1)


@njit
def write_pieces(state: State, out: Bytes) -> int:
    at = np.int64(0)
    for row in range(8):
        empty = 0
        for square in range(56 - 8 * row, 64 - 8 * row):
            bit = ONE << np.uint64(square)
            if (state["sides"][0] | state["sides"][1]) & bit == ZERO:
                empty += 1
                continue
            at, empty = write_gap(empty, out, at), 0
            kind = board.PAWNS
            while state["pieces"][kind] & bit == ZERO:
                kind += 1
            out[at] = WHITE[kind] if state["sides"][0] & bit != ZERO else BLACK[kind]
            at += 1
        at = write_gap(empty, out, at)
        if row < 7:
            out[at] = SLASH
            at += 1
    return at


@njit
def write_gap(empty: int, out: Bytes, at: int) -> int:
    if empty:
        out[at] = NOUGHT + empty
        at += 1
    return at


@njit
def write_square(square: int, out: Bytes, at: int) -> int:
    """A square's name, or a dash for none; returns the place behind it."""
    if square < 0:
        out[at] = DASH
        return at + 1
    out[at], out[at + 1] = A + square % 8, NOUGHT + 1 + square // 8
    return at + 2


@njit
def write_number(value: int, out: Bytes, at: int) -> int:
    size, rest = 1, value // 10
    while rest:
        size, rest = size + 1, rest // 10
    for k in range(size):
        out[at + size - 1 - k] = NOUGHT + value % 10
        value //= 10
    return at + size


# ---- what `problems` looks for ----


@njit
def is_sound(state: State) -> bool:
    """Whether `problems` finds nothing: one king each, no impossible pieces, rights or checks."""
    pieces, sides, mover = state["pieces"], state["sides"], state["to_move"]
    if pieces[board.PAWNS] & board.LAST_RANKS != ZERO:
        return False
    for side in range(2):
        pawns, promoted = popcount(pieces[board.PAWNS] & sides[side]), 0
        if popcount(pieces[board.KINGS] & sides[side]) != 1 or pawns > 8:
            return False
        for kind in range(board.KNIGHTS, board.KINGS):
            promoted += max(0, popcount(pieces[kind] & sides[side]) - USUAL[kind])
        if promoted > 8 - pawns:
            return False
    if not (rights_are_sound(state) and en_passant_is_sound(state)):
        return False
    other_king = board.lowest(pieces[board.KINGS] & sides[1 - mover])
    if board.attacked(state, other_king, sides[0] | sides[1], 1 - mover):
        return False
    board.find_checks(state)
    return popcount(state["checkers"]) <= 2


@njit
def rights_are_sound(state: State) -> bool:
    for k in range(4):
        own = state["sides"][k // 2]
        kings, rooks = state["pieces"][board.KINGS] & own, state["pieces"][board.ROOKS] & own
        if state["castling"] >> k & 1 and kings >> HOMES[k, 0] & rooks >> HOMES[k, 1] & ONE == ZERO:
            return False
    return True


@njit
def en_passant_is_sound(state: State) -> bool:
    square, mover = np.int64(state["en_passant"]), np.int64(state["to_move"])
    if square < 0:
        return True
    if square // 8 != (5 if mover == 0 else 2):
        return False
    ahead = 8 if mover == 0 else -8
    start, end = ONE << np.uint64(square + ahead), ONE << np.uint64(square - ahead)
    occupied = state["sides"][0] | state["sides"][1]
    if occupied & (start | ONE << np.uint64(square)) != ZERO:
        return False
    return state["pieces"][board.PAWNS] & state["sides"][1 - mover] & end != ZERO


# ---- moves ----


@njit
def write_action(state: State, action: int, out: Bytes) -> int:
    """The UCI move; returns its length."""
    if action >= board.QUEENING_ACTIONS:
        start, end = board.promotion_squares(action, state["to_move"])
        at = write_square(np.int64(end), out, write_square(np.int64(start), out, 0))
        out[at] = LESSER[(action - board.QUEENING_ACTIONS) % 3]
        return at + 1
    start, end = np.uint64(action >> 6), np.uint64(action & 63)
    at = write_square(np.int64(end), out, write_square(np.int64(start), out, 0))
    if state["pieces"][board.PAWNS] >> start & ONE != ZERO and ONE << end & board.LAST_RANKS != ZERO:
        out[at] = Q
        at += 1
    return at


CODEC = TextCodec(LONGEST, read_position, write_position, is_sound, write_action)
