"""The chess board: squares, pieces, where each may go, and a move carried out. Its tables of 7 KB fit a GPU's constant
memory. The functions read and change the record of `rules.py`; `to_move` is the side that moves.

A set of squares is 64 bits; a square is a number, and a compiled function takes it as a `np.uint64`:

    56 57 58 59 60 61 62 63      rank 8
    48 49 50 51 52 53 54 55
    40 41 42 43 44 45 46 47
    32 33 34 35 36 37 38 39
    24 25 26 27 28 29 30 31
    16 17 18 19 20 21 22 23
     8  9 10 11 12 13 14 15
     0  1  2  3  4  5  6  7      rank 1, files a to h
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games import bits
from plyground.games.bits import NOT_A, NOT_H, ONE, S2, S6, S7, S8, S9, S16, ZERO, bishop_rays, popcount, rook_rays
from plyground.games.interface import State

Square = np.uint64
Squares = np.uint64

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST_RANKS = np.uint64(0xFF000000000000FF)
NO_SQUARE = -1

PAWNS, KNIGHTS, BISHOPS, ROOKS, QUEENS, KINGS = range(6)  # the order of the record's `pieces`
QUEENING_ACTIONS = 4096  # 64 * from + to; the later actions are promotions to a lesser piece

JUMPS = tuple((a * i, b * j) for a, b in ((1, 2), (2, 1)) for i in (1, -1) for j in (1, -1))
EVERY_WAY = bits.UP_DOWN + bits.LEFT_RIGHT + bits.RISING + bits.FALLING
ORTHOGONALS, DIAGONALS = bits.FILES | bits.RANKS, bits.RISES | bits.FALLS
KNIGHT, KING = bits.reach_table(JUMPS, once=True), bits.reach_table(EVERY_WAY, once=True)
PAWN = np.stack([bits.reach_table([(ahead, -1), (ahead, 1)], once=True) for ahead in (1, -1)])
"""[side, square] what a pawn attacks"""
RANK_3, RANK_6 = np.uint64(0x0000000000FF0000), np.uint64(0x0000FF0000000000)
SHORT_PATH, SHORT_STEP, SHORT_GOAL = np.uint64(0x60), np.uint64(0x20), np.uint64(0x40)  # castling on the king's side
LONG_PATH, LONG_STEP, LONG_GOAL = np.uint64(0x0E), np.uint64(0x08), np.uint64(0x04)  # and on the queen's, on rank 1
SHORT_ROOK, LONG_ROOK = np.uint64(0xA0), np.uint64(0x09)  # from where to where the rook goes
KEPT = np.full(64, 15, np.uint8)  # the castling rights that survive a move from or to a square
KEPT[[0, 4, 7, 56, 60, 63]] = [15 - 2, 15 - 3, 15 - 1, 15 - 8, 15 - 12, 15 - 4]


@njit
def lowest(squares: Squares) -> Square:
    """The lowest square of a set that is not empty, as a number that indexes tables without a test of its sign."""
    return np.uint64(bits.lowest(squares))


@njit
def line_through(a: Square, b: Square) -> Squares:
    """The line on which both squares lie (without a), or nothing."""
    bit = ONE << b
    if bits.FILES[a] & bit != ZERO:
        return bits.FILES[a]
    if bits.RANKS[a] & bit != ZERO:
        return bits.RANKS[a]
    if bits.RISES[a] & bit != ZERO:
        return bits.RISES[a]
    return bits.FALLS[a] if bits.FALLS[a] & bit != ZERO else ZERO


@njit
def between(a: Square, b: Square) -> Squares:
    """The squares strictly between two of one line; nothing for others."""
    low, high = (ONE << a, ONE << b) if a < b else (ONE << b, ONE << a)
    return line_through(a, b) & (high - low) & ~low


# ---- where a piece may go ----


@njit
def answers(state: State, king_square: Square) -> Squares:
    """Where pieces other than the king may go: anywhere; in check, onto the checker or before it; in double check,
    nowhere."""
    checkers = state["checkers"]
    if checkers == ZERO:
        return ALL
    if checkers & (checkers - ONE) != ZERO:
        return ZERO
    return checkers | between(king_square, lowest(checkers))


@njit
def destinations(state: State, square: Square, king_square: Square, allowed: Squares) -> Squares:
    """Where the piece on a square may legally go; `allowed` is what `answers` says."""
    side = state["to_move"]
    own, other = state["sides"][side], state["sides"][1 - side]
    occupied, bit = own | other, ONE << square
    if state["pieces"][PAWNS] & bit != ZERO:
        targets = pawn_targets(square, side, occupied, other) & allowed & pin_line(state, square, king_square)
        if state["en_passant"] != NO_SQUARE and en_passant_pawns(state) & bit != ZERO:
            targets |= ONE << np.uint64(state["en_passant"])
        return targets
    if state["pieces"][KINGS] & bit != ZERO:
        return king_steps(state, square)
    if state["pieces"][KNIGHTS] & bit != ZERO:
        targets = KNIGHT[square]
    else:
        targets = ZERO
        if state["pieces"][ROOKS] & bit == ZERO:
            targets |= bishop_rays(square, occupied)
        if state["pieces"][BISHOPS] & bit == ZERO:
            targets |= rook_rays(square, occupied)
    return targets & allowed & ~own & pin_line(state, square, king_square)


@njit
def pin_line(state: State, square: Square, king_square: Square) -> Squares:
    """Where a piece may go without uncovering its king."""
    return line_through(king_square, square) if (state["pinned"] >> square) & ONE != ZERO else ALL


@njit
def pawn_targets(square: Square, side: int, occupied: Squares, other: Squares) -> Squares:
    """Steps and captures of one pawn, en passant aside."""
    bit = ONE << square
    if side == 0:
        steps = (bit << S8) & ~occupied
        steps |= ((steps & RANK_3) << S8) & ~occupied
    else:
        steps = (bit >> S8) & ~occupied
        steps |= ((steps & RANK_6) >> S8) & ~occupied
    return steps | (PAWN[side, square] & other)


@njit
def count_pawn_moves(pawns: Squares, side: int, occupied: Squares, other: Squares, allowed: Squares) -> np.int64:
    """How many moves all these pawns have together, en passant aside; a promotion is four."""
    if side == 0:
        one = (pawns << S8) & ~occupied
        two = ((one & RANK_3) << S8) & ~occupied
        left, right = (pawns & NOT_A) << S7, (pawns & NOT_H) << S9
    else:
        one = (pawns >> S8) & ~occupied
        two = ((one & RANK_6) >> S8) & ~occupied
        left, right = (pawns & NOT_A) >> S9, (pawns & NOT_H) >> S7
    one, two, left, right = one & allowed, two & allowed, left & other & allowed, right & other & allowed
    count = popcount(one) + popcount(two) + popcount(left) + popcount(right)
    if (one | left | right) & LAST_RANKS != ZERO:
        count += 3 * (popcount(one & LAST_RANKS) + popcount(left & LAST_RANKS) + popcount(right & LAST_RANKS))
    return count


@njit
def king_steps(state: State, square: Square) -> Squares:
    """Where the king of the side to move may go, castling included."""
    side = state["to_move"]
    own, other = state["sides"][side], state["sides"][1 - side]
    occupied = own | other
    safe, open_squares = ZERO, KING[square] & ~own
    while open_squares != ZERO:
        bit = open_squares & (~open_squares + ONE)
        open_squares ^= bit
        if not attacked(state, lowest(bit), occupied ^ (ONE << square), side):  # the king does not shield itself
            safe |= bit
    rights = (state["castling"] >> (2 * side)) & 3
    if rights == 0 or state["checkers"] != ZERO:
        return safe
    row = np.uint64(56 * side)
    across, stepped = occupied >> row, safe >> row
    short = rights & 1 and across & SHORT_PATH == ZERO and stepped & SHORT_STEP != ZERO
    if short and not attacked(state, row + S6, occupied, side):
        safe |= SHORT_GOAL << row
    long = rights & 2 and across & LONG_PATH == ZERO and stepped & LONG_STEP != ZERO
    if long and not attacked(state, row + S2, occupied, side):
        safe |= LONG_GOAL << row
    return safe


@njit
def en_passant_pawns(state: State) -> Squares:
    """The pawns of the side to move that may capture en passant: looks at the board as it would be."""
    side, square = state["to_move"], np.uint64(state["en_passant"])
    own, other = state["sides"][side], state["sides"][1 - side]
    pieces, captured = state["pieces"], ONE << (square ^ S8)
    candidates, able = PAWN[1 - side, square] & pieces[PAWNS] & own, ZERO
    if state["checkers"] & ~captured & (pieces[PAWNS] | pieces[KNIGHTS]) != ZERO:
        return ZERO
    king_square = lowest(pieces[KINGS] & own)
    while candidates != ZERO:
        bit = candidates & (~candidates + ONE)
        candidates ^= bit
        occupied = ((own | other) ^ bit ^ captured) | (ONE << square)
        straight = rook_rays(king_square, occupied) & (pieces[ROOKS] | pieces[QUEENS])
        if (straight | (bishop_rays(king_square, occupied) & (pieces[BISHOPS] | pieces[QUEENS]))) & other == ZERO:
            able |= bit
    return able


# ---- checks ----


@njit
def attacked(state: State, square: Square, occupied: Squares, side: int) -> bool:
    """Whether the opponent of `side` attacks a square."""
    pieces, other = state["pieces"], state["sides"][1 - side]
    leapers = (KNIGHT[square] & pieces[KNIGHTS]) | (PAWN[side, square] & pieces[PAWNS]) | (KING[square] & pieces[KINGS])
    if leapers & other != ZERO:
        return True
    diagonal, straight = (pieces[BISHOPS] | pieces[QUEENS]) & other, (pieces[ROOKS] | pieces[QUEENS]) & other
    if DIAGONALS[square] & diagonal != ZERO and bishop_rays(square, occupied) & diagonal != ZERO:
        return True
    return bool(ORTHOGONALS[square] & straight != ZERO and rook_rays(square, occupied) & straight != ZERO)


@njit
def find_checks(state: State) -> None:
    """Set `checkers` and `pinned` for the side to move."""
    side, pieces = state["to_move"], state["pieces"]
    own, other = state["sides"][side], state["sides"][1 - side]
    square = lowest(pieces[KINGS] & own)
    checkers = ((KNIGHT[square] & pieces[KNIGHTS]) | (PAWN[side, square] & pieces[PAWNS])) & other
    pinned = ZERO
    diagonal, straight = pieces[BISHOPS] | pieces[QUEENS], pieces[ROOKS] | pieces[QUEENS]
    aiming = ((DIAGONALS[square] & diagonal) | (ORTHOGONALS[square] & straight)) & other
    while aiming != ZERO:
        bit = aiming & (~aiming + ONE)
        aiming ^= bit
        shield = between(square, lowest(bit)) & (own | other)
        if shield == ZERO:
            checkers |= bit
        elif shield & (shield - ONE) == ZERO:
            pinned |= shield & own
    state["checkers"], state["pinned"] = checkers, pinned


# ---- a move carried out ----


@njit
def move(state: State, action: int) -> None:
    """Move the pieces, keep the clocks and rights, pass the turn. En passant is noted wherever a pawn stands by."""
    side, pieces = state["to_move"], state["pieces"]
    if action < QUEENING_ACTIONS:
        start, end, promoted = np.uint64(action >> 6), np.uint64(action & 63), QUEENS
    else:
        start, end = promotion_squares(action, side)
        promoted = KNIGHTS + (action - QUEENING_ACTIONS) % 3
    start_bit, end_bit = ONE << start, ONE << end
    kind = PAWNS
    while pieces[kind] & start_bit == ZERO:
        kind += 1
    state["clock"] += 1
    if state["sides"][1 - side] & end_bit != ZERO:
        state["sides"][1 - side] ^= end_bit
        for each in range(KINGS):
            pieces[each] &= ~end_bit
        state["clock"] = 0
    state["sides"][side] ^= start_bit | end_bit
    pieces[kind] ^= start_bit | end_bit
    passed, state["en_passant"] = state["en_passant"], NO_SQUARE
    if kind == PAWNS:
        state["clock"] = 0
        after_pawn_move(state, start, end, promoted, passed)
    elif kind == KINGS and (end == start + S2 or start == end + S2):  # no other step of a king is that wide
        rook_path = (SHORT_ROOK if end > start else LONG_ROOK) << np.uint64(56 * side)
        pieces[ROOKS] ^= rook_path
        state["sides"][side] ^= rook_path
    state["castling"] &= KEPT[start] & KEPT[end]
    state["move_number"] += side
    state["to_move"] = 1 - side


@njit
def after_pawn_move(state: State, start: Square, end: Square, promoted: int, passed: int) -> None:
    """What a pawn's move brings with it: promotion, a chance to capture en passant, such a capture."""
    side, pieces, end_bit = state["to_move"], state["pieces"], ONE << end
    if end_bit & LAST_RANKS != ZERO:
        pieces[PAWNS] ^= end_bit
        pieces[promoted] ^= end_bit
    elif start ^ end == S16:
        middle = (start + end) >> ONE
        if PAWN[side, middle] & pieces[PAWNS] & state["sides"][1 - side] != ZERO:
            state["en_passant"] = np.int64(middle)
    elif passed != NO_SQUARE and end == np.uint64(passed):
        captured = ONE << (end ^ S8)
        pieces[PAWNS] ^= captured
        state["sides"][1 - side] ^= captured


@njit
def lesser_promotion(start: Square, end: Square) -> np.int64:
    """The first of the three actions of a pawn that does not become a queen."""
    file, towards = np.int64(start & bits.FILE_OF), np.int64(end & bits.FILE_OF)
    return QUEENING_ACTIONS + 9 * file + 3 * (towards - file + 1)


@njit
def promotion_squares(action: int, side: int) -> tuple[Square, Square]:
    """From where to where the pawn of such an action goes."""
    file, towards = (action - QUEENING_ACTIONS) // 9, (action - QUEENING_ACTIONS) // 3 % 3 - 1
    start, end = (48, 56) if side == 0 else (8, 0)
    return np.uint64(start + file), np.uint64(end + file + towards)
