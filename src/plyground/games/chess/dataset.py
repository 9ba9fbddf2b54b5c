"""Chess in a teacher's datasets: FENs, and 4096 actions, 64 * from + to, whatever a pawn becomes.

FENs and moves of many positions are read and written by numpy. Ranks and the ends of FENs, which return again and
again, are read once by the functions of `text.py`, so that both ways accept the same texts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidText
from plyground.games import bits
from plyground.games.chess import board, text
from plyground.games.chess.rules import HEAD
from plyground.games.dataset_format import BatchText, DatasetFormat

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Records = NDArray[np.void]
Squares = NDArray[np.uint64]  # [N]

MANY_RANKS, MANY_TAILS = 1 << 16, 1 << 17  # that are remembered
TAIL = ("to_move", "castling", "en_passant", "clock", "move_number")  # fields that a FEN tells after its pieces
MOST_COUNTED = 9999
PIECES = np.frombuffer(b"PNBRQKpnbrqk", np.uint8)
EMPTY = ord(".")
WHOLE = np.uint64(0xFFFFFFFFFFFFFFFF)
RAYS = [
    (ways, 8 * up + right, {1: bits.NOT_H, 0: WHOLE, -1: bits.NOT_A}[right])  # shift, squares that it does not leave by
    for ways, steps in ((board.ROOKS, bits.UP_DOWN + bits.LEFT_RIGHT), (board.BISHOPS, bits.RISING + bits.FALLING))
    for up, right in steps
]


def queening(states: Records, actions: Ints) -> Ints:
    """[N, M] the actions of `states` [N], promotions to less than a queen as those to a queen."""
    number, black = actions - board.QUEENING_ACTIONS, states["to_move"][:, None]
    start = np.where(black, 8, 48) + number // 9
    end: NDArray[Any] = start + np.where(black, -8, 8) + number // 3 % 3 - 1
    return np.where(actions >= board.QUEENING_ACTIONS, 64 * start + end, actions).astype(np.int32)


# ---- many FENs ----


def read(texts: Sequence[str], states: Records) -> Bools:
    """Fill the records of the texts that are FENs with all six fields; returns which are sound positions."""
    boards, tails, rows = list[bytes](), list[tuple[int, ...]](), list[int]()
    for row, fen in enumerate(texts):
        placed, _, tail = fen.partition(" ")
        try:
            ranks = [_cells(rank) for rank in placed.split("/")]
            tails.append(_tail(tail))
        except InvalidText:
            continue
        if len(ranks) == 8:
            boards.append(b"".join(reversed(ranks)))
            rows.append(row)
        else:
            tails.pop()
    good = np.zeros(len(texts), np.bool_)
    if not rows:
        return good
    cells = np.frombuffer(b"".join(boards), np.uint8).reshape(-1, 64)  # [N, 64] letters
    sets = np.stack([np.packbits(cells == each, 1, "little").view(np.uint64)[:, 0] for each in PIECES], 1)  # [N, 12]
    found = np.zeros(len(rows), HEAD)
    found["pieces"] = sets[:, :6] | sets[:, 6:]
    found["sides"] = np.stack([np.bitwise_or.reduce(sets[:, :6], 1), np.bitwise_or.reduce(sets[:, 6:], 1)], 1)
    for name, values in zip(TAIL, np.array(tails).T, strict=True):
        found[name] = values
    for name in ("pieces", "sides", *TAIL):
        states[name][rows] = found[name]
    good[rows] = sound(found)
    return good


@functools.lru_cache(MANY_RANKS)
def _cells(rank: str) -> bytes:
    """[8] the letters of a rank of a FEN, with dots for empty squares."""
    state = np.zeros(1, HEAD)[0]
    text.parse(f"{rank}/8/8/8/8/8/8/8 w - - 0 1", state)
    return "".join(letter or "." for letter in text.letters(state)[56:]).encode()


@functools.lru_cache(MANY_TAILS)
def _tail(tail: str) -> tuple[int, ...]:
    """The fields of TAIL in what follows a FEN's pieces."""
    state = np.zeros(1, HEAD)[0]
    text.parse(f"8/8/8/8/8/8/8/8 {tail}", state)
    return tuple(int(state[name]) for name in TAIL)


def write(states: Records) -> list[str]:
    """[N] the FENs of positions."""
    cells = np.full((len(states), 64), EMPTY, np.uint8)
    for kind in range(6):
        for side in range(2):
            own = np.ascontiguousarray(states["pieces"][:, kind] & states["sides"][:, side])
            cells[np.unpackbits(own.view(np.uint8).reshape(-1, 8), 1, bitorder="little").view(np.bool_)] = PIECES[
                kind + 6 * side
            ]
    ranks = cells.reshape(-1, 8, 8)[:, ::-1].copy().view("S8")[..., 0].tolist()  # [N][8]
    tails = zip(*(states[name].tolist() for name in TAIL), strict=True)
    return [f"{'/'.join(map(_rank, each))} {_written_tail(*tail)}" for each, tail in zip(ranks, tails, strict=True)]


@functools.lru_cache(MANY_RANKS)
def _rank(cells: bytes) -> str:
    return text.compressed(cells.decode())


@functools.lru_cache(MANY_TAILS)
def _written_tail(*values: int) -> str:
    state = np.zeros(1, HEAD)[0]
    for name, value in zip(TAIL, values, strict=True):
        state[name] = value
    return text.text(state).partition(" ")[2]


# ---- what `problems` looks for ----


def sound(states: Records) -> Bools:
    """[N] which records are positions in which `problems` finds nothing, whatever bytes they hold."""
    pieces: NDArray[np.uint64] = states["pieces"]  # [N, 6]
    sides: NDArray[np.uint64] = states["sides"]  # [N, 2]
    side: NDArray[np.int8] = states["to_move"]
    clocks = (states["clock"], 0), (states["move_number"], 1)
    good = (side >= 0) & (side <= 1)
    for values, least in clocks:
        good &= (values >= least) & (values <= MOST_COUNTED)
    taken: Squares = sides[:, 0] | sides[:, 1]
    good &= (sides[:, 0] & sides[:, 1]) == 0
    good &= np.bitwise_or.reduce(pieces, 1) == taken
    good &= np.bitwise_count(pieces).sum(1) == np.bitwise_count(taken)  # no two pieces on one square
    good &= pieces[:, board.PAWNS] & board.LAST_RANKS == 0
    counts = np.bitwise_count(pieces[:, None] & sides[:, :, None]).astype(np.int64)  # [N, 2, 6]
    promoted = np.maximum(counts[..., board.KNIGHTS : board.KINGS] - (2, 2, 2, 1), 0).sum(2)
    good &= ((counts[..., board.KINGS] == 1) & (promoted + counts[..., board.PAWNS] <= 8)).all(1)
    good &= states["castling"] < 16
    for k, (king, rook) in enumerate(text.HOMES.values()):
        own: Squares = sides[:, k // 2]
        home = (pieces[:, board.KINGS] & own) >> np.uint64(king) & (pieces[:, board.ROOKS] & own) >> np.uint64(rook)
        good &= (states["castling"] >> k & 1 == 0) | (home & bits.ONE != 0)
    # The square of en passant is on the right rank, a pawn of the other side stands before it, and where that came from
    # is empty.
    square, black = states["en_passant"].astype(np.int64), side != 0
    inside = np.clip(square, 8, 55)
    start, end = (np.where(black, inside - ahead, inside + ahead).astype(np.uint64) for ahead in (8, -8))
    pawns = pieces[:, board.PAWNS] & np.where(black, sides[:, 0], sides[:, 1])
    free = (taken >> start | taken >> inside.astype(np.uint64)) & bits.ONE == 0
    right = (square // 8 == np.where(black, 2, 5)) & free & (pawns >> end & bits.ONE != 0)
    good &= (square == board.NO_SQUARE) | right
    own = np.where(side == 0, sides[:, 0], sides[:, 1])
    other = taken & ~own
    good &= attackers(pieces, other, own, taken, 1 - side) == 0
    return good & (np.bitwise_count(attackers(pieces, own, other, taken, side)) <= 2)


def attackers(pieces: NDArray[np.uint64], own: Squares, other: Squares, taken: Squares, side: NDArray[Any]) -> Squares:
    """[N] the pieces of `other` that attack the king of `own`, whose side is `side`."""
    king = pieces[:, board.KINGS] & own
    square = np.bitwise_count(king - bits.ONE) & 63
    pawns = board.PAWN[(side != 0).astype(np.int64), square]
    found: Squares = pawns & pieces[:, board.PAWNS]
    found |= board.KNIGHT[square] & pieces[:, board.KNIGHTS] | board.KING[square] & pieces[:, board.KINGS]
    for kind, shift, inside in RAYS:
        sliders, ray = pieces[:, kind] | pieces[:, board.QUEENS], king
        for _ in range(7):
            ray = ray & inside
            ray = ray << np.uint64(shift) if shift > 0 else ray >> np.uint64(-shift)
            found |= ray & sliders
            ray = ray & ~taken
    return found & other


# ---- moves ----


def names(states: Records, actions: Ints) -> list[str]:
    """[N] the UCI moves of actions [N]."""
    side, start = states["to_move"], (actions >> 6).astype(np.uint64) & np.uint64(63)
    end = actions & 63
    queens = (states["pieces"][:, board.PAWNS] >> start & bits.ONE != 0) & ((end < 8) | (end >= 56))
    return [_name(*each) for each in zip(actions.tolist(), side.tolist(), queens.tolist(), strict=True)]


@functools.lru_cache(1 << 14)
def _name(action: int, side: int, queens: bool) -> str:
    start, end, promoted = text.squares_of(action, side)
    return f"{text.SQUARES[start]}{text.SQUARES[end]}{promoted.lower() or 'q' * queens}"


DATASET = DatasetFormat("fen", ("w", "b"), 2, queening, BatchText(read, sound, write, names))
