"""Turns that run in circles: in Paco Ŝako a chain may come back to a position of its own turn, for ever.

An agent that chooses each action by a new search may prefer to go on everywhere, all the more if it is losing. So
searches and networks remember the positions of their turns, and leave a circle by the best end of the turn.
"""

from __future__ import annotations

import numpy as np

from plyground.game import Game
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.search.arrays import Doubles, Ints, Records
from plyground.search.wins import after_actions, legal_actions, new_within_turn, without_luck

MOST = 2_000  # positions within a turn among whose ends the best is looked for
TURNS = 10_000  # remembered turns
NO_RNG = np.uint64(0)  # a generator for what no chance decides


class Turns:
    """The positions of unfinished turns in which an agent has acted."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._behind: dict[bytes, frozenset[bytes]] = {}  # a position within a turn: the earlier ones of that turn

    def without_circles(self, states: Records, actions: Ints) -> Ints:
        """[N] the actions for states [N]; one that leads back to a position of the same turn is replaced by the first
        step to the best end of the turn. Heads, which are kept for learning and cannot be played on, have no turns."""
        if states.dtype != self.game.rules.STATE:
            return actions
        after = self._after(states, actions)
        goes_on = (after["outcome"] == RUNNING) & (after["to_move"] == states["to_move"])
        if not goes_on.any() and not self._behind:
            return actions
        if self.game.rules.hidden:  # what looks the same is the same
            states = self.game.redrawn(states, np.zeros(len(states), np.uint64))
            after = self._after(states, actions)
            after[goes_on] = self.game.redrawn(after[goes_on], np.zeros(int(goes_on.sum()), np.uint64))
        here, actions = [state.tobytes() for state in states], actions.copy()
        behind = [self._behind.get(key, frozenset()) | {key} for key in here]
        for key in here:
            self._behind.pop(key, None)
        if len(self._behind) > TURNS:  # of games that were given up
            self._behind.clear()
        for row in np.flatnonzero(goes_on):
            one, part = states[row : row + 1], slice(row, row + 1)
            if after[row].tobytes() in behind[row] and without_luck(self.game, one, actions[part], after[part], NO_RNG):
                actions[row] = best_end(self.game, one, otherwise=actions[row])
                after[row] = self._after(one, actions[part])[0]
            self._behind[after[row].tobytes()] = behind[row]
        return actions

    def _after(self, states: Records, actions: Ints) -> Records:
        return after_actions(self.game, states, actions, NO_RNG)

    def compile(self) -> None:
        self._after(self.game.blank[:0].copy(), np.zeros(0, np.int32))


def best_end(game: Game, states: Records, otherwise: int) -> int:
    """The action of a state [1] that begins the way to the best end of the turn by `evaluate`, the shortest of equally
    good ones; without `evaluate` only results count. `otherwise`: where no end is found."""
    side, best, chosen, known = states["to_move"][0], -np.inf, otherwise, set[bytes]()
    first = np.full(1, -1, np.int32)  # [F] the action with which the way to each position begins
    while len(states) and len(known) < MOST:
        actions, origins = legal_actions(game, states)
        after = after_actions(game, states[origins], actions, NO_RNG)
        sure = without_luck(game, states[origins], actions, after, NO_RNG)
        after, first = after[sure], np.where(first[origins] < 0, actions, first[origins])[sure]
        values = _values_of_ends(game, after, side)  # [F]
        if len(values) and values.max() > best:
            best, chosen = values.max(), int(first[values.argmax()])
        new = new_within_turn(game, after, side, known)
        states, first = after[new], first[new]
    return chosen


def _values_of_ends(game: Game, states: Records, side: int) -> Doubles:
    """[F] what positions are worth to a side whose turn has ended there, by result and `evaluate`; minus infinity where
    the turn goes on."""
    values, outcomes = np.zeros(len(states), np.float32), states["outcome"]
    if "evaluate" in game.rules.compiled:
        game.kernels("evaluate").evaluate_all(states, values)
    running = np.where(states["to_move"] == side, -np.inf, -values)
    results = np.where(outcomes == DRAW, 0.0, np.where(outcomes == FIRST_WINS + side, 2.0, -2.0))
    return np.where(outcomes == RUNNING, running, results)
