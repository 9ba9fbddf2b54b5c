"""The evaluation of a Paco Ŝako position: free pieces, reach, chains and the kings' surroundings, in hundredths of a
free pawn; and what a search by time needs.

Nothing leaves the board, so material is which pieces are free: a union serves both sides, and binds the pieces in it.
Each term is counted for both sides alike: exchanging the colours changes the sign and nothing else.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import ONE, ZERO, aslant, beside, bit, lowest, popcount
from plyground.games.interface import State
from plyground.games.paco_sako import board
from plyground.games.paco_sako.search import gives_sako
from plyground.games.paco_sako.search import key as transposition_key

__all__ = ["transposition_key"]  # part of the contract

FREE = np.array([0, 100, 350, 300, 300, 600, 0], np.int64)  # [kind] a piece that is alone
UNITED = np.array([0, 40, 150, 130, 130, 250, 0], np.int64)  # [kind] a piece in a union
REACH = 4  # for each square that a side threatens, through chains too
CHAINED = 20  # for each union that it can take over
NEAR_KING = 30  # for each threatened square beside the opponent's king
ADVANCED = 6  # for each rank that a pawn has advanced
SCALE = 600.0  # an advantage of so much is worth one half


@njit
def evaluate(state: State) -> float:
    """In [-1, 1], for the side to move."""
    score = side_score(state, state["to_move"]) - side_score(state, 1 - state["to_move"])
    return score / (SCALE + abs(score))


@njit
def side_score(state: State, side: int) -> np.int64:
    """The sum of one side's terms."""
    own, other = board.occupied(state, side), board.occupied(state, 1 - side)
    unions, score = own & other, np.int64(0)
    for kind in range(board.PAWN, board.KING):
        pieces = board.of_kind(state, side, kind)
        score += FREE[kind] * popcount(pieces & ~other) + UNITED[kind] * popcount(pieces & other)
    held = state["hand"][side]
    score += UNITED[held] if state["hand"][1 - side] != 0 else FREE[held]
    pawns = board.of_kind(state, side, board.PAWN) & ~other
    while pawns:
        rank = lowest(pawns) // 8
        score += ADVANCED * (rank if side == 0 else 7 - rank)
        pawns &= pawns - ONE
    found, entered = threatened(state, side, own, other)
    king = board.of_kind(state, 1 - side, board.KING)
    score += REACH * popcount(found & ~(own & ~other)) + CHAINED * popcount(entered & unions)
    score += NEAR_KING * popcount(found & (beside(king) | aslant(king)))
    return np.int64(score)


@njit
def threatened(state: State, side: int, own: np.uint64, other: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The squares that a side threatens, and the unions that it can take over: chains on the board as it stands."""
    taken, found, entered = own | other, ZERO, ZERO
    left = own & ~other
    while left:
        square = lowest(left)
        left &= left - ONE
        found |= board.attacks(side, board.kind_at(state, side, square), square, taken)
    left = found & own & other
    while left:
        square = lowest(left)
        entered |= bit(square)
        found |= board.attacks(side, board.kind_at(state, side, square), square, taken)
        left = found & own & other & ~entered
    return found, entered


# ---- search by time ----


@njit
def in_check(state: State, work: State) -> bool:
    """Whether the king of the side to move is in Ŝako."""
    return gives_sako(state, 1 - state["to_move"], work) == 1


@njit
def can_win(state: State, work: State) -> bool:
    """Whether the side to move can unite with the king in this turn."""
    return gives_sako(state, state["to_move"], work) == 1
