"""Chess on a mailbox, written from the rules: every piece walks, and a move is legal if its king is safe behind it.

Plain loops that numba compiles, so that it can follow a million games; python-chess, beside which it is tested itself
(`tests/torture/test_games.py`), would take half a day. A wall surrounds the board, where every walk ends:

    91 92 93 94 95 96 97 98      rank 8
    ...
    31 32 33 34 35 36 37 38
    21 22 23 24 25 26 27 28      rank 1, files a to h
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

EMPTY, PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, WALL = range(8)  # negative: a piece of Black
NOWHERE = 0
RUNNING, DRAW, FIRST_WINS, SECOND_WINS = range(4)
NO_ENDING, CHECKMATE, STALEMATE, MATERIAL, REPETITION, CLOCK = range(6)
LONGEST_CLOCK, MOST_MOVES = 150, 256

STEPS = np.zeros((KING + 1, 8), np.int64)  # [kind, way], 0 where a piece has fewer ways
STEPS[KNIGHT] = -21, -19, -12, -8, 8, 12, 19, 21
STEPS[BISHOP, :4] = -11, -9, 9, 11
STEPS[ROOK, :4] = -10, -1, 1, 10
STEPS[QUEEN] = STEPS[KING] = -11, -10, -9, -1, 1, 9, 10, 11
SQUARES = np.array([21 + file + 10 * rank for rank in range(8) for file in range(8)])  # [64] a1, b1, ..., h8
CASTLING = np.array([[1, 25, 28], [2, 25, 21], [4, 95, 98], [8, 95, 91]])  # [4, 3] its bit, king, rook

TWIN = np.dtype(
    [
        ("board", np.int8, 120),
        ("passed", np.int64),  # the square that a double step passed, if a capture there is legal; else NOWHERE
        ("castling", np.uint8),
        ("to_move", np.int8),
        ("clock", np.int16),
        ("move_number", np.int16),
        ("automatic", np.bool_),  # the setting `draws`
        # What follows from the position, as others name it:
        ("pieces", np.uint64, 6),
        ("sides", np.uint64, 2),
        ("en_passant", np.int8),
        ("check", np.bool_),
        ("repetitions", np.int8),
        ("outcome", np.int8),
        ("ending", np.int8),
        ("count", np.int32),  # of legal moves; 0 when the game is over
        ("moves", np.int64, (MOST_MOVES, 3)),  # from, to, and the piece that a pawn becomes or EMPTY
        ("actions", np.int32, MOST_MOVES),  # the same moves as numbers
        ("boards", np.int8, (LONGEST_CLOCK + 1, 120)),  # the positions since the last capture or pawn move, by clock
        ("others", np.int8, (LONGEST_CLOCK + 1, 3)),  # their side to move, castling rights and passed squares
    ]
)
Board = NDArray[np.int8]  # [120]
Moves = NDArray[np.int64]  # [MOST_MOVES, 3]
Twin = Any  # one record of TWIN


# ---- moves ----


@njit
def attacked(board: Board, square: int, sign: int) -> bool:
    """Whether a piece of the side `sign` (1: White, -1: Black) attacks the square."""
    for step in STEPS[KNIGHT]:
        if board[square + step] == KNIGHT * sign:
            return True
    for step in STEPS[QUEEN]:
        seen = square + step
        if board[seen] == KING * sign:
            return True
        while board[seen] == EMPTY:
            seen += step
        runner = BISHOP if abs(step) in (9, 11) else ROOK
        if board[seen] == runner * sign or board[seen] == QUEEN * sign:
            return True
    below = square - 10 * sign
    return board[below - 1] == PAWN * sign or board[below + 1] == PAWN * sign


@njit
def add(moves: Moves, count: int, start: int, end: int, becomes: int) -> int:
    moves[count, 0], moves[count, 1], moves[count, 2] = start, end, becomes
    return count + 1


@njit
def add_walk(board: Board, start: int, sign: int, moves: Moves, count: int) -> int:
    """The moves of a piece other than a pawn, whether its king is safe or not."""
    kind = board[start] * sign
    for step in STEPS[kind]:
        end = start + step
        while step != 0 and board[end] != WALL and board[end] * sign <= 0:
            count = add(moves, count, start, end, EMPTY)
            if board[end] != EMPTY or kind in (KNIGHT, KING):
                break
            end += step
    return count


@njit
def add_pawn(board: Board, start: int, sign: int, passed: int, moves: Moves, count: int) -> int:
    ahead = start + 10 * sign
    home, last = (3, 9) if sign == 1 else (8, 2)  # tens of squares
    for end in (ahead - 1, ahead, ahead + 1):
        capture = end == passed or (board[end] != WALL and board[end] * sign < 0)
        if capture if end != ahead else board[end] == EMPTY:
            if end // 10 != last:
                count = add(moves, count, start, end, EMPTY)
            else:
                for becomes in range(KNIGHT, QUEEN + 1):
                    count = add(moves, count, start, end, becomes)
    if start // 10 == home and board[ahead] == EMPTY and board[ahead + 10 * sign] == EMPTY:
        count = add(moves, count, start, ahead + 10 * sign, EMPTY)
    return count


@njit
def add_castling(twin: Twin, sign: int, moves: Moves, count: int) -> int:
    """The king is not in check, passes no attacked square, and nothing stands between it and the rook."""
    board = twin["board"]
    for bit, king, rook in CASTLING[:2] if sign == 1 else CASTLING[2:]:
        step = 1 if rook > king else -1
        free = twin["castling"] & bit != 0
        for between in range(king + step, rook, step):
            free = free and board[between] == EMPTY
        if free and not attacked(board, king, -sign) and not attacked(board, king + step, -sign):
            count = add(moves, count, king, king + 2 * step, EMPTY)
    return count


@njit
def carry_out(board: Board, start: int, end: int, becomes: int, passed: int) -> None:
    piece = board[start]
    sign = 1 if piece > 0 else -1
    if piece == PAWN * sign and end == passed:
        board[end - 10 * sign] = EMPTY
    if piece == KING * sign and abs(end - start) == 2:
        corner = end + 1 if end > start else end - 2
        board[(start + end) // 2], board[corner] = board[corner], EMPTY
    board[end] = becomes * sign if becomes != EMPTY else piece
    board[start] = EMPTY


@njit
def find_moves(twin: Twin) -> bool:
    """List the legal moves; whether one of them captures en passant."""
    board, passed, sign = twin["board"], twin["passed"], 1 - 2 * twin["to_move"]
    moves, after, count, king = np.empty((MOST_MOVES, 3), np.int64), np.empty(120, np.int8), 0, NOWHERE
    for square in SQUARES:
        kind = board[square] * sign
        if kind == PAWN:
            count = add_pawn(board, square, sign, passed, moves, count)
        elif kind > 0:
            count = add_walk(board, square, sign, moves, count)
        if kind == KING:
            king = square
    count = add_castling(twin, sign, moves, count)
    captures = False
    for k in range(count):
        start, end, becomes = moves[k, 0], moves[k, 1], moves[k, 2]
        after[:] = board
        carry_out(after, start, end, becomes, passed)
        if not attacked(after, end if start == king else king, -sign):
            twin["actions"][twin["count"]] = action(start, end, becomes)
            twin["count"] = add(twin["moves"], twin["count"], start, end, becomes)
            captures |= board[start] == PAWN * sign and end == passed
    twin["check"] = attacked(board, king, -sign)
    return captures


@njit
def action(start: int, end: int, becomes: int) -> int:
    """64 * from + to, or the number of a promotion to less than a queen (docs/rules/chess.md)."""
    file, towards = start % 10 - 1, end % 10 - 1
    if becomes in (KNIGHT, BISHOP, ROOK):
        return 4096 + 9 * file + 3 * (towards - file + 1) + becomes - KNIGHT
    return 64 * (8 * (start // 10 - 2) + file) + 8 * (end // 10 - 2) + towards


# ---- a game ----


@njit
def play(twin: Twin, played: int) -> bool:
    """Make a move; False if it is not legal."""
    number = 0
    while number < twin["count"] and twin["actions"][number] != played:
        number += 1
    if number == twin["count"]:
        return False
    start, end, becomes = twin["moves"][number]
    board, sign, passed = twin["board"], 1 - 2 * twin["to_move"], twin["passed"]
    pawn = board[start] == PAWN * sign
    twin["clock"] = 0 if pawn or board[end] != EMPTY else twin["clock"] + 1
    carry_out(board, start, end, becomes, passed)
    twin["passed"] = (start + end) // 2 if pawn and abs(end - start) == 20 else NOWHERE
    for bit, king, rook in CASTLING:  # a right is lost for ever when one of the two has left its place
        owner = 1 if king == 25 else -1
        if board[king] != KING * owner or board[rook] != ROOK * owner:
            twin["castling"] &= 15 - bit
    twin["move_number"] += twin["to_move"]
    twin["to_move"] = 1 - twin["to_move"]
    look(twin)
    return True


@njit
def look(twin: Twin) -> None:
    """Find everything that follows from the position."""
    twin["count"], twin["outcome"], twin["ending"] = 0, RUNNING, NO_ENDING
    if not find_moves(twin):
        twin["passed"] = NOWHERE
    passed = twin["passed"]
    twin["en_passant"] = -1 if passed == NOWHERE else 8 * (passed // 10 - 2) + passed % 10 - 1
    count_repetitions(twin)
    fives = twin["automatic"]
    if twin["count"] == 0 and twin["check"]:
        twin["outcome"], twin["ending"] = SECOND_WINS if twin["to_move"] == 0 else FIRST_WINS, CHECKMATE
    elif twin["count"] == 0:
        twin["outcome"], twin["ending"] = DRAW, STALEMATE
    elif insufficient_material(twin["board"]):
        twin["outcome"], twin["ending"] = DRAW, MATERIAL
    elif twin["repetitions"] >= (5 if fives else 3):
        twin["outcome"], twin["ending"] = DRAW, REPETITION
    elif twin["clock"] >= (150 if fives else 100):
        twin["outcome"], twin["ending"] = DRAW, CLOCK
    if twin["outcome"] != RUNNING:
        twin["count"] = 0
    write_sets(twin)


@njit
def count_repetitions(twin: Twin) -> None:
    """Compare the position with all since the last capture or pawn move, itself among them."""
    clock, boards, others = twin["clock"], twin["boards"], twin["others"]
    boards[clock] = twin["board"]
    others[clock, 0], others[clock, 1], others[clock, 2] = twin["to_move"], twin["castling"], twin["passed"]
    twin["repetitions"] = 0
    for earlier in range(clock + 1):
        same = True
        for k in range(3):
            same = same and others[earlier, k] == others[clock, k]
        for square in SQUARES:
            if not same:
                break
            same = boards[earlier, square] == boards[clock, square]
        twin["repetitions"] += same


@njit
def insufficient_material(board: Board) -> bool:
    """Bare kings, one knight, or bishops on squares of one colour."""
    knights, light, dark = 0, 0, 0
    for square in SQUARES:
        kind = abs(board[square])
        if kind in (PAWN, ROOK, QUEEN):
            return False
        if kind == BISHOP and (square // 10 + square % 10) % 2 == 0:
            light += 1
        elif kind == BISHOP:
            dark += 1
        knights += kind == KNIGHT
    return knights + light + dark <= 1 or (knights == 0 and (light == 0 or dark == 0))


@njit
def write_sets(twin: Twin) -> None:
    """The board as sets of squares, by kind and by side."""
    twin["pieces"][:] = 0
    twin["sides"][:] = 0
    for k in range(64):
        piece, bit = twin["board"][SQUARES[k]], np.uint64(1) << np.uint64(k)
        if piece != EMPTY:
            twin["pieces"][abs(piece) - 1] |= bit
            twin["sides"][0 if piece > 0 else 1] |= bit


# ---- many games ----
# numba's own cache knows when this file has changed, and these functions reach no other one.


def started(games: int, automatic: bool) -> NDArray[np.void]:
    """[N] twins at the beginning of a game."""
    twins = np.zeros(games, TWIN)
    twins["board"] = WALL
    twins["board"][:, SQUARES] = EMPTY
    back = ROOK, KNIGHT, BISHOP, QUEEN, KING, BISHOP, KNIGHT, ROOK
    twins["board"][:, 21:29], twins["board"][:, 31:39] = back, PAWN
    twins["board"][:, 91:99], twins["board"][:, 81:89] = [-piece for piece in back], -PAWN
    twins["castling"], twins["move_number"], twins["automatic"] = 15, 1, automatic
    look_at_all(twins)
    return twins


@njit(cache=True)
def look_at_all(twins: NDArray[np.void]) -> None:
    for k in range(len(twins)):
        look(twins[k])


@njit(cache=True)
def play_all(twins: NDArray[np.void], actions: NDArray[np.int32]) -> bool:
    """Make a move in each game; whether all were legal."""
    legal = True
    for k in range(len(twins)):
        legal &= play(twins[k], actions[k])
    return legal
