"""Chess by FIDE's rules. White is the first side.

Six sets of squares for the kinds of pieces and two for the sides (`chess_attacks.py` draws the squares). The record
also keeps what every move needs to know: who gives check, and which pieces are pinned to their king.

An action is 64 * from + to; a pawn that reaches the last rank becomes a queen. The 72 actions behind those are the
promotions to something less: 4096 + 9 * file of the pawn + 3 * (0, 1, 2: to the left, straight on, to the right as
White sits) + (0, 1, 2: knight, bishop, rook). Thus the first 4096 actions are a game in which every promotion is to a
queen. Names are UCI moves: e2e4, e1g1, e7e8q.

A game ends as soon as the third occurrence of a position, or the hundredth ply in a row without capture or pawn move,
stands on the board; with `draws=automatic` only at the fifth and at 150.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import popcount
from plyground.games.chance import STEP, mix
from plyground.games.chess_attacks import (
    ALL,
    DIAGONALS,
    KING,
    KNIGHT,
    ONE,
    ORTHOGONALS,
    PAWN,
    S8,
    S16,
    ZERO,
    Square,
    Squares,
    between,
    bishop,
    line_through,
    lowest,
    rook,
)
from plyground.games.chess_evaluate import evaluate
from plyground.games.chess_text import STYLES, action_name, draw, parse, problems, read_action, reason, text
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, Actions, Rng, Setting, State

__all__ = ["STYLES", "action_name", "draw", "evaluate", "parse", "problems", "read_action", "reason", "text"]

# ---- board ----

QUEENING_ACTIONS = 4096
NUM_ACTIONS = QUEENING_ACTIONS + 72
MAX_LEGAL = 256  # 218 is the most that is known
MAX_PLIES = 17697  # 75 moves at most between any two of the 118 captures and pawn moves there can be
OPENING_PLIES = 6

SETTINGS = {
    "draws": Setting(
        "claimed",
        ("claimed", "automatic"),
        "claimed: a third occurrence or 50 moves end the game; automatic: a fifth or 75",
    )
}
HEAD_FIELDS = [
    ("pieces", np.uint64, (6,)),  # pawns, knights, bishops, rooks, queens, kings
    ("sides", np.uint64, (2,)),
    ("checkers", np.uint64),  # the pieces that give check to the side to move
    ("pinned", np.uint64),  # pieces of the side to move that shield their king
    ("clock", np.int16),  # plies since the last capture or pawn move
    ("move_number", np.int16),
    ("castling", np.uint8),  # 1 and 2: White may castle on the king's and the queen's side; 4 and 8: Black
    ("en_passant", np.int8),  # the square behind a pawn that can be captured so, legally; else NO_SQUARE
    ("repetitions", np.int8),  # how often this position has been on the board
    ("to_move", np.int8),
    ("outcome", np.int8),
    ("ending", np.int8),  # one of the endings below
    ("draws", np.int8),
]
LONGEST_CLOCK = 150
HEAD = np.dtype(HEAD_FIELDS, align=True)
STATE = np.dtype([*HEAD_FIELDS, ("history", np.uint64, (LONGEST_CLOCK + 1,))], align=True)  # keys by `clock`
UNCOUNTED = ("repetitions", "outcome", "ending")  # outcomes follow from the rest, except where a repetition decided

PAWNS, KNIGHTS, BISHOPS, ROOKS, QUEENS, KINGS = range(6)
NO_SQUARE = -1
NO_ENDING, CHECKMATE, STALEMATE, MATERIAL, REPETITION, CLOCK = range(6)

RANK_3, RANK_6 = np.uint64(0x0000000000FF0000), np.uint64(0x0000FF0000000000)
FILE_A, FILE_H = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
LAST_RANKS = np.uint64(0xFF000000000000FF)
LIGHT = np.uint64(0x55AA55AA55AA55AA)
ONE_BEFORE_LAST = np.array([0x00FF000000000000, 0x000000000000FF00], np.uint64)  # [side]
S1, S2, S4, S7, S9 = (np.uint64(shift) for shift in (1, 2, 4, 7, 9))
FIRST_PIECES = np.array(
    [0x00FF00000000FF00, *(0x4200000000000042, 0x2400000000000024, 0x8100000000000081)]
    + [0x0800000000000008, 0x1000000000000010],
    np.uint64,
)  # [6]
KEPT = np.full(64, 15, np.uint8)  # the castling rights that survive a move from or to a square
KEPT[[0, 4, 7, 56, 60, 63]] = [15 - 2, 15 - 3, 15 - 1, 15 - 8, 15 - 12, 15 - 4]


# ---- rules ----


@njit
def reset(state: State, rng: Rng) -> None:
    """The usual arrangement."""
    for kind in range(6):
        state["pieces"][kind] = FIRST_PIECES[kind]
    state["sides"][0] = np.uint64(0x000000000000FFFF)
    state["sides"][1] = np.uint64(0xFFFF000000000000)
    state["castling"] = 15
    state["en_passant"] = NO_SQUARE
    state["move_number"] = 1
    settle(state)


@njit
def settle(state: State) -> None:
    """Work out what follows from an arrangement: checks and pins, the outcome, whether en passant is possible."""
    find_checks(state)
    if state["en_passant"] != NO_SQUARE and en_passant_pawns(state) == ZERO:
        state["en_passant"] = NO_SQUARE
    state["repetitions"] = 1
    if state["clock"] <= LONGEST_CLOCK:
        state["history"][state["clock"]] = key(state)
    end_without_moves(state)
    end_by_count(state)


@njit
def play(state: State, action: int, rng: Rng) -> None:
    """Move, and look whether the game is over."""
    play_head(state, action, rng)
    count_repetitions(state)
    end_by_count(state)


@njit
def play_head(state: State, action: int, rng: Rng) -> None:
    """Move, and see checkmate and stalemate, but no other draws: what perft counts and a search needs."""
    move(state, action)
    find_checks(state)
    if state["en_passant"] != NO_SQUARE and en_passant_pawns(state) == ZERO:
        state["en_passant"] = NO_SQUARE
    end_without_moves(state)


@njit
def legal(state: State, actions: Actions) -> int:
    """Every legal move, piece by piece from a1 to h8; promotions to less than a queen come last."""
    if state["outcome"] != RUNNING:
        return 0
    own = state["sides"][state["to_move"]]
    king = state["pieces"][KINGS] & own
    king_square = lowest(king)
    allowed = answers(state, king_square)
    movers = own if allowed != ZERO else king
    count, promoting = 0, ZERO
    while movers != ZERO:
        square = lowest(movers)
        bit = ONE << square
        movers ^= bit
        targets = destinations(state, square, king_square, allowed)
        if state["pieces"][PAWNS] & bit != ZERO and targets & LAST_RANKS != ZERO:
            promoting |= bit
        start = np.int64(square) * 64
        while targets != ZERO:
            actions[count] = start + np.int64(lowest(targets))
            count += 1
            targets &= targets - ONE
    while promoting != ZERO:
        square = lowest(promoting)
        promoting &= promoting - ONE
        targets = destinations(state, square, king_square, allowed)
        while targets != ZERO:
            first = lesser_promotion(square, lowest(targets))
            targets &= targets - ONE
            for piece in range(3):
                actions[count] = first + piece
                count += 1
    return count


@njit
def count_legal(state: State, actions: Actions) -> int:
    """How many legal moves there are, without listing them."""
    if state["outcome"] != RUNNING:
        return 0
    side = state["to_move"]
    own, other = state["sides"][side], state["sides"][1 - side]
    occupied = own | other
    king_square = lowest(state["pieces"][KINGS] & own)
    count = popcount(king_steps(state, king_square))
    allowed = answers(state, king_square)
    if allowed == ZERO:
        return count
    free = own & ~state["pinned"]
    count += count_pawn_moves(state["pieces"][PAWNS] & free, side, occupied, other, allowed)
    if state["en_passant"] != NO_SQUARE:
        count += popcount(en_passant_pawns(state) & ~state["pinned"])
    targets_of_all = allowed & ~own
    movers = state["pieces"][KNIGHTS] & free
    while movers != ZERO:
        count += popcount(KNIGHT[lowest(movers)] & targets_of_all)
        movers &= movers - ONE
    movers = (state["pieces"][BISHOPS] | state["pieces"][QUEENS]) & free
    while movers != ZERO:
        count += popcount(bishop(lowest(movers), occupied) & targets_of_all)
        movers &= movers - ONE
    movers = (state["pieces"][ROOKS] | state["pieces"][QUEENS]) & free
    while movers != ZERO:
        count += popcount(rook(lowest(movers), occupied) & targets_of_all)
        movers &= movers - ONE
    movers = state["pinned"]
    while movers != ZERO:
        square = lowest(movers)
        targets = destinations(state, square, king_square, allowed)
        count += popcount(targets)
        if state["pieces"][PAWNS] & (ONE << square) != ZERO:
            count += 3 * popcount(targets & LAST_RANKS)
        movers &= movers - ONE
    return count


# ---- moves of the pieces ----


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
            targets |= bishop(square, occupied)
        if state["pieces"][BISHOPS] & bit == ZERO:
            targets |= rook(square, occupied)
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
def count_pawn_moves(pawns: Squares, side: int, occupied: Squares, other: Squares, allowed: Squares) -> int:
    """How many moves all these pawns have together, en passant aside; a promotion is four."""
    if side == 0:
        one = (pawns << S8) & ~occupied
        two = ((one & RANK_3) << S8) & ~occupied
        left, right = (pawns & ~FILE_A) << S7, (pawns & ~FILE_H) << S9
    else:
        one = (pawns >> S8) & ~occupied
        two = ((one & RANK_6) >> S8) & ~occupied
        left, right = (pawns & ~FILE_A) >> S9, (pawns & ~FILE_H) >> S7
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
    across = occupied >> row
    if rights & 1 and across & np.uint64(0x60) == ZERO and safe & (np.uint64(0x20) << row) != ZERO:
        if not attacked(state, row + np.uint64(6), occupied, side):
            safe |= np.uint64(0x40) << row
    if rights & 2 and across & np.uint64(0x0E) == ZERO and safe & (np.uint64(0x08) << row) != ZERO:
        if not attacked(state, row + S2, occupied, side):
            safe |= S4 << row
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
        straight = rook(king_square, occupied) & (pieces[ROOKS] | pieces[QUEENS])
        if (straight | (bishop(king_square, occupied) & (pieces[BISHOPS] | pieces[QUEENS]))) & other == ZERO:
            able |= bit
    return able


@njit
def attacked(state: State, square: Square, occupied: Squares, side: int) -> bool:
    """Whether the opponent of `side` attacks a square."""
    pieces, other = state["pieces"], state["sides"][1 - side]
    leapers = (KNIGHT[square] & pieces[KNIGHTS]) | (PAWN[side, square] & pieces[PAWNS]) | (KING[square] & pieces[KINGS])
    if leapers & other != ZERO:
        return True
    diagonal, straight = (pieces[BISHOPS] | pieces[QUEENS]) & other, (pieces[ROOKS] | pieces[QUEENS]) & other
    if DIAGONALS[square] & diagonal != ZERO and bishop(square, occupied) & diagonal != ZERO:
        return True
    return bool(ORTHOGONALS[square] & straight != ZERO and rook(square, occupied) & straight != ZERO)


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
    passed, state["en_passant"] = state["en_passant"], NO_SQUARE
    state["clock"] += 1
    if state["sides"][1 - side] & end_bit != ZERO:
        state["sides"][1 - side] ^= end_bit
        for each in range(KINGS):
            pieces[each] &= ~end_bit
        state["clock"] = 0
    state["sides"][side] ^= start_bit | end_bit
    pieces[kind] ^= start_bit | end_bit
    if kind == PAWNS:
        state["clock"] = 0
        if end_bit & LAST_RANKS != ZERO:
            pieces[PAWNS] ^= end_bit
            pieces[promoted] ^= end_bit
        elif start ^ end == S16:
            middle = (start + end) >> S1
            if PAWN[side, middle] & pieces[PAWNS] & state["sides"][1 - side] != ZERO:
                state["en_passant"] = np.int64(middle)
        elif passed != NO_SQUARE and end == np.uint64(passed):
            captured = ONE << (end ^ S8)
            pieces[PAWNS] ^= captured
            state["sides"][1 - side] ^= captured
    elif kind == KINGS and (end == start + S2 or start == end + S2):  # no other step of a king is that wide
        rook_path = (np.uint64(0xA0) if end > start else np.uint64(0x09)) << np.uint64(56 * side)
        pieces[ROOKS] ^= rook_path
        state["sides"][side] ^= rook_path
    state["castling"] &= KEPT[start] & KEPT[end]
    state["move_number"] += side
    state["to_move"] = 1 - side


@njit
def lesser_promotion(start: Square, end: Square) -> int:
    """The first of the three actions of a pawn that does not become a queen."""
    file, towards = np.int64(start & np.uint64(7)), np.int64(end & np.uint64(7))
    return QUEENING_ACTIONS + 9 * file + 3 * (towards - file + 1)


@njit
def promotion_squares(action: int, side: int) -> tuple[Square, Square]:
    """From where to where the pawn of such an action goes."""
    file, towards = (action - QUEENING_ACTIONS) // 9, (action - QUEENING_ACTIONS) // 3 % 3 - 1
    start, end = (48, 56) if side == 0 else (8, 0)
    return np.uint64(start + file), np.uint64(end + file + towards)


# ---- outcome ----


@njit
def has_legal_move(state: State) -> bool:
    """Looks at the likely ones first."""
    side = state["to_move"]
    own, other = state["sides"][side], state["sides"][1 - side]
    if state["checkers"] == ZERO:
        pawns = state["pieces"][PAWNS] & own & ~state["pinned"]
        steps = (pawns << S8 if side == 0 else pawns >> S8) & ~(own | other)
        if steps != ZERO:
            return True
    king = state["pieces"][KINGS] & own
    king_square = lowest(king)
    allowed = answers(state, king_square)
    movers = own if allowed != ZERO else king
    while movers != ZERO:
        if destinations(state, lowest(movers), king_square, allowed) != ZERO:
            return True
        movers &= movers - ONE
    return False


@njit
def end_without_moves(state: State) -> None:
    """Checkmate and stalemate."""
    if not has_legal_move(state):
        if state["checkers"] != ZERO:
            state["outcome"], state["ending"] = FIRST_WINS + 1 - state["to_move"], CHECKMATE
        else:
            state["outcome"], state["ending"] = DRAW, STALEMATE


@njit
def end_by_count(state: State) -> None:
    """The draws by material, repetition and clock; a game that is over stays as it is."""
    claimed = state["draws"] == 0
    if state["outcome"] != RUNNING:
        return
    if insufficient_material(state):
        state["outcome"], state["ending"] = DRAW, MATERIAL
    elif state["repetitions"] >= (3 if claimed else 5):
        state["outcome"], state["ending"] = DRAW, REPETITION
    elif state["clock"] >= (100 if claimed else LONGEST_CLOCK):
        state["outcome"], state["ending"] = DRAW, CLOCK


@njit
def insufficient_material(state: State) -> bool:
    """No order of moves can mate: bare kings, one knight, or bishops that all stand on squares of one colour."""
    pieces = state["pieces"]
    if pieces[PAWNS] | pieces[ROOKS] | pieces[QUEENS] != ZERO:
        return False
    if pieces[KNIGHTS] != ZERO:
        return pieces[BISHOPS] == ZERO and pieces[KNIGHTS] & (pieces[KNIGHTS] - ONE) == ZERO
    return pieces[BISHOPS] & LIGHT == ZERO or pieces[BISHOPS] & ~LIGHT == ZERO


@njit
def count_repetitions(state: State) -> None:
    """Add the position to the history and count how often it is there. Only every other ply can be the same."""
    clock, now = state["clock"], key(state)
    state["history"][clock] = now
    count, ply = 1, clock - 4
    while ply >= 0:
        count += state["history"][ply] == now
        ply -= 2
    state["repetitions"] = count


@njit
def key(state: State) -> np.uint64:
    """64 bits that tell positions apart: pieces, side to move, castling, en passant."""
    rest = state["to_move"] + 2 * np.int64(state["castling"]) + 32 * (np.int64(state["en_passant"]) + 1)
    x = mix(state["sides"][0] ^ mix(np.uint64(rest)))
    for kind in range(6):
        x += mix(state["pieces"][kind] + np.uint64(kind + 1) * STEP)
    return x
