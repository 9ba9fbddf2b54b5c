"""The pieces of Paco Ŝako and how they move: one action at a time, without the bookkeeping of a game.

Squares are numbered a1 = 0, b1 = 1, ..., h1 = 7, a2 = 8, ..., h8 = 63. At most one piece of each side stands on a
square, and both together are a union. A side's pieces are three bitboards, the binary digits of a kind's number:

    kind      pawn  rook  knight  bishop  queen  king
    number       1     2       3       4      5     6
    planes     p..   .p.     pp.     ..p    p.p   .pp

The functions work on any record with the fields of BOARD: a game's state, or a node of a search within a turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from plyground.games.bits import S8, ZERO, Whole, aslant, beside, bishop_rays, bit, jumps, pawn_attacks, rook_rays
from plyground.games.interface import FIRST_WINS, State

PAWN, ROOK, KNIGHT, BISHOP, QUEEN, KING = range(1, 7)
LIFT, PLACE, PROMOTE_THEN_LIFT, PROMOTE_THEN_PLACE, PROMOTE_THEN_FINISH = range(5)
PROMOTIONS = {"L": PROMOTE_THEN_LIFT, "P": PROMOTE_THEN_PLACE, "F": PROMOTE_THEN_FINISH}  # as texts write them
NOWHERE = -1

BOARD: list[Any] = [
    ("planes", np.uint64, (2, 3)),
    ("to_move", np.int8),
    ("outcome", np.int8),
    ("required", np.int8),  # what must be done now: LIFT, PLACE, ...
    ("hand", np.int8, (2,)),  # each side's piece in the mover's hand, 0 for none
    ("origin", np.int8),  # where the hand lifted it
    ("en_passant", np.int8),  # the square that a pawn's double step passed over
    ("promoting", np.int8),  # where a pawn of the mover must promote
    ("rights", np.int8),  # to castle, bit by bit: white queen side, white king side, black queen side, black king side
    ("castling", np.int8),  # a setting: 1 if a rook released from its corner loses the right
]
CLEAN = 1

CORNERS = np.array([0, 7, 56, 63])  # where the rook of each right stands


# ---- looking ----


@njit
def occupied(state: State, side: int) -> np.uint64:
    """Where the pieces of a side stand."""
    planes = state["planes"]
    return planes[side, 0] | planes[side, 1] | planes[side, 2]


@njit
def of_kind(state: State, side: int, kind: Whole) -> np.uint64:
    """Where a side's pieces of one kind stand."""
    planes = state["planes"]
    found = ~ZERO
    for digit in range(3):
        found &= planes[side, digit] if (kind >> digit) & 1 else ~planes[side, digit]
    return found


@njit
def kind_at(state: State, side: int, square: Whole) -> np.int64:
    """The kind of a side's piece on a square, 0 for none."""
    planes, here = state["planes"], np.uint64(square)
    digits = (planes[side, 0] >> here) & np.uint64(1)
    digits |= ((planes[side, 1] >> here) & np.uint64(1)) << np.uint64(1)
    digits |= ((planes[side, 2] >> here) & np.uint64(1)) << np.uint64(2)
    return np.int64(digits)


@njit
def last_rank(side: int, square: Whole) -> bool:
    """Whether pawns of this side promote there."""
    return bool(square >= 56 if side == 0 else square < 8)


# ---- moving ----


@njit
def forward(side: int, squares: np.uint64) -> np.uint64:
    """A pawn's step straight ahead."""
    return squares << S8 if side == 0 else squares >> S8


@njit
def passed(state: State) -> np.uint64:
    """The en passant square as a bit where the mover can use it: a pawn of the opponent has passed over it."""
    square, side = np.int64(state["en_passant"]), state["to_move"]
    if square < 16 or square >= 48 or (square < 24) == (side == 0):
        return ZERO
    pawn = square - 8 if side == 0 else square + 8
    if kind_at(state, 1 - side, pawn) != PAWN:
        return ZERO
    return bit(square) & ~(occupied(state, 0) | occupied(state, 1))


@njit
def attacks(side: int, kind: Whole, square: Whole, taken: np.uint64) -> np.uint64:
    """What a lone piece threatens: up to and with the first taken square; a pawn both diagonals, a king nothing."""
    if kind == PAWN:
        return pawn_attacks(side, bit(square))
    if kind == KNIGHT:
        return jumps(bit(square))
    found = ZERO
    if kind in (ROOK, QUEEN):
        found |= rook_rays(square, taken)
    if kind in (BISHOP, QUEEN):
        found |= bishop_rays(square, taken)
    return found


@njit
def reach(state: State, kind: Whole, paired: bool, square: Whole) -> np.uint64:
    """Where a piece of the mover (with its partner, if paired) can go from a square; castling aside."""
    side = state["to_move"]
    own, other = occupied(state, side), occupied(state, 1 - side)
    empty = ~(own | other)
    if kind == PAWN:
        found = forward(side, bit(square)) & empty
        if square < 16 if side == 0 else square >= 48:
            found |= forward(side, found) & empty
        return found if paired else found | (pawn_attacks(side, bit(square)) & (other | passed(state)))
    if kind == KING:
        return (beside(bit(square)) | aslant(bit(square))) & empty
    return attacks(side, kind, square, own | other) & (empty if paired else ~(own & ~other))


@njit
def targets(state: State) -> np.uint64:
    """Where the hand's piece may be placed; castling aside."""
    side = state["to_move"]
    return reach(state, state["hand"][side], state["hand"][1 - side] != 0, state["origin"])


@njit
def movers(state: State, free: np.uint64) -> np.uint64:
    """The mover's rooks, knights, bishops and queens that find a neighbouring (or a knight's) square in `free`."""
    planes, side = state["planes"], state["to_move"]
    p, q, r = planes[side, 0], planes[side, 1], planes[side, 2]
    rooks, knights, bishops, queens = q & ~p & ~r, p & q & ~r, r & ~p & ~q, r & p
    return ((rooks | queens) & beside(free)) | ((bishops | queens) & aslant(free)) | (knights & jumps(free))


@njit
def liftable(state: State) -> np.uint64:
    """The pieces of the mover that have somewhere to go."""
    side = state["to_move"]
    own, other = occupied(state, side), occupied(state, 1 - side)
    alone, empty = own & ~other, ~(own | other)
    pawns = of_kind(state, side, PAWN)
    found = (alone & movers(state, ~alone)) | (own & other & movers(state, empty))
    found |= of_kind(state, side, KING) & alone & (beside(empty) | aslant(empty))
    found |= pawns & forward(1 - side, empty)
    return found | (pawns & alone & pawn_attacks(1 - side, other | passed(state)))


# ---- acting ----


@njit
def put(state: State, side: int, square: Whole, kind: Whole) -> None:
    """Set a side's piece on a square, whatever it had there; 0 clears it."""
    planes, here = state["planes"], bit(square)
    for digit in range(3):
        if (kind >> digit) & 1:
            planes[side, digit] |= here
        else:
            planes[side, digit] &= ~here


@njit
def swap(state: State, one: Whole, other: Whole) -> None:
    """Exchange what stands on two squares, partners included."""
    for side in range(2):
        kind = kind_at(state, side, one)
        put(state, side, one, kind_at(state, side, other))
        put(state, side, other, kind)


@njit
def lift(state: State, square: Whole) -> None:
    """Take up what stands on a square of the mover. A rook that leaves its corner loses its right to castle."""
    for side in range(2):
        state["hand"][side] = kind_at(state, side, square)
        put(state, side, square, 0)
    if state["hand"][0] == ROOK or state["hand"][1] == ROOK:
        forfeit(state, square)
    state["origin"] = square
    state["required"] = PLACE


@njit
def forfeit(state: State, corner: Whole) -> None:
    """Lose the right that belongs to a corner, if it is one."""
    for right in range(4):
        if CORNERS[right] == corner:
            state["rights"] &= ~(1 << right)


@njit
def place(state: State, square: Whole) -> bool:
    """Put down what is in the hand; says whether a new union arose."""
    side = state["to_move"]
    kind, partner, origin = state["hand"][side], state["hand"][1 - side], np.int64(state["origin"])
    if kind == KING:
        if abs(square - origin) == 2:  # castling; the rook's partner moves with it
            swap(state, origin - 4 if square < origin else origin + 3, (origin + square) // 2)
        state["rights"] &= ~(3 << (2 * side))
    elif kind == PAWN and (square - origin) % 8 != 0 and bit(square) & passed(state) != ZERO:
        swap(state, square, square - 8 if side == 0 else square + 8)
        state["en_passant"] = NOWHERE
    released, met = kind_at(state, side, square), kind_at(state, 1 - side, square)
    put(state, side, square, kind)
    if released != 0:
        if state["castling"] == CLEAN and released == ROOK and square // 8 == 7 * side:
            forfeit(state, square)
        state["hand"][side] = released
        state["origin"] = square
        promotes = kind == PAWN and last_rank(side, square)
        state["promoting"] = square if promotes else NOWHERE
        state["required"] = PROMOTE_THEN_PLACE if promotes else PLACE
        return False
    if partner != 0:
        put(state, 1 - side, square, partner)
    finish_placement(state, square, kind, partner, origin)
    if met == KING:
        state["outcome"] = FIRST_WINS + side
    return met != 0


@njit
def finish_placement(state: State, square: Whole, kind: Whole, partner: Whole, origin: Whole) -> None:
    """The hand is empty: a promotion is due, or control passes."""
    side = state["to_move"]
    state["hand"][side] = 0
    state["hand"][1 - side] = 0
    state["origin"] = NOWHERE
    state["en_passant"] = NOWHERE
    if kind == PAWN and last_rank(side, square):
        state["promoting"] = square
        state["required"] = PROMOTE_THEN_FINISH
        return
    if kind == PAWN and abs(square - origin) == 16 and origin // 8 == (1 if side == 0 else 6):
        state["en_passant"] = (square + origin) // 2
    state["to_move"] = 1 - side
    gift = partner == PAWN and last_rank(1 - side, square)
    state["promoting"] = square if gift else NOWHERE
    state["required"] = PROMOTE_THEN_LIFT if gift else LIFT


@njit
def promote(state: State, kind: Whole) -> None:
    """Make the waiting pawn another piece, and go on as it was required."""
    required, side = state["required"], state["to_move"]
    put(state, side, state["promoting"], kind)
    state["promoting"] = NOWHERE
    state["required"] = PLACE if required == PROMOTE_THEN_PLACE else LIFT
    if required == PROMOTE_THEN_FINISH:
        state["to_move"] = 1 - side
        state["en_passant"] = NOWHERE
