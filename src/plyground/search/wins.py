"""Wins within the turn: what a player must not overlook. An exhaustive search of one turn in any game."""

from __future__ import annotations

import numpy as np

from plyground.game import Game
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import STEP
from plyground.search.arrays import Ints, Records, Words

MOST = 20_000  # positions within one turn
DRAWS = 4  # of what is hidden and of what chance does: a win that needs no luck is there in all of them


def winning_actions(game: Game, states: Records, rngs: Words) -> Ints:
    """[N] an action that begins a win within the turn, for each running state [N]; -1 where there is none.

    What the seat to act cannot see is redrawn, from a copy of its generator `rngs` [N]. Where something is hidden or
    left to chance, an action must begin a win in each of DRAWS redraws.
    """
    own, luck = rngs.copy(), game.rules.hidden or game.rules.CHANCE
    found = [_winning(game, redrawn(game, states, own), own, every=luck) for _ in range(DRAWS if luck else 1)]
    in_all = [
        [action for action in draws[0] if all(action in draw for draw in draws)] for draws in zip(*found, strict=True)
    ]
    return np.array([actions[0] if actions else -1 for actions in in_all], np.int32)


def redrawn(game: Game, states: Records, rngs: Words) -> Records:
    """A copy of states [N] in which what the seat to act cannot see is drawn again; the generators [N] advance."""
    drawn, seats = states.copy(), np.empty(len(states), np.int32)
    if game.rules.hidden:
        game.kernels().seats_to_act(drawn, seats)
        game.kernels().determinize_all(drawn, seats, rngs)
    return drawn


def _winning(game: Game, states: Records, rngs: Words, every: bool) -> list[list[int]]:
    """For each state [N] the actions that begin a win within the turn, with the random numbers that follow in its
    generator: the first one that is found, or every one. The generators [N] advance."""
    found = [_winning_first(game, states[row : row + 1], rngs[row], every) for row in range(len(states))]
    rngs += STEP
    return found


def _winning_first(game: Game, states: Records, rng: np.generic, every: bool) -> list[int]:
    """The same in one state [1], turn by breadth: all positions after one action, after two, ..."""
    side, work, known, found = states["to_move"][0], game.work(), set[bytes](), list[int]()
    first = np.full(1, -1, np.int32)  # [F] the action with which the way to each position begins
    while len(states) and len(known) < MOST and (every or not found):
        actions, origins = legal_actions(game, states)
        after = states[origins]  # a copy
        game.kernels().play_all(after, actions, np.full(len(after), rng, np.uint64), work)
        first = np.where(first[origins] < 0, actions, first[origins])
        found += first[after["outcome"] == FIRST_WINS + side].tolist()
        new = new_within_turn(game, after, side, known)
        states, first = after[new], first[new]
    return found


def legal_actions(game: Game, states: Records) -> tuple[Ints, Ints]:
    """[K] the legal actions of all states [F], and [K] the rows that they belong to."""
    lists, counts = np.empty((len(states), game.rules.MAX_LEGAL), np.int32), np.empty(len(states), np.int32)
    game.kernels().legal_lists(states, lists, counts, game.work())
    return lists[np.arange(lists.shape[1]) < counts[:, None]], np.repeat(np.arange(len(states), dtype=np.int32), counts)


def new_within_turn(game: Game, states: Records, side: int, known: set[bytes]) -> list[int]:
    """The rows of states [F] in which the turn of a side goes on and whose heads are new: `known` grows."""
    rows = np.flatnonzero((states["outcome"] == RUNNING) & (states["to_move"] == side)).tolist()
    heads = {row: game.heads(states[row : row + 1]).tobytes() for row in rows}
    return [row for row, head in heads.items() if not (head in known or known.add(head))]
