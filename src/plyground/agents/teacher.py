"""A teacher scores every legal action of a position, and turns the scores into a policy that a network can learn.

Anything that scores actions can teach: minimax with a game's `evaluate`, an agent of the game with `scores` (Connect
Four's solver), a scorer (`SCORERS = {"window": window_score}`), or a search (`search:sims=1000`), which scores those
that it has visited. It is deterministic: of equal actions the lowest is best.

Scores are values in [-1, 1] for the side to move; forced wins and losses lie outside, the sooner the further. The
policy is the softmax over the `top` best actions, `exp(score / (temperature * UNIT))`. In a balanced chess position a
pawn is worth 0.17, that is 2.7 units: at temperature 1, one action that is a pawn better than four others gets 78%.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import independent
from plyground.agents.registry import can_search, make
from plyground.errors import InvalidValue, unknown
from plyground.game import Game, agent_repr
from plyground.games.interface import Function
from plyground.kernels.threads import available, over_slices
from plyground.search.minimax import Minimax
from plyground.search.tree_arrays import Result
from plyground.specs import split

UNIT = 1 / 16  # the difference of value that matters at temperature 1
LEAST = 1e-6  # a difference that shows which action is better
SEARCH = "search"  # the agent whose specs are teachers too
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Records = NDArray[np.void]


class ActionScorer(Protocol):
    """What a teacher needs."""

    def scores(self, states: Records) -> tuple[Ints, Floats]:
        """[N, MAX_LEGAL] the legal actions, ascending and then -1, and their scores for the side to move; minus
        infinity for actions that are not taught."""
        ...


class Lessons(NamedTuple):
    """A teacher's evaluation of positions, one row each. Actions are numbered as the game's DATASET numbers them."""

    valid: Ints  # [N, M] all legal actions, ascending, then -1
    top: Ints  # [N, K] the best ones, best first, then -1
    moves: Ints  # [N, K] the exact actions they stand for
    policy: Floats  # [N, K] the teacher's probabilities of playing them
    values: Floats  # [N] the value of the best, in [-1, 1]


class Teacher:
    """An agent that plays its best action; `lessons` also returns its policy over the others."""

    def __init__(self, game: Game, scorer: ActionScorer, name: str) -> None:
        self.game, self.scorer, self.name = game, scorer, name

    __repr__ = agent_repr

    def __str__(self) -> str:
        return self.name

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> Ints:
        return self.lessons(states, 1, 1.0).moves[:, 0]

    def lessons(self, states: Records, top: int, temperature: float | Floats) -> Lessons:
        """The `top` best actions of each running state [N] and a policy over them; temperature: a number or [N]."""
        # Of minimax only the `top` best scores are exact, among numbers that no two actions share.
        if isinstance(self.scorer, Minimax):
            actions, scores = self.scorer.scores(states, top)
            shared = np.flatnonzero((self.game.rules.DATASET.actions(states, actions) != actions).any(1))
            if len(shared):
                scores[shared] = self.scorer.scores(states[shared])[1]
        else:  # what the seat to act cannot see is drawn anew before
            actions, scores = self.scorer.scores(self.game.redrawn(states, np.zeros(len(states), np.uint64)))
        width = max(1, int((actions >= 0).sum(1).max(initial=0)))
        actions, scores = actions[:, :width], np.where(actions >= 0, scores, -np.inf)[:, :width]
        view = self.game.rules.DATASET.actions(states, actions)
        for row in np.flatnonzero((view != actions).any(1)):  # of several actions with one number the best counts
            for twin in np.unique(view[row][view[row] != actions[row]]):
                same = np.flatnonzero(view[row] == twin)
                scores[row, np.delete(same, np.argmax(scores[row, same]))] = -np.inf
        order = np.argsort(-scores, axis=1, kind="stable")[:, :top]  # actions ascend: of equal ones the lowest is first
        best = np.take_along_axis(scores, order, 1)  # [N, K]
        weights = np.exp((best - best[:, :1]) / (UNIT * np.reshape(temperature, (-1, 1))))
        there = best > -np.inf
        chosen, moves = (np.where(there, np.take_along_axis(each, order, 1), -1) for each in (view, actions))
        values = np.clip(best[:, 0], -1.0, 1.0)
        most = np.iinfo(np.int32).max
        valid = np.sort(view, axis=1)  # each action once, ascending, then -1
        valid[:, 1:][valid[:, 1:] == valid[:, :-1]] = -1
        valid = np.sort(np.where(valid < 0, most, valid), axis=1)
        valid[valid == most] = -1
        return Lessons(valid, chosen, moves, weights / weights.sum(1, keepdims=True), values)


# ---- scorers ----


class Scorer:
    """Scores with a compiled function `(state, action) -> score in [-1, 1]`."""

    def __init__(self, game: Game, name: str, score: Function, threads: int) -> None:
        self.game, self.threads = game, threads
        slots = {"legal": game.rules.compiled["legal"], "score": score}
        self.kernels = game.kernels_with("score", slots, name)

    def scores(self, states: Records) -> tuple[Ints, Floats]:
        shape = len(states), self.game.rules.MAX_LEGAL
        actions, scores = np.empty(shape, np.int32), np.empty(shape)

        def run(rows: slice) -> None:
            self.kernels.score_all(states[rows], actions[rows], scores[rows], self.game.work())

        over_slices(run, len(states), self.threads, chunk=16)
        return actions, scores


class SearchScorer:
    """Scores with the values that a search found. Each position is searched alone, with the same random numbers: the
    scores depend on the position only."""

    def __init__(self, game: Game, spec: str, threads: int) -> None:
        agent: Any = make(spec, game)
        if not independent(agent):
            raise InvalidValue(f"{spec} cannot teach: in a search with a network, rows of a batch are rounded together")
        if agent.config.seconds:
            raise InvalidValue(f"{spec} cannot teach: its limit is a time, so its answers differ; use sims=1000")
        agent.searcher.threads = threads
        self.agent = agent

    def scores(self, states: Records) -> tuple[Ints, Floats]:
        found: Result = self.agent.search(states, np.zeros(len(states), np.uint64))
        chosen = found.actions == found.chosen[:, None]  # [N, MAX_LEGAL]
        values: Floats = found.action_values.astype(np.float64)
        best = np.where(chosen, values, -np.inf).max(1, keepdims=True)
        scores: Floats = np.where(chosen, values, np.minimum(values, best - LEAST))  # few visits may show a higher mean
        return found.actions, np.where(chosen | (found.visits > 0), scores, -np.inf)


def teachers_of(game: Game) -> list[str]:
    """The names of a game's teachers: all that score every legal action."""
    scoring = [name for name, agent in game.rules.AGENTS.items() if hasattr(agent, "scores")]
    return ["minimax"] * can_search(game) + scoring + list(game.rules.SCORERS)


def make_teacher(
    game: Game, name: str = "", depth: int = 2, quiescence: int = 4, table: int = 0, threads: int = 0
) -> Teacher:
    """The teacher of this name, or a search's agent spec (default: the game's first); the numbers are minimax's.

    Quiescence is used where the game defines `loudness`.
    """
    names, threads = teachers_of(game), threads or available()
    if split(name)[0] == SEARCH:
        return Teacher(game, SearchScorer(game, name, threads), name)
    if not names:
        raise InvalidValue(f"{game} has no teacher: it has neither `evaluate`, nor a solver, nor a scorer")
    name = name or names[0]
    if name not in names:
        raise unknown(f"teacher of {game}", name, [*names, "search:sims=1000"])
    if name == "minimax":
        loud = "loudness" in game.rules.compiled
        minimax = Minimax(game, depth, quiescence if loud else 0, table, threads=threads)
        return Teacher(game, minimax, str(minimax))
    if name in game.rules.AGENTS:
        return Teacher(game, game.rules.AGENTS[name](game), name)
    return Teacher(game, Scorer(game, name, game.rules.SCORERS[name], threads), name)
