"""`Solver`: exact scores of many Connect Four positions at once, on several threads, within a time limit.

A score is 22 less the stones the winner will have played, negative if the side to move loses, 0 for a draw: the
larger, the sooner the win. The search itself is in `kernels.py`.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import Error, InvalidValue, counted
from plyground.game import Game
from plyground.games.connect_four import rules
from plyground.games.connect_four.solver.arrays import Bits, Boards, Known, Scores, Watch, new_stack
from plyground.games.connect_four.solver.book import Book, shipped
from plyground.games.interface import RUNNING
from plyground.games.records import without_padding
from plyground.kernels.cache import load_kernels
from plyground.kernels.threads import available
from plyground.position import Position

UNKNOWN = -128  # in the kernels: not found in time
NO_MOVE = 127  # in move scores: the column is full, or the game is over
UNBOUNDED = 63  # larger than any score
TABLE = 2**23  # entries of 8 bytes
COLUMN_CELLS = rules.COLUMN << (np.uint64(7) * np.arange(rules.COLUMNS, dtype=np.uint64))  # [7]


class OutOfTime(Error):
    """The solver was given too little time."""


class Solver:
    """Keeps its transposition table: positions near earlier ones are quick. `nodes` counts the positions searched."""

    def __init__(self, book: Book | None = None, threads: int | None = None) -> None:
        """With `book=None` everything is searched; `perfect()` has the shipped book."""
        self.kernels = kernels()
        self.book = book or Book.empty()
        self.threads = threads or available()
        self.table = np.full(TABLE, 0, np.uint64)  # written now: fresh pages would slow the first searches down
        self.nodes = 0
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="solver")

    def scores(self, states: NDArray[np.void], seconds: float | None = None) -> Scores:
        """[N] the exact score of each state, for its side to move."""
        return self.solve(*sides(states), seconds=seconds)

    def move_scores(self, states: NDArray[np.void], seconds: float | None = None) -> Scores:
        """[N, 7] the score of each move for the side to move; NO_MOVE where it cannot be played."""
        return self._moves(states, detail=UNBOUNDED, seconds=seconds)

    def best_moves(self, states: NDArray[np.void], seconds: float | None = None) -> NDArray[np.bool_]:
        """[N, 7] which moves are best; faster than `move_scores`, since the other moves need no exact score."""
        scores = self._moves(states, detail=1, seconds=seconds).astype(np.int16)
        scores[scores == NO_MOVE] = -NO_MOVE
        return (scores == scores.max(axis=1, keepdims=True)) & (scores != -NO_MOVE)

    def _moves(self, states: NDArray[np.void], detail: int, seconds: float | None) -> Scores:
        """[N, 7] the moves' scores, exact for those no more than `detail` worse than the best move."""
        mine, theirs = sides(states)
        values = self.solve(mine, theirs, seconds=seconds)
        cells = (((mine | theirs) + rules.BOTTOM) & rules.BOARD)[:, None] & COLUMN_CELLS  # [N, 7]
        rows, columns = np.nonzero((cells != 0) & (states["outcome"] == RUNNING)[:, None])
        scores = np.full(cells.shape, NO_MOVE, np.int8)
        least = -values[rows]  # no reply is better for the opponent than what the best move leaves it
        mine_after, theirs_after = theirs[rows], mine[rows] | cells[rows, columns]
        after = self.solve(mine_after, theirs_after, least, least + np.int8(detail), seconds)
        scores[rows, columns] = -after
        return scores

    def solve(
        self,
        mine: Bits,
        theirs: Bits,
        least: Scores | None = None,
        most: Scores | None = None,
        seconds: float | None = None,
    ) -> Scores:
        """[N] the scores of boards [N]; `least` and `most` as in `Boards`. The threads share the boards in portions."""
        least = np.full(len(mine), -UNBOUNDED, np.int8) if least is None else least
        most = np.full(len(mine), UNBOUNDED, np.int8) if most is None else most
        n, scores, stop = len(mine), np.full(len(mine), UNKNOWN, np.int8), np.zeros(1, np.bool_)
        boards = Boards(mine, theirs, least, most, scores)
        known = Known(self.table, self.book.keys, self.book.scores, self.book.ply)
        portion = max(1, min(64, n // (4 * self.threads)))
        portions = iter([slice(k, k + portion) for k in range(0, n, portion)])

        def work() -> int:
            watch, stack = Watch(stop, np.zeros(1, np.int64)), new_stack(rules.MAX_PLIES, rules.COLUMNS)
            for part in portions:
                self.kernels.score_all(Boards._make(array[part] for array in boards), known, watch, stack)
            return int(watch.nodes[0])

        running = [self._pool.submit(work) for _ in range(min(self.threads, max(n, 1)))]
        try:
            wait(running, seconds)
        finally:  # out of time, or a person has pressed Ctrl-C
            stop[0] = True
            self.nodes += sum(future.result() for future in running)
        missing = int((scores == UNKNOWN).sum())
        if missing:
            raise OutOfTime(f"{seconds:g} s were not enough: {missing} of {n} positions are not solved")
        return scores


@functools.cache
def kernels() -> Any:
    """The compiled search."""
    return load_kernels("plyground.games.connect_four.solver.kernels", {}, "connect_four")


@functools.cache
def perfect() -> Solver:
    """The solver with the shipped book, one for the whole process."""
    return Solver(shipped())


def solves(game: Game) -> bool:
    """Whether the solver can solve this game."""
    return game.rules.module is rules


def sides(states: NDArray[np.void]) -> tuple[Bits, Bits]:
    """[N], [N] the stones of the side to move, and of the other."""
    if states.dtype != without_padding(rules.STATE):
        raise InvalidValue("the solver solves Connect Four alone: it takes records of that game")
    rows, mover = np.arange(len(states)), states["to_move"].astype(np.intp)
    return states["stones"][rows, mover], states["stones"][rows, 1 - mover]


def in_words(score: int, position: Position) -> str:
    """A score of a move in this position: "wins in 3 moves", the mover's own, or "loses in 2 moves", the opponent's."""
    if score == NO_MOVE:
        return "full"
    if score == 0:
        return "draws"
    winner = position.to_move if score > 0 else 1 - position.to_move
    moves = 22 - abs(score) - int(position.state["stones"][winner]).bit_count()
    return f"{'wins' if score > 0 else 'loses'} in {counted(moves, 'move')}"
