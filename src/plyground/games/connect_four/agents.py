"""Connect Four's own agents: scripted ones (win if possible, else block, else something sensible) and the solver."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.connect_four.rules import COLUMN, COLUMNS, STATE, ZERO, playable, winning_cells
from plyground.games.connect_four.solver.solver import NO_MOVE, Solver, in_words, perfect
from plyground.games.interface import Rng, State
from plyground.games.records import without_padding
from plyground.games.rng import below, draw
from plyground.position import Position
from plyground.search.analysis import Analysis, check_running, scored


@njit
def random_column(cells: np.uint64, rng: Rng) -> int:
    """One of the columns with a bit in `cells`, all equally likely."""
    chosen, seen = -1, 0
    for column in range(COLUMNS):
        if cells & (COLUMN << np.uint64(7 * column)) != ZERO:
            seen += 1
            if below(rng, seen) == 0:
                chosen = column
    return chosen


@njit
def urgent(state: State) -> np.uint64:
    """The cells that win at once; if there are none, those where the opponent would."""
    mine, theirs = state["stones"][state["to_move"]], state["stones"][1 - state["to_move"]]
    taken = mine | theirs
    wins = winning_cells(mine, taken) & playable(taken)
    return wins if wins != ZERO else winning_cells(theirs, taken) & playable(taken)


@njit
def punisher(state: State, rng: Rng) -> int:
    """Win, else block, else any column."""
    cells = urgent(state)
    if cells == ZERO:
        cells = playable(state["stones"][0] | state["stones"][1])
    return random_column(cells, rng)


@njit
def greedy(state: State, rng: Rng) -> int:
    """Win, else block, else the open column nearest to the centre."""
    cells = urgent(state)
    if cells == ZERO:
        free = playable(state["stones"][0] | state["stones"][1])
        for distance in range(4):
            left, right = COLUMN << np.uint64(21 - 7 * distance), COLUMN << np.uint64(21 + 7 * distance)
            cells = free & (left | right)
            if cells != ZERO:
                break
    return random_column(cells, rng)


POLICIES = {"greedy": greedy, "punisher": punisher}


class Perfect:
    """The solver as a player: the quickest win, else a draw, else the longest loss.

    Among the best moves it draws from the generator, so that games differ.
    """

    independent = True

    def __init__(self, game: Game | None = None, solver: Solver | None = None) -> None:
        self.solver = solver or perfect()

    def __str__(self) -> str:
        return "solver"

    def __repr__(self) -> str:
        return "<agent for connect_four: solver>"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        best = self.solver.best_moves(states)  # [N, 7]
        wanted = draw(rngs, best.sum(axis=1))  # [N] the index among the best moves
        return np.argmax(np.cumsum(best, axis=1) == (wanted + 1)[:, None], axis=1).astype(np.int32)

    def compile_kernels(self) -> None:
        self.solver.best_moves(np.zeros(0, without_padding(STATE)))

    def scores(self, states: NDArray[np.void]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """[N, 7] the legal actions, ascending and then -1, and their scores: a win is more than 0.5, the sooner the
        more."""
        found = self.solver.move_scores(states)  # [N, 7]
        legal = found != NO_MOVE
        order = np.argsort(~legal, axis=1, kind="stable").astype(np.int32)  # open columns first
        exact = np.take_along_axis(found, order, 1).astype(np.float64)
        return np.where(np.take_along_axis(legal, order, 1), order, np.int32(-1)), np.sign(exact) * 0.5 + exact / 44

    def analyse(self, position: Position, rngs: NDArray[np.uint64]) -> Analysis:
        """The exact result of each move: 1, 0 or -1, and in words."""
        check_running(position)
        begun, exact = time.perf_counter(), solve(position)
        values = {action: float(np.sign(score)) for action, (score, _) in exact.items()}
        found = scored(position, values, time.perf_counter() - begun)
        moves = [replace(move, exact=exact[move.action][0], words=exact[move.action][1]) for move in found.moves]
        return replace(found, moves=sorted(moves, key=lambda move: -(move.exact or 0)))


AGENTS = {"solver": Perfect}
STRONGEST = "solver"


def solve(position: Position, seconds: float | None = None) -> dict[int, tuple[int, str]]:
    """Each open column's exact score (see `Solver`) and what it means: "wins in 3 moves"."""
    scores = perfect().move_scores(position.states, seconds)[0]
    return {action: (int(scores[action]), in_words(int(scores[action]), position)) for action in position.legal()}
