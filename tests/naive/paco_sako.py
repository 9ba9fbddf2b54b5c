"""Paco Ŝako on a row of numbers, written from the rules; it shares nothing with our code.

Plain loops that numba compiles, so that it can follow a million games. A board is all that a state within a turn has,
so that a chain is followed by copies of boards, and two boards are the same if all their numbers are:

    0 .. 7     what is in White's and Black's part of the hand, MOVER, MUST, ORIGIN, PASSED, PROMOTING, RIGHTS
    8 .. 71    White's pieces, a1, b1, ..., h8      72 .. 135    Black's

A piece is the code of its letter, `.` for none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

NONE, PAWN, ROOK, KNIGHT, BISHOP, QUEEN, KING = b".PRNBQK"
HAND, MOVER, MUST, ORIGIN, PASSED, PROMOTING, RIGHTS, PIECES, SIZE = 0, 2, 3, 4, 5, 6, 7, 8, 136
LIFT, PLACE, PROMOTE_AND_LIFT, PROMOTE_AND_PLACE, PROMOTE_AND_FINISH = range(5)
NOWHERE = -1
RUNNING, DRAW, FIRST_WINS, SECOND_WINS = range(4)
LONGEST_IDLE = 100
ORDER = "PRNBQK"
PAIRS = [first + second for k, first in enumerate(ORDER) for second in ORDER[k:]]
UNIONS = dict(zip(PAIRS, "acdefghijlmostuvwxyz", strict=False))  # two kings never unite

TWIN = np.dtype(
    [
        ("board", np.int16, SIZE),
        ("idle", np.int16),
        ("repetitions", np.int8),  # the setting; 0: any number
        ("clean", np.bool_),  # the setting `castling`
        ("seen", np.int16, (LONGEST_IDLE, SIZE)),  # boards at the ends of turns since the last progress
        ("recorded", np.int16),
        # What follows from these:
        ("outcome", np.int8),
        ("count", np.int32),  # of legal actions; 0 when the game is over
        ("actions", np.int32, 64),
    ]
)
Board = NDArray[np.int16]  # [SIZE]
Squares = NDArray[np.bool_]  # [64]
Twin = Any  # one record of TWIN


# ---- looking ----


@njit
def piece(board: Board, colour: int, square: int) -> int:
    return board[PIECES + 64 * colour + square]


@njit
def put(board: Board, colour: int, square: int, kind: int) -> None:
    board[PIECES + 64 * colour + square] = kind


@njit
def empty(board: Board, square: int) -> bool:
    return piece(board, 0, square) == NONE and piece(board, 1, square) == NONE


@njit
def goes(kind: int, right: int, up: int) -> bool:
    """Whether a piece other than a pawn goes this way."""
    straight, aslant = abs(right) + abs(up) == 1, abs(right) == 1 and abs(up) == 1
    if kind == KNIGHT:
        return abs(right * up) == 2
    return (straight and kind != BISHOP) or (aslant and kind != ROOK)


@njit
def walk(board: Board, kind: int, alone: bool, origin: int, threats: bool, found: Squares) -> None:
    """Mark where a piece of the mover goes, or what it threatens; only lone ones are asked what they threaten."""
    if kind == PAWN:
        walk_pawn(board, alone, origin, threats, found)
        return
    if kind == KING and threats:
        return
    for right in range(-2, 3):
        for up in range(-2, 3):
            file, rank = origin % 8 + right, origin // 8 + up
            while goes(kind, right, up) and 0 <= file < 8 and 0 <= rank < 8:
                square = 8 * rank + file
                if not empty(board, square):
                    met = piece(board, 1 - board[MOVER], square) != NONE
                    found[square] |= threats or (alone and met and kind != KING)
                    break
                found[square] = True
                if kind in (KNIGHT, KING):
                    break
                file, rank = file + right, rank + up


@njit
def walk_pawn(board: Board, alone: bool, origin: int, threats: bool, found: Squares) -> None:
    """One step; two from the first and the second rank; a lone pawn aslant, where it meets somebody or en passant."""
    mover = board[MOVER]
    up = 1 if mover == 0 else -1
    file, rank = origin % 8, origin // 8
    passed = board[PASSED] if board[PASSED] // 8 == (5 if mover == 0 else 2) else NOWHERE
    if not 0 <= rank + up < 8:
        return
    ahead = origin + 8 * up
    if not threats and empty(board, ahead):
        found[ahead] = True
        home = rank < 2 if mover == 0 else rank > 5
        if home and empty(board, ahead + 8 * up):
            found[ahead + 8 * up] = True
    for right in (-1, 1):
        if 0 <= file + right < 8:
            square = ahead + right
            met = piece(board, 1 - mover, square) != NONE or square == passed
            found[square] |= threats or (alone and met)


@njit
def targets(board: Board) -> Squares:
    """Where the hand's piece may be placed, castling aside."""
    found, mover = np.zeros(64, np.bool_), board[MOVER]
    walk(board, int(board[HAND + mover]), board[HAND + 1 - mover] == NONE, int(board[ORIGIN]), False, found)
    return found


@njit
def liftable(board: Board) -> Squares:
    """The pieces of the mover that have somewhere to go."""
    found, mover = np.zeros(64, np.bool_), board[MOVER]
    for square in range(64):
        if piece(board, mover, square) != NONE:  # no piece is in its own way
            reached = np.zeros(64, np.bool_)
            walk(board, piece(board, mover, square), piece(board, 1 - mover, square) == NONE, square, False, reached)
            found[square] = np.any(reached)
    return found


# ---- castling ----


@njit
def mark_castlings(board: Board, found: Squares) -> None:
    """A right, nothing between king and rook, and no threat on the king's way."""
    mover = board[MOVER]
    home = 4 if mover == 0 else 60
    if board[HAND + mover] != KING or board[ORIGIN] != home:
        return
    for bit, between, walked, target in ((1, (-3, -2, -1), (-2, -1, 0), -2), (2, (1, 2, 2), (0, 1, 2), 2)):
        free = board[RIGHTS] & (bit << 2 * mover) != 0
        for step in between:
            free = free and empty(board, home + step)
        if free:
            danger = threatened_by(board, 1 - mover, True)
            for step in walked:
                free = free and not danger[home + step]
            found[home + target] |= free


@njit
def threatened_by(board: Board, colour: int, chains: bool) -> Squares:
    """By lone pieces and by whatever any chain can release, with nothing in the hand."""
    found = np.zeros(64, np.bool_)
    boards, count = np.empty((256, SIZE), np.int16), 0
    start = board.copy()
    start[HAND], start[HAND + 1], start[ORIGIN] = NONE, NONE, NOWHERE
    start[MOVER], start[MUST], start[RIGHTS] = colour, LIFT, 0  # rights change no threat
    for square in range(64):
        kind = piece(start, colour, square)
        if kind != NONE and piece(start, 1 - colour, square) == NONE:
            walk(start, kind, True, square, True, found)
            if kind != KING:
                boards[count] = start
                act(boards[count], square, False)
                count += 1
    done = 0
    while chains and done < count:
        now = boards[done].copy()
        done += 1
        if now[MUST] == PLACE:
            walk(now, now[HAND + colour], True, now[ORIGIN], True, found)
        for action in every_action(now):
            if count == len(boards):
                boards = np.concatenate((boards, boards))
            boards[count] = now
            act(boards[count], action, False)
            chained = boards[count, MOVER] == colour and boards[count, HAND + colour] != NONE
            count += chained and not known(boards, count)
    return found


@njit
def known(boards: NDArray[np.int16], count: int) -> bool:
    """Whether the board behind the first `count` is one of them."""
    for k in range(count):
        same = True
        for number in range(SIZE):
            if boards[k, number] != boards[count, number]:
                same = False
                break
        if same:
            return True
    return False


@njit
def every_action(board: Board) -> NDArray[np.int64]:
    """The actions that the board allows, castling aside: 0 lifts from a1, 64 places there, 128 promotes to a rook."""
    if board[MUST] == LIFT:
        return np.flatnonzero(liftable(board))
    if board[MUST] == PLACE:
        return 64 + np.flatnonzero(targets(board))
    return np.arange(128, 132)


# ---- acting ----


@njit
def act(board: Board, action: int, clean: bool) -> tuple[bool, bool]:
    """The board's part of an action; whether it is progress, and whether it unites with the king."""
    if action < 64:
        lift(board, action)
        return False, False
    if action < 128:
        met = place(board, action - 64, clean)
        return met != NONE, met == KING
    promote(board, action)
    return True, False


@njit
def lift(board: Board, square: int) -> None:
    """A rook that leaves its corner loses the right to castle."""
    for colour in range(2):
        board[HAND + colour] = piece(board, colour, square)
        put(board, colour, square, NONE)
    if board[HAND] == ROOK or board[HAND + 1] == ROOK:
        lose_right(board, square)
    board[ORIGIN], board[MUST] = square, PLACE


@njit
def lose_right(board: Board, corner: int) -> None:
    for bit, square in ((1, 0), (2, 7), (4, 56), (8, 63)):
        if square == corner:
            board[RIGHTS] &= 15 - bit


@njit
def promote(board: Board, action: int) -> None:
    mover, must = board[MOVER], board[MUST]
    kind = (ROOK, KNIGHT, BISHOP, QUEEN)[action - 128]
    put(board, mover, board[PROMOTING], kind)
    board[PROMOTING] = NOWHERE
    board[MUST] = PLACE if must == PROMOTE_AND_PLACE else LIFT
    if must == PROMOTE_AND_FINISH:
        board[PASSED], board[MOVER] = NOWHERE, 1 - mover


@njit
def swap(board: Board, one: int, other: int) -> None:
    for colour in range(2):
        first, second = piece(board, colour, one), piece(board, colour, other)
        put(board, colour, one, second)
        put(board, colour, other, first)


@njit
def place(board: Board, square: int, clean: bool) -> int:
    """Put down what is in the hand; the piece with which it forms a new union, or NONE."""
    mover, origin = board[MOVER], int(board[ORIGIN])
    kind, partner = int(board[HAND + mover]), int(board[HAND + 1 - mover])
    if kind == KING:
        if abs(square - origin) == 2:
            swap(board, origin - 4 if square < origin else origin + 3, (square + origin) // 2)
        board[RIGHTS] &= 12 if mover == 0 else 3
    if kind == PAWN and square == board[PASSED] and square % 8 != origin % 8:
        swap(board, square, square - 8 if mover == 0 else square + 8)
        board[PASSED] = NOWHERE
    released, met = piece(board, mover, square), piece(board, 1 - mover, square)
    put(board, mover, square, kind)
    if released != NONE:
        go_on(board, square, kind, released, clean)
        return NONE
    if partner != NONE:
        put(board, 1 - mover, square, partner)
    finish(board, square, origin, kind, partner)
    return met


@njit
def last_rank(colour: int, square: int) -> bool:
    return square // 8 == (7 if colour == 0 else 0)


@njit
def go_on(board: Board, square: int, kind: int, released: int, clean: bool) -> None:
    """A union has been taken over: the released piece is in the hand."""
    mover = board[MOVER]
    if clean and released == ROOK and square // 8 == (0 if mover == 0 else 7):
        lose_right(board, square)
    board[HAND + mover], board[ORIGIN] = released, square
    if kind == PAWN and last_rank(mover, square):
        board[MUST], board[PROMOTING] = PROMOTE_AND_PLACE, square


@njit
def finish(board: Board, square: int, origin: int, kind: int, partner: int) -> None:
    """The hand is empty: a promotion comes next, or the other player."""
    mover = board[MOVER]
    board[HAND], board[HAND + 1], board[ORIGIN], board[PASSED] = NONE, NONE, NOWHERE, NOWHERE
    if kind == PAWN and last_rank(mover, square):
        board[MUST], board[PROMOTING] = PROMOTE_AND_FINISH, square
        return
    if kind == PAWN and abs(square - origin) == 16 and origin // 8 == (1 if mover == 0 else 6):
        board[PASSED] = (square + origin) // 2
    board[MOVER], board[MUST] = 1 - mover, LIFT
    if partner == PAWN and last_rank(1 - mover, square):
        board[MUST], board[PROMOTING] = PROMOTE_AND_LIFT, square


# ---- a game ----


@njit
def play(twin: Twin, played: int) -> bool:
    """An action with all that follows from it; False if it is not legal."""
    if played not in twin["actions"][: twin["count"]]:
        return False
    board = twin["board"]
    mover = board[MOVER]
    twin["idle"] += played < 64
    progress, won = act(board, played, twin["clean"])
    if progress:
        twin["idle"], twin["recorded"] = 0, 0
    if won:
        twin["outcome"] = FIRST_WINS if mover == 0 else SECOND_WINS
    elif board[MUST] == LIFT and (twin["idle"] >= LONGEST_IDLE or repeats(twin)):
        twin["outcome"] = DRAW
    look(twin)
    return True


@njit
def repeats(twin: Twin) -> bool:
    """Keep the board, and say whether it has stood too often."""
    seen = twin["seen"]
    seen[twin["recorded"]] = twin["board"]
    twin["recorded"] += 1
    times = 0
    for k in range(twin["recorded"]):
        times += np.array_equal(seen[k], twin["board"])
    return times == twin["repetitions"]


@njit
def look(twin: Twin) -> None:
    """List the legal actions. Who must act and cannot has lost."""
    board = twin["board"]
    twin["count"] = 0
    if twin["outcome"] != RUNNING:
        return
    castlings = np.zeros(64, np.bool_)
    if board[MUST] == PLACE:
        mark_castlings(board, castlings)
    for action in every_action(board):
        twin["actions"][twin["count"]] = action
        twin["count"] += 1
    for square in np.flatnonzero(castlings):
        twin["actions"][twin["count"]] = 64 + square
        twin["count"] += 1
    if twin["count"] == 0:
        twin["outcome"] = SECOND_WINS if board[MOVER] == 0 else FIRST_WINS


# ---- many games ----
# numba's own cache knows when this file has changed, and these functions reach no other one.


def started(games: int, repetitions: int, clean: bool) -> NDArray[np.void]:
    """[N] twins at the beginning of a game."""
    twins = np.zeros(games, TWIN)
    board, back = np.full(SIZE, NONE), [ROOK, KNIGHT, BISHOP, QUEEN, KING, BISHOP, KNIGHT, ROOK]
    board[[MOVER, MUST, ORIGIN, PASSED, PROMOTING, RIGHTS]] = 0, LIFT, NOWHERE, NOWHERE, NOWHERE, 15
    board[PIECES : PIECES + 16] = [*back, *8 * [PAWN]]
    board[-16:] = [*8 * [PAWN], *back]
    twins["board"], twins["repetitions"], twins["clean"] = board, repetitions, clean
    look_at_all(twins)
    return twins


@njit(cache=True)
def look_at_all(twins: NDArray[np.void]) -> None:
    for k in range(len(twins)):
        look(twins[k])


@njit(cache=True)
def play_all(twins: NDArray[np.void], actions: NDArray[np.int32]) -> bool:
    """Act in each game; whether all actions were legal."""
    legal = True
    for k in range(len(twins)):
        legal &= play(twins[k], actions[k])
    return legal


@njit(cache=True)
def threats(twins: NDArray[np.void], colour: int, chains: bool) -> NDArray[np.bool_]:
    """[N, 64] the squares that a side threatens, were it its turn, with its chains or without them."""
    found = np.empty((len(twins), 64), np.bool_)
    for k in range(len(twins)):
        found[k] = threatened_by(twins[k]["board"], colour, chains)
    return found


# ---- texts ----


def square_name(square: int) -> str:
    return "-" if square == NOWHERE else "abcdefgh"[square % 8] + str(square // 8 + 1)


def name(action: int) -> str:
    """`Le2`, `Pe4`, `=Q`."""
    return "=" + "RNBQ"[action - 128] if action >= 128 else "LP"[action // 64] + square_name(action % 64)


def letter(white: int, black: int) -> str:
    """Of a piece, or of a union: a capital if White's piece is named first."""
    if NONE in (white, black):
        return chr(white) if black == NONE else chr(black).lower()
    if ORDER.index(chr(black)) <= ORDER.index(chr(white)):
        return UNIONS[chr(black) + chr(white)]
    return UNIONS[chr(white) + chr(black)].upper()


def fen(twin: Twin) -> str:
    board = [int(number) for number in twin["board"]]
    white, black = board[PIECES : PIECES + 64], board[PIECES + 64 :]
    rows: list[str] = []
    for rank in range(7, -1, -1):
        row = "".join(letter(white[square], black[square]) for square in range(8 * rank, 8 * rank + 8))
        for gap in range(8, 0, -1):
            row = row.replace("." * gap, str(gap))
        rows.append(row)
    text = "/".join(rows)
    if board[MUST] in (PLACE, PROMOTE_AND_PLACE):
        text += f"^{square_name(board[ORIGIN])}{letter(board[HAND], board[HAND + 1])}"
    rights = "".join("AHah"[bit] for bit in range(4) if board[RIGHTS] >> bit & 1) or "-"
    return f"{text} {'wb'[board[MOVER]]} {twin['idle']} {rights} {square_name(board[PASSED])} -"
