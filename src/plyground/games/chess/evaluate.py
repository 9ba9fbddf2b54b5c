"""The evaluation of a chess position: material, piece-square tables, mobility, king safety, in centipawns;
and the order in which a search tries captures.

Each term is counted for both sides alike, so that swapping the colours changes the sign and nothing else. Places and
pawns have two values, one for the middle game and one for the end game; the number of pieces left
interpolates between them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import ONE, ZERO, bishop_rays, pawn_attacks, popcount, rook_rays
from plyground.games.chess import board
from plyground.games.interface import State

MATERIAL = np.array([[90, 320, 330, 480, 950, 0], [120, 300, 320, 520, 980, 0]], np.int32)  # [middle or end, kind]
MOBILITY = np.array([0, 4, 4, 2, 1, 0], np.int32)  # [kind] for each square a piece can go to
PHASE = np.array([0, 1, 1, 2, 4, 0], np.int32)  # [kind] 24 in the beginning, 0 where only kings and pawns are left
NEAR_KING = 8  # for each square beside the opponent's king that a piece attacks
SHELTER = 10  # for each own pawn beside the king, in the middle game
PAIR = 30  # two bishops
SCALE = 500.0  # an advantage of so much is worth one half


# ---- places ----


def _places() -> NDArray[np.int32]:
    """[middle or end, kind, square as White sees it] small bonuses: pieces to the centre, pawns forward, the king into
    its corner first and to the centre at the end."""
    places = np.zeros((2, 6, 64), np.int32)
    for square in range(64):
        rank, file = divmod(square, 8)
        edge = min(rank, 7 - rank) + min(file, 7 - file)  # 0 in a corner, 6 in the centre
        middle_file = min(file, 7 - file)
        for end in range(2):
            places[end, board.KNIGHTS, square] = 8 * edge - 30
            places[end, board.BISHOPS, square] = 4 * edge - 12 - 8 * (rank == 0)
            places[end, board.QUEENS, square] = (1 + end) * edge - 4
        places[:, board.ROOKS, square] = 12 * (rank == 6)
        places[0, board.ROOKS, square] += 3 * middle_file
        places[0, board.PAWNS, square] = 2 * rank + (8 * (rank - 1) if middle_file == 3 else 0)
        places[1, board.PAWNS, square] = 5 * rank * rank - 5
        places[0, board.KINGS, square] = 25 * (middle_file < 3 and rank == 0) - 15 * rank - 10 * (middle_file == 3)
        places[1, board.KINGS, square] = 12 * edge - 36
    return places


PLACES = _places()


# ---- the sum ----


@njit
def evaluate(state: State) -> float:
    """In [-1, 1], for the side to move."""
    mine, theirs = state["to_move"], 1 - state["to_move"]
    phase = 0
    for kind in range(board.KNIGHTS, board.KINGS):
        phase += PHASE[kind] * popcount(state["pieces"][kind])
    phase = phase if phase < 24 else 24  # after promotions there may be more
    score = side_score(state, mine, phase) - side_score(state, theirs, phase)
    return score / (SCALE + abs(score))


@njit
def side_score(state: State, side: int, phase: int) -> np.int64:
    """The sum of one side's terms, by kind of piece."""
    own, other = state["sides"][side], state["sides"][1 - side]
    occupied = own | other
    turned = np.uint64(56 * side)  # Black sees the board from the other side
    other_king = board.KING[board.lowest(state["pieces"][board.KINGS] & other)]
    guarded = pawn_attacks(1 - side, state["pieces"][board.PAWNS] & other)
    middle, end, both = np.int64(0), np.int64(0), np.int64(0)
    for kind in range(6):
        rest = state["pieces"][kind] & own
        while rest != ZERO:
            square = board.lowest(rest)
            rest &= rest - ONE
            middle += MATERIAL[0, kind] + PLACES[0, kind, square ^ turned]
            end += MATERIAL[1, kind] + PLACES[1, kind, square ^ turned]
            if board.PAWNS < kind < board.KINGS:
                attacks = reached(kind, square, occupied)
                both += MOBILITY[kind] * popcount(attacks & ~own & ~guarded)
                both += NEAR_KING * popcount(attacks & other_king)
    shelter = board.KING[board.lowest(state["pieces"][board.KINGS] & own)] & state["pieces"][board.PAWNS] & own
    middle += SHELTER * popcount(shelter)
    if popcount(state["pieces"][board.BISHOPS] & own) >= 2:
        both += PAIR
    return both + (middle * phase + end * (24 - phase)) // 24


@njit
def reached(kind: int, square: board.Square, occupied: board.Squares) -> board.Squares:
    """What a piece other than pawn and king attacks."""
    if kind == board.KNIGHTS:
        return board.KNIGHT[square]
    attacks = ZERO
    if kind != board.ROOKS:
        attacks |= bishop_rays(square, occupied)
    if kind != board.BISHOPS:
        attacks |= rook_rays(square, occupied)
    return attacks


# ---- loud moves ----


@njit
def loudness(state: State, action: int) -> np.int64:
    """Captures and promotions to a queen: the most valuable victim first, taken by the least valuable piece."""
    if action >= board.QUEENING_ACTIONS:
        return np.int64(0)
    start, end = ONE << np.uint64(action >> 6), ONE << np.uint64(action & 63)
    if (state["pieces"][board.PAWNS] & start) | (state["sides"][1 - state["to_move"]] & end) == ZERO:
        return np.int64(0)  # most moves: no pawn, and nothing is captured
    attacker = board.PAWNS
    while state["pieces"][attacker] & start == ZERO:
        attacker += 1
    gain = 0
    if state["sides"][1 - state["to_move"]] & end != ZERO:
        victim = board.PAWNS
        while state["pieces"][victim] & end == ZERO:
            victim += 1
        gain = 1 + victim
    elif attacker == board.PAWNS and state["en_passant"] == action & 63:
        gain = 1
    if attacker == board.PAWNS and end & board.LAST_RANKS != ZERO:
        gain += board.QUEENS
    return np.int64(8 * gain + board.KINGS - attacker if gain > 0 else 0)
