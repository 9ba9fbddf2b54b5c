"""The evaluation of a chess position: material, piece-square tables, mobility, king safety, in centipawns;
the order in which a search tries captures; and what a search by time needs.

Each term is counted for both sides alike, so that swapping the colours changes the sign and nothing else. Places and
pawns have two values, one for the middle game and one for the end game; the number of pieces left
interpolates between them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import FILES, NOT_A, NOT_H, ONE, S8, ZERO, bishop_rays, pawn_attacks, popcount, rook_rays
from plyground.games.chess import board
from plyground.games.chess.rules import has_legal_move
from plyground.games.chess.rules import key as transposition_key
from plyground.games.interface import RUNNING, Actions, State

__all__ = ["transposition_key"]  # part of the contract

MATERIAL = np.array([[90, 320, 330, 480, 950, 0], [120, 300, 320, 520, 980, 0]], np.int32)  # [middle or end, kind]
MOBILITY = np.array([0, 4, 4, 2, 1, 0], np.int32)  # [kind] for each square a piece can go to
PHASE = np.array([0, 1, 1, 2, 4, 0], np.int32)  # [kind] 24 in the beginning, 0 where only kings and pawns are left
NEAR_KING = 8  # for each square beside the opponent's king that a piece attacks
SHELTER = 10  # for each own pawn beside the king, in the middle game
PAIR = 30  # two bishops
S3 = np.uint64(3)
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
    phase = phase_of(state)
    score = side_score(state, mine, phase) - side_score(state, theirs, phase)
    return score / (SCALE + abs(score))


@njit
def phase_of(state: State) -> np.int64:
    """24 in the middle game, 0 when only pawns and kings are left."""
    phase = np.int64(0)
    for kind in range(board.KNIGHTS, board.KINGS):
        phase += PHASE[kind] * popcount(state["pieces"][kind])
    return min(phase, np.int64(24))  # after promotions there may be more


@njit
def side_score(state: State, side: int, phase: np.int64) -> np.int64:
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


# ---- the sum for searches by time ----

PASSED = np.array([[0, 0, 5, 10, 25, 50, 90, 0], [0, 10, 15, 30, 55, 100, 160, 0]], np.int32)  # [middle or end, rank]
ISOLATED, DOUBLED = 12, 10  # a pawn without own pawns beside its file; with one ahead on its file
OPEN_FILE, HALF_OPEN_FILE = 22, 10  # a rook on a file without pawns; without own pawns
ATTACK = np.array([0, 2, 2, 3, 4, 0], np.int32)  # [kind] a piece that attacks squares beside the opponent's king
MOST_ATTACK = 300
TEMPO = 12  # to be on move


def _ahead() -> NDArray[np.uint64]:
    """[side, square] the squares ahead of a pawn on its own file and on those beside it: none of an enemy pawn there,
    and it is passed."""
    ahead = np.zeros((2, 64), np.uint64)
    for square in range(64):
        rank, file = divmod(square, 8)
        files = [each for each in (file - 1, file, file + 1) if 0 <= each < 8]
        for side, ranks in enumerate((range(rank + 1, 8), range(rank))):
            ahead[side, square] = sum(1 << (8 * each + f) for each in ranks for f in files)
    return ahead


AHEAD = _ahead()
DISTANCE = np.array([[max(abs(a // 8 - b // 8), abs(a % 8 - b % 8)) for b in range(64)] for a in range(64)], np.int8)
"""[64, 64] steps of a king"""


@njit
def evaluate_fine(state: State) -> float:
    """`evaluate` with pawn structure, files for rooks, and attacks on the king that grow with the attackers."""
    mine, theirs = state["to_move"], 1 - state["to_move"]
    phase = phase_of(state)
    score = TEMPO + pawn_score(state, mine, phase) - pawn_score(state, theirs, phase)
    score += piece_score(state, mine, phase) - piece_score(state, theirs, phase)
    return score / (SCALE + abs(score))


@njit
def pawn_score(state: State, side: int, phase: np.int64) -> np.int64:
    """Pawns by place and structure; a passed pawn counts more in the end game, and more near its own king."""
    own, other = state["pieces"][board.PAWNS] & state["sides"][side], state["pieces"][board.PAWNS]
    other &= state["sides"][1 - side]
    kings = state["pieces"][board.KINGS]
    king, other_king = board.lowest(kings & state["sides"][side]), board.lowest(kings & state["sides"][1 - side])
    middle, end, rest = np.int64(0), np.int64(0), own
    while rest != ZERO:
        square = board.lowest(rest)
        rest &= rest - ONE
        seen = square ^ np.uint64(56 * side)
        middle += MATERIAL[0, board.PAWNS] + PLACES[0, board.PAWNS, seen]
        end += MATERIAL[1, board.PAWNS] + 5 * np.int64(seen >> S3)
        file = FILES[square] | ONE << square
        if AHEAD[side, square] & file & own != ZERO:
            middle, end = middle - DOUBLED, end - DOUBLED
        beside_file = ((file & NOT_A) >> ONE) | ((file & NOT_H) << ONE)
        if beside_file & own == ZERO:
            middle, end = middle - ISOLATED, end - ISOLATED
        if AHEAD[side, square] & other == ZERO:
            rank, step = np.int64(seen >> S3), square + S8 if side == 0 else square - S8
            middle, end = middle + PASSED[0, rank], end + PASSED[1, rank]
            end += (rank - 1) * (2 * DISTANCE[other_king, step] - DISTANCE[king, step])
    return (middle * phase + end * (24 - phase)) // 24


@njit
def piece_score(state: State, side: int, phase: np.int64) -> np.int64:
    """All pieces but pawns: material, places, mobility, files, and what they attack beside the king."""
    own, other = state["sides"][side], state["sides"][1 - side]
    pawns, occupied = state["pieces"][board.PAWNS], own | other
    turned = np.uint64(56 * side)  # Black sees the board from the other side
    ring = board.KING[board.lowest(state["pieces"][board.KINGS] & other)]
    guarded = pawn_attacks(1 - side, pawns & other)
    middle, end, both, attack = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for kind in range(board.KNIGHTS, board.KINGS + 1):
        rest = state["pieces"][kind] & own
        while rest != ZERO:
            square = board.lowest(rest)
            rest &= rest - ONE
            middle += MATERIAL[0, kind] + PLACES[0, kind, square ^ turned]
            end += MATERIAL[1, kind] + PLACES[1, kind, square ^ turned]
            if kind == board.KINGS:
                middle += SHELTER * popcount(board.KING[square] & pawns & own)
                continue
            attacks = reached(kind, square, occupied)
            both += MOBILITY[kind] * popcount(attacks & ~own & ~guarded)
            if attacks & ring != ZERO:
                attack += ATTACK[kind] + popcount(attacks & ring)
            if kind == board.ROOKS and FILES[square] & pawns & own == ZERO:
                both += OPEN_FILE if FILES[square] & pawns == ZERO else HALF_OPEN_FILE
    if popcount(state["pieces"][board.BISHOPS] & own) >= 2:
        both += PAIR
    middle += min(attack * attack, MOST_ATTACK)
    return both + (middle * phase + end * (24 - phase)) // 24


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


@njit
def legal_loud(state: State, actions: Actions) -> int:
    """Legal captures and promotions to a queen, in the order of `legal`."""
    if state["outcome"] != RUNNING:
        return 0
    own, other = state["sides"][state["to_move"]], state["sides"][1 - state["to_move"]]
    king = state["pieces"][board.KINGS] & own
    king_square = board.lowest(king)
    allowed = board.answers(state, king_square)
    movers = own if allowed != ZERO else king
    if board.KING[king_square] & other == ZERO:
        movers &= ~king  # its steps are the dearest to find
    for_pawns = other | board.LAST_RANKS
    if state["en_passant"] != board.NO_SQUARE:
        for_pawns |= ONE << np.uint64(state["en_passant"])
    count = 0
    while movers != ZERO:
        square = board.lowest(movers)
        movers &= movers - ONE
        targets = for_pawns if state["pieces"][board.PAWNS] & (ONE << square) != ZERO else other
        targets &= board.destinations(state, square, king_square, allowed)
        while targets != ZERO:
            actions[count] = np.int64(square) * 64 + np.int64(board.lowest(targets))
            count += 1
            targets &= targets - ONE
    return count


# ---- search by time ----


@njit
def in_check(state: State) -> bool:
    return state["checkers"] != ZERO


@njit
def pass_turn(state: State) -> bool:
    """A null move; not in check, nor with king and pawns alone, where having to move is often a burden (zugzwang)."""
    pieces = state["pieces"]
    own = state["sides"][state["to_move"]] & ~pieces[board.PAWNS] & ~pieces[board.KINGS]
    if state["checkers"] != ZERO or own == ZERO:
        return False
    state["to_move"] = 1 - state["to_move"]
    state["en_passant"] = board.NO_SQUARE
    state["clock"] = 0  # no position of before can recur by it
    board.find_checks(state)
    return has_legal_move(state)
