"""Chess by FIDE's rules. White is the first side.

Six sets of squares for the kinds of pieces and two for the sides (`board.py` draws the squares). The record
also keeps what every move needs: the pieces that give check and the pieces that are pinned to their king.

An action is 64 * from + to; a pawn that reaches the last rank becomes a queen. The 72 actions after those are the
promotions to something less: 4096 + 9 * file of the pawn + 3 * (0, 1, 2: to the left, straight on, to the right as
White sits) + (0, 1, 2: knight, bishop, rook). Thus the first 4096 actions are a game in which every promotion is to a
queen. Names are UCI moves: e2e4, e1g1, e7e8q.

A game ends as soon as the third occurrence of a position, or the hundredth ply in a row without capture or pawn move,
stands on the board; with `draws=automatic` only at the fifth and at 150.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import ONE, S8, ZERO, bishop_rays, popcount, rook_rays, wrapping
from plyground.games.chess import board
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, Actions, Rng, Setting, State
from plyground.games.rng import STEP, mix

# ---- board ----

NUM_ACTIONS = board.QUEENING_ACTIONS + 72
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

NO_ENDING, CHECKMATE, STALEMATE, MATERIAL, REPETITION, CLOCK = range(6)

BACK_RANKS = [0x42 << 56 | 0x42, 0x24 << 56 | 0x24, 0x81 << 56 | 0x81, 0x08 << 56 | 0x08, 0x10 << 56 | 0x10]
FIRST_PIECES = np.array([0x00FF00000000FF00, *BACK_RANKS], np.uint64)  # [6]
LIGHT_SQUARES = np.uint64(0x55AA55AA55AA55AA)


# ---- rules ----


@njit
def reset(state: State, rng: Rng) -> None:
    """The usual arrangement."""
    for kind in range(6):
        state["pieces"][kind] = FIRST_PIECES[kind]
    state["sides"][0] = np.uint64(0x000000000000FFFF)
    state["sides"][1] = np.uint64(0xFFFF000000000000)
    state["castling"] = 15
    state["en_passant"] = board.NO_SQUARE
    state["move_number"] = 1
    settle(state)


@njit
def settle(state: State) -> None:
    """Compute what follows from an arrangement: checks and pins, the outcome, whether en passant is possible."""
    board.find_checks(state)
    if state["en_passant"] != board.NO_SQUARE and board.en_passant_pawns(state) == ZERO:
        state["en_passant"] = board.NO_SQUARE
    state["repetitions"] = 1
    if state["clock"] <= LONGEST_CLOCK:
        state["history"][state["clock"]] = key(state)
    end_without_moves(state)
    end_by_count(state)


@njit
def play(state: State, action: int, rng: Rng) -> None:
    """Move, and find whether the game is over."""
    play_head(state, action, rng)
    count_repetitions(state)
    end_by_count(state)


@njit
def play_head(state: State, action: int, rng: Rng) -> None:
    """Move, and see checkmate and stalemate, but no other draws: what perft counts and a search needs."""
    board.move(state, action)
    board.find_checks(state)
    if state["en_passant"] != board.NO_SQUARE and board.en_passant_pawns(state) == ZERO:
        state["en_passant"] = board.NO_SQUARE
    end_without_moves(state)


@njit
def legal(state: State, actions: Actions) -> int:
    """Every legal move, piece by piece from a1 to h8; promotions to less than a queen come last."""
    if state["outcome"] != RUNNING:
        return 0
    own = state["sides"][state["to_move"]]
    king = state["pieces"][board.KINGS] & own
    king_square = board.lowest(king)
    allowed = board.answers(state, king_square)
    movers = own if allowed != ZERO else king
    count, promoting = 0, ZERO
    while movers != ZERO:
        square = board.lowest(movers)
        bit = ONE << square
        movers ^= bit
        targets = board.destinations(state, square, king_square, allowed)
        if state["pieces"][board.PAWNS] & bit != ZERO and targets & board.LAST_RANKS != ZERO:
            promoting |= bit
        start = np.int64(square) * 64
        while targets != ZERO:
            actions[count] = start + np.int64(board.lowest(targets))
            count += 1
            targets &= targets - ONE
    while promoting != ZERO:
        square = board.lowest(promoting)
        promoting &= promoting - ONE
        targets = board.destinations(state, square, king_square, allowed)
        while targets != ZERO:
            first = board.lesser_promotion(square, board.lowest(targets))
            targets &= targets - ONE
            for piece in range(3):
                actions[count] = first + piece
                count += 1
    return count


@njit
def count_legal(state: State, actions: Actions) -> np.int64:
    """How many legal moves there are, without listing them."""
    if state["outcome"] != RUNNING:
        return np.int64(0)
    side = state["to_move"]
    own, other = state["sides"][side], state["sides"][1 - side]
    occupied = own | other
    king_square = board.lowest(state["pieces"][board.KINGS] & own)
    count = popcount(board.king_steps(state, king_square))
    allowed = board.answers(state, king_square)
    if allowed == ZERO:
        return count
    free = own & ~state["pinned"]
    count += board.count_pawn_moves(state["pieces"][board.PAWNS] & free, side, occupied, other, allowed)
    if state["en_passant"] != board.NO_SQUARE:
        count += popcount(board.en_passant_pawns(state) & ~state["pinned"])
    targets_of_all = allowed & ~own
    movers = state["pieces"][board.KNIGHTS] & free
    while movers != ZERO:
        count += popcount(board.KNIGHT[board.lowest(movers)] & targets_of_all)
        movers &= movers - ONE
    movers = (state["pieces"][board.BISHOPS] | state["pieces"][board.QUEENS]) & free
    while movers != ZERO:
        count += popcount(bishop_rays(board.lowest(movers), occupied) & targets_of_all)
        movers &= movers - ONE
    movers = (state["pieces"][board.ROOKS] | state["pieces"][board.QUEENS]) & free
    while movers != ZERO:
        count += popcount(rook_rays(board.lowest(movers), occupied) & targets_of_all)
        movers &= movers - ONE
    movers = state["pinned"]
    while movers != ZERO:
        square = board.lowest(movers)
        targets = board.destinations(state, square, king_square, allowed)
        count += popcount(targets)
        if state["pieces"][board.PAWNS] & (ONE << square) != ZERO:
            count += 3 * popcount(targets & board.LAST_RANKS)
        movers &= movers - ONE
    return count


# ---- outcome ----


@njit
def has_legal_move(state: State) -> bool:
    """Whether the side to move has any; tries the likely ones first."""
    side = state["to_move"]
    own, other = state["sides"][side], state["sides"][1 - side]
    if state["checkers"] == ZERO:
        pawns = state["pieces"][board.PAWNS] & own & ~state["pinned"]
        steps = (pawns << S8 if side == 0 else pawns >> S8) & ~(own | other)
        if steps != ZERO:
            return True
    king = state["pieces"][board.KINGS] & own
    king_square = board.lowest(king)
    allowed = board.answers(state, king_square)
    movers = own if allowed != ZERO else king
    while movers != ZERO:
        if board.destinations(state, board.lowest(movers), king_square, allowed) != ZERO:
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
    if pieces[board.PAWNS] | pieces[board.ROOKS] | pieces[board.QUEENS] != ZERO:
        return False
    if pieces[board.KNIGHTS] != ZERO:
        return pieces[board.BISHOPS] == ZERO and pieces[board.KNIGHTS] & (pieces[board.KNIGHTS] - ONE) == ZERO
    return pieces[board.BISHOPS] & LIGHT_SQUARES == ZERO or pieces[board.BISHOPS] & ~LIGHT_SQUARES == ZERO


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


@wrapping
def key(state: State) -> np.uint64:
    """64 bits that tell positions apart: pieces, side to move, castling, en passant."""
    rest = state["to_move"] + 2 * np.int64(state["castling"]) + 32 * (np.int64(state["en_passant"]) + 1)
    x = mix(state["sides"][0] ^ mix(np.uint64(rest)))
    for kind in range(6):
        x += mix(state["pieces"][kind] + np.uint64(kind + 1) * STEP)
    return x
