"""Paco Ŝako as cells.

    board       two layers, own pieces and the opponent's (a union is both): 0 none, 1-6 pawn, rook, knight, bishop,
                queen, king; the ranks are turned for Black, the files are not: the king stays on the e file
    lifted      the same for the pieces in the hand, on the square that they were lifted from
    castling    own rights on the queen's and on the king's side, then the opponent's
    en_passant  by file: 1 the seat may capture so, 2 the opponent may
    required    what must be done now: 0 lift, 1 place, 2-4 promote and then lift, place or finish

Lifted pieces have squares of their own, since a chain releases a piece where its successor has just been placed. Turns
without progress and repetitions are no cells: a search looks values up by a key that ignores both.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.bits import ONE, ZERO
from plyground.games.cells import Cells, Group, Out
from plyground.games.interface import State
from plyground.games.paco_sako.board import KING, PROMOTE_THEN_FINISH
from plyground.games.paco_sako.scene import KINDS
from plyground.games.paco_sako.text import SQUARES

LIFTED, CASTLING, EN_PASSANT, REQUIRED = 128, 256, 260, 268  # the first cell of these groups
TWO = np.uint64(2)
TURN = np.uint64(56)
NONE = np.int16(0)


@njit
def write_cells(state: State, seat: int, out: Out) -> None:
    planes, turn = state["planes"], TURN if seat == 1 else ZERO
    for layer in range(2):
        side = seat if layer == 0 else 1 - seat
        units, twos, fours = planes[side, 0], planes[side, 1], planes[side, 2]
        for cell in range(64):
            square = np.uint64(cell) ^ turn
            kind = ((units >> square) & ONE) | ((twos >> square) & ONE) << ONE | ((fours >> square) & ONE) << TWO
            out[64 * layer + cell] = np.int16(kind)
    for cell in range(LIFTED, CASTLING):
        out[cell] = NONE
    if state["hand"][0] != 0 or state["hand"][1] != 0:
        origin = np.int64(np.uint64(state["origin"]) ^ turn)
        out[LIFTED + origin] = state["hand"][seat]
        out[LIFTED + 64 + origin] = state["hand"][1 - seat]
    for k in range(4):
        out[CASTLING + k] = (state["rights"] >> (k ^ (2 * seat))) & 1
    for file in range(8):
        out[EN_PASSANT + file] = NONE
    passed = np.int64(state["en_passant"])
    if passed >= 0:
        captures = 0 if passed >= 32 else 1  # the side that may
        out[EN_PASSANT + passed % 8] = 1 if captures == seat else 2
    out[REQUIRED] = state["required"]


def names(state: State, seat: int) -> list[str]:
    """The squares of both layers, those that pieces were lifted from, castling rights, en passant, what is required."""
    squares = [SQUARES[cell ^ (56 * (seat % 2))] for cell in range(64)]
    rights = [f"{whose} castling towards {file}" for whose in ("own", "their") for file in "ah"]
    passed = [f"en passant {file}" for file in "abcdefgh"]
    return [*squares, *squares, *(f"lifted from {square}" for square in [*squares, *squares]), *rights, *passed, "now"]


PIECES = tuple(f"{whose} {kind}" for whose in ("own", "their") for kind in KINDS[1:])
REQUIRED_WORDS = ("place", "promote and lift", "promote and place", "promote and finish")
GROUPS = (
    Group("board", 64, KING + 1, (8, 8), layers=2, words=PIECES),
    Group("lifted", 64, KING + 1, layers=2, words=PIECES),
    Group("castling", 4, 2, words=("allowed",)),
    Group("en_passant", 8, 3, words=("possible", "possible for the opponent")),
    Group("required", 1, PROMOTE_THEN_FINISH + 1, words=REQUIRED_WORDS),
)
CELLS = Cells(GROUPS, write_cells, names=names)
