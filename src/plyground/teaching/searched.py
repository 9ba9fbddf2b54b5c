"""Searched positions: a search plays against itself, and each position gets the value that the search found and the
game's result. From these a network learns to judge positions (learners/sparse.py).

A game begins with random plies, and again if the search finds one side far ahead after them. One action of thirty is
random. A game in which the search is sure of the winner for a few plies in a row has ended. All depends only on the
seed and the game's number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.agents.registry import make
from plyground.checked_states import without_history
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.interface import FIRST_WINS, RUNNING, SECOND_WINS, Outcome
from plyground.search.timed import TimedMinimax
from plyground.teaching.lines import Lines, game_name

FAIR, TRIES = 0.6, 10  # of an opening: the largest value for one side, and how often another is drawn
RANDOM = 1 / 30  # share of the actions
DECIDED, SURE = 0.9, 6  # a value beyond which a side has won, and for how many plies in a row
STOPPED = "STOPPED"  # the result of a game that the limit of plies ended
Records = NDArray[np.void]


class SearchedLines(Lines):
    """Records of searched positions; they have no form as text."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        kept = [(name, self.learned[name]) for name in ("state", "key", "game", "value", "ply")]
        told = [("result", np.int8), ("quiet", np.int8)]  # for the side to move; 1: no check, no loud action is best
        self.learned = self.dtype = np.dtype([*kept, *told])


def make_searcher(game: Game, spec: str) -> TimedMinimax:
    """The search of an agent's spec that names a number of nodes: its values depend on nothing else."""
    agent = make(spec, game)
    if not isinstance(agent, TimedMinimax) or not agent.nodes:
        how = "for values by depth write --teacher minimax --depth 2"
        raise InvalidValue(f"a search teaches with a number of nodes, minimax:nodes=1000, not {spec}; {how}")
    return agent


class SearchedGames:
    """Games of a search against itself."""

    def __init__(self, game: Game, search: TimedMinimax, opening_plies: int, max_plies: int) -> None:
        self.game, self.search, self.opening_plies, self.max_plies = game, search, opening_plies, max_plies
        self.kernels, self.notes, self.dtype = game.kernels(), game.kernels("searched"), SearchedLines(game).dtype
        self.rngs, self.work, self.legal = np.zeros(1, np.uint64), game.work(), game.scratch()
        self.cells = np.zeros((2, game.cells.count), np.int16)

    def play(self, seed: int, number: int) -> tuple[Records, str]:
        """The positions of a game, and how it ended."""
        rng = np.random.default_rng([seed % 2**64, number])
        state, states = self._opening(rng), list[Records]()
        values, actions = list[float](), list[int]()
        sure, outcome = 0, RUNNING
        while outcome == RUNNING and len(states) < self.max_plies:
            found = self.search.search(state)
            value = min(max(found.value, -1.0), 1.0)
            states.append(state.copy())
            values.append(value)
            actions.append(found.action)
            sure = sure + 1 if abs(value) > DECIDED else 0
            if sure == SURE:
                outcome = FIRST_WINS if (value > 0) == (state["to_move"][0] == 0) else SECOND_WINS
                break
            self._play(state, found.action if rng.random() >= RANDOM else self._random(state, rng))
            outcome = int(state["outcome"][0])
        return self._noted(np.concatenate(states), values, actions, outcome, f"{seed}-{number}")

    def _opening(self, rng: np.random.Generator) -> Records:
        """[1] a position after random plies, in which neither side is far ahead."""
        for _ in range(TRIES):
            state = self.game.fresh.copy()
            for _ in range(int(rng.integers(self.opening_plies + 1))):
                if state["outcome"][0] == RUNNING:
                    self._play(state, self._random(state, rng))
            if state["outcome"][0] == RUNNING and abs(self.search.search(state).value) <= FAIR:
                return state
        return self.game.fresh.copy()

    def _play(self, state: Records, action: int) -> None:
        self.kernels.play_all(state, np.array([action], np.int32), self.rngs, self.work)

    def _random(self, state: Records, rng: np.random.Generator) -> int:
        self.rngs[0], action = rng.integers(2**63), np.empty(1, np.int32)
        self.kernels.random_actions(state, self.rngs, action, self.work, self.legal)
        return int(action[0])

    def _noted(
        self, states: Records, values: list[float], actions: list[int], outcome: int, name: str
    ) -> tuple[Records, str]:
        records = np.zeros(len(states), self.dtype)
        keys, quiet = np.empty(len(states), np.uint64), np.empty(len(states), np.int8)
        self.notes.note_all(states, np.array(actions, np.int32), self.cells, self.work, keys, quiet)
        records["state"] = without_history(self.game, self.game.heads(states))
        records["key"], records["quiet"], records["value"] = keys, quiet, values
        records["ply"], records["game"] = np.arange(len(states)), game_name(name)[0]
        if outcome in (FIRST_WINS, SECOND_WINS):
            records["result"] = np.where((states["to_move"] == 0) == (outcome == FIRST_WINS), 1, -1)
        how: Any = STOPPED if outcome == RUNNING else Outcome(outcome).name
        return records, how
