"""Chess as cells.

    board       0 empty, 1-6 own pawn, knight, bishop, rook, queen, king, 7-12 the opponent's; from the own first rank
    castling    own rights, then the opponent's: towards the file where the board begins, towards the other
    en_passant  by file: 1 the seat may capture so, 2 the opponent may

The board is turned for Black, and mirrored left to right if the own king stands on the files e to h: what is learned of
a king behind three pawns then holds on both wings. A king that crosses the middle changes nearly all cells at once: a
model that follows the differences of cells begins anew there.

The clock and repetitions are no cells: a search looks values up by a key that ignores both.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import ONE, ZERO
from plyground.games.cells import Cells, Group, Out
from plyground.games.chess.board import BISHOPS, KINGS, KNIGHTS, NO_SQUARE, PAWNS, QUEENS, ROOKS, lowest
from plyground.games.chess.scene import KINDS
from plyground.games.chess.text import SQUARES
from plyground.games.interface import State

CASTLING, EN_PASSANT = 64, 68  # the first cell of these groups
OTHER_WING = np.uint64(4)  # this bit of a square's number is set on the files e to h
MIRROR, TURN = np.uint64(7), np.uint64(56)
THEIRS = np.int16(6)  # more than the own piece of that kind


@njit
def orientation(state: State, seat: int) -> np.uint64:
    """What a square's number is combined with (exclusive or) to give its cell."""
    king = state["pieces"][KINGS] & state["sides"][seat]
    turn = TURN if seat == 1 else ZERO
    return turn | MIRROR if king != ZERO and lowest(king) & OTHER_WING != ZERO else turn


@njit
def write_cells(state: State, seat: int, out: Out) -> None:
    pieces, theirs, seen = state["pieces"], state["sides"][1 - seat], orientation(state, seat)
    # binary digits of a kind's number: a loop over squares without branches beats one over pieces
    units = pieces[PAWNS] | pieces[BISHOPS] | pieces[QUEENS]
    twos = pieces[KNIGHTS] | pieces[BISHOPS] | pieces[KINGS]
    fours = pieces[ROOKS] | pieces[QUEENS] | pieces[KINGS]
    for cell in range(64):
        square = np.uint64(cell) ^ seen
        kind = ((units >> square) & ONE) | ((twos >> square) & ONE) << ONE | ((fours >> square) & ONE) << np.uint64(2)
        out[cell] = np.int16(kind) + THEIRS * np.int16((theirs >> square) & ONE)
    wing = np.int64(seen) & 1  # mirrored, the board begins on the king's side
    for k in range(4):
        right = (k ^ (1 - wing)) ^ (2 * seat)  # in the record the king's side comes first
        out[CASTLING + k] = (state["castling"] >> right) & 1
    for file in range(8):
        out[EN_PASSANT + file] = 0
    if state["en_passant"] != NO_SQUARE:
        passed = np.uint64(state["en_passant"])
        captures = 0 if passed > np.uint64(31) else 1  # the side that may: behind Black's pawn White may
        out[EN_PASSANT + np.int64((passed ^ seen) & MIRROR)] = 1 if captures == seat else 2


def names(state: State, seat: int) -> list[str]:
    """The squares; castling rights and en passant by file."""
    squares = [SQUARES[cell ^ int(orientation(state, seat))] for cell in range(64)]
    files = [square[0] for square in squares[:8]]
    rights = [f"{whose} castling towards {files[end]}" for whose in ("own", "their") for end in (0, 7)]
    return [*squares, *rights, *(f"en passant {file}" for file in files)]


PIECES = tuple(f"{whose} {kind}" for whose in ("own", "their") for kind in KINDS.values())
GROUPS = (
    Group("board", 64, 13, (8, 8), words=PIECES),
    Group("castling", 4, 2, words=("allowed",)),
    Group("en_passant", 8, 3, words=("possible", "possible for the opponent")),
)
CELLS = Cells(GROUPS, write_cells, names=names)
