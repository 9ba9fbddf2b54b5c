"""The teacher: judges every legal action of a position, and says so in numbers that a network can learn from.

Whatever can judge all actions can teach: minimax on a game's `evaluate`, Connect Four's solver, or a scorer that a game
brings along (`SCORERS = {"window": window_score}`). It is deterministic: of equal actions the lowest is best.

Scores are values in [-1, 1] for the side to move; forced wins and losses lie beyond, the sooner the larger. A policy is
the softmax over the `top` best actions, `exp(score / (tau * UNIT))`. In a balanced chess position a pawn is worth 0.17,
that is 2.7 units: at tau = 1 one action that is a pawn better than four others gets 78%.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import can_search
from plyground.errors import InvalidValue, unknown
from plyground.game import Game
from plyground.games.chess import rules as chess
from plyground.games.chess.board import QUEENING_ACTIONS
from plyground.games.connect_four.solver.solver import NO_MOVE, perfect, solves
from plyground.games.interface import Function
from plyground.kernels.cache import load_kernels
from plyground.kernels.threads import available, over_slices
from plyground.search.minimax import Minimax

UNIT = 1 / 16  # the difference of value that matters at tau = 1
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Records = NDArray[np.void]


class Judge(Protocol):
    """Whoever can do this can teach."""

    def scores(self, states: Records) -> tuple[Ints, Floats]:
        """[N, MAX_LEGAL] the legal actions, ascending and then -1, and what each is worth to the side to move."""
        ...


class Lessons(NamedTuple):
    """What a teacher says about positions, a row for each. Actions are seen as `in_view` sees them."""

    valid: Ints  # [N, M] all legal actions, ascending, then -1
    top: Ints  # [N, K] the best ones, best first, then -1
    moves: Ints  # [N, K] the exact actions they stand for
    policy: Floats  # [N, K] the teacher's chances of playing them
    values: Floats  # [N] what the best is worth, in [-1, 1]


class Teacher:
    """Plays its best action; `lessons` says what it thinks of the others."""

    def __init__(self, game: Game, judge: Judge, name: str) -> None:
        self.game, self.judge, self.name = game, judge, name

    def __str__(self) -> str:
        return self.name

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> Ints:
        return self.lessons(states, 1, 1.0).moves[:, 0]

    def lessons(self, states: Records, top: int, tau: float | Floats) -> Lessons:
        """The `top` best actions of each running state [N] and a policy over them; `tau` is one number or [N]."""
        actions, scores = self.judge.scores(states)
        width = max(1, int((actions >= 0).sum(1).max(initial=0)))
        actions, scores = actions[:, :width], np.where(actions >= 0, scores, -np.inf)[:, :width]
        view = in_view(self.game, states, actions)
        scores = _without_twins(view, actions, scores)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :top]  # actions ascend: of equal ones the lowest is first
        best = np.take_along_axis(scores, order, 1)  # [N, K]
        weights = np.exp((best - best[:, :1]) / (UNIT * np.reshape(tau, (-1, 1))))
        there = best > -np.inf
        chosen, moves = (np.where(there, np.take_along_axis(each, order, 1), -1) for each in (view, actions))
        values = np.clip(best[:, 0], -1.0, 1.0)
        return Lessons(_distinct(view), chosen, moves, weights / weights.sum(1, keepdims=True), values)


def in_view(game: Game, states: Records, actions: Ints) -> Ints:
    """[N, M] the actions as datasets number them: chess has 4096, from * 64 + to, whatever a pawn becomes."""
    if game.rules.module is not chess:
        return actions
    number, black = actions - QUEENING_ACTIONS, states["to_move"][:, None]
    start = np.where(black, 8, 48) + number // 9
    end = start + np.where(black, -8, 8) + number // 3 % 3 - 1
    return np.where(actions >= QUEENING_ACTIONS, 64 * start + end, actions).astype(np.int32)


def _without_twins(view: Ints, actions: Ints, scores: Floats) -> Floats:
    """The scores, minus infinity for all but the best of several actions that look the same."""
    scores = scores.copy()
    for row in np.flatnonzero((view != actions).any(1)):
        for twin in np.unique(view[row][view[row] != actions[row]]):
            same = np.flatnonzero(view[row] == twin)
            scores[row, np.delete(same, np.argmax(scores[row, same]))] = -np.inf
    return scores


def _distinct(view: Ints) -> Ints:
    """Each row's actions once, ascending, then -1."""
    rows = np.sort(view, axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = -1
    rows[rows < 0] = np.iinfo(np.int32).max
    rows.sort(axis=1)
    rows[rows == np.iinfo(np.int32).max] = -1
    return rows


# ---- who judges ----


class Solved:
    """Connect Four's perfect player: a win is worth more than one half, the sooner the more."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def scores(self, states: Records) -> tuple[Ints, Floats]:
        found = perfect().move_scores(states)  # [N, 7]
        columns = np.arange(found.shape[1], dtype=np.int32)
        there = found != NO_MOVE
        order = np.argsort(~there, axis=1, kind="stable")  # open columns first
        actions = np.where(np.take_along_axis(there, order, 1), columns[order], -1).astype(np.int32)
        exact = np.take_along_axis(found, order, 1).astype(np.float64)
        return actions, np.sign(exact) * 0.5 + exact / 44


class Scorer:
    """A compiled function `(state, action) -> score in [-1, 1]`."""

    def __init__(self, game: Game, name: str, score: Function, threads: int) -> None:
        self.game, self.threads = game, threads
        self.kernels = _score_kernels(game.rules.compiled["legal"], score, f"{game.label} {name}")

    def scores(self, states: Records) -> tuple[Ints, Floats]:
        shape = len(states), self.game.rules.MAX_LEGAL
        actions, scores = np.empty(shape, np.int32), np.empty(shape)

        def run(rows: slice) -> None:
            self.kernels.score_all(states[rows], actions[rows], scores[rows], self.game.work())

        over_slices(run, len(states), self.threads, chunk=16)
        return actions, scores


@functools.cache
def _score_kernels(legal: Function, score: Function, subject: str) -> Any:
    return load_kernels("score", {"legal": legal, "score": score}, subject)


def teachers_of(game: Game) -> list[str]:
    """The words for those who can teach a game."""
    return ["minimax"] * can_search(game) + ["solver"] * solves(game) + list(game.rules.SCORERS)


def make_teacher(
    game: Game, word: str = "", depth: int = 2, quiescence: int = 4, table: int = 0, threads: int = 0
) -> Teacher:
    """The teacher that a word names (default: the game's first); the numbers are minimax's.

    Captures are followed beyond the depth where the game says what they are.
    """
    names, threads = teachers_of(game), threads or available()
    if not names:
        raise InvalidValue(f"nobody can teach {game}: it has neither `evaluate`, nor a solver, nor a scorer")
    word = word or names[0]
    if word not in names:
        raise unknown(f"teacher of {game}", word, names)
    if word == "minimax":
        loud = "loudness" in game.rules.compiled
        minimax = Minimax(game, depth, quiescence if loud else 0, table, threads=threads)
        return Teacher(game, minimax, str(minimax))
    if word == "solver":
        return Teacher(game, Solved(game), word)
    return Teacher(game, Scorer(game, word, game.rules.SCORERS[word], threads), word)
