"""Wins within the turn: what a player must not overlook. An exhaustive search of one turn in any game."""

from __future__ import annotations

import numpy as np

from plyground.game import Game
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.search.arrays import Ints, Records, Words

MOST = 20_000  # positions within one turn


def winning_actions(game: Game, states: Records, rngs: Words) -> Ints:
    """[N] an action that begins a win within the turn, for each running state [N]; -1 where there is none.

    What the seat to act cannot see is redrawn first, from a copy of its generator `rngs` [N]: a win that needs no luck
    is there in every redraw.
    """
    seen = states.copy()
    if game.rules.hidden:
        seats = np.empty(len(states), np.int32)
        game.kernels().seats_to_act(seen, seats)
        game.kernels().determinize_all(seen, seats, rngs.copy())
    found = [_winning_action(game, seen[row : row + 1]) for row in range(len(states))]
    return np.array(found, np.int32)


def _winning_action(game: Game, states: Records) -> int:
    """The same in one state [1], turn by breadth: all positions after one action, after two, ..."""
    side, work, known = states["to_move"][0], game.work(), set[bytes]()
    first = np.full(1, -1, np.int32)  # [F] the action with which the way to each position begins
    while len(states) and len(known) < MOST:
        actions, origins = _legal(game, states)
        after = states[origins]  # a copy
        game.kernels().play_all(after, actions, np.zeros(len(after), np.uint64), work)
        first = np.where(first[origins] < 0, actions, first[origins])
        won = np.flatnonzero(after["outcome"] == FIRST_WINS + side)
        if len(won):
            return int(first[won[0]])
        goes_on = np.flatnonzero((after["outcome"] == RUNNING) & (after["to_move"] == side))
        new = [row for row in goes_on if _is_new(game.heads(after[row : row + 1]).tobytes(), known)]
        states, first = after[new], first[new]
    return -1


def _legal(game: Game, states: Records) -> tuple[Ints, Ints]:
    """[K] the legal actions of all states [F], and [K] the rows that they belong to."""
    lists, counts = np.empty((len(states), game.rules.MAX_LEGAL), np.int32), np.empty(len(states), np.int32)
    game.kernels().legal_lists(states, lists, counts, game.work())
    return lists[np.arange(lists.shape[1]) < counts[:, None]], np.repeat(np.arange(len(states), dtype=np.int32), counts)


def _is_new(key: bytes, known: set[bytes]) -> bool:
    """Whether a key was not known; then it is from now on."""
    return not (key in known or known.add(key))
