"""Unfinished turns: what whoever plays a game keeps between two actions of one turn. Agents remember nothing of it.

A turn of several actions may come back to a position of its own, for ever (a chain in Paco Ŝako): an agent that chooses
each action by a new search may prefer to go on everywhere, all the more if it is losing. So the positions of the turn
are kept with the game, and a circle is left by the best end of the turn. An agent that has searched to the end of its
turn tells all actions of it, and is not asked again while they are played.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.search.alpha_beta_arrays import Ints, Records
from plyground.search.within_turn import after_actions, best_end

LONGEST = 64  # positions of a turn that are kept: longer circles are not noticed
NO_RNG = np.uint64(0)  # a generator for what no chance decides


@dataclass(frozen=True)
class Turn:
    """A turn that goes on after an agent's action."""

    here: int
    """the key of the position that the action leads to: in another one the turn has not gone on as expected"""
    passed: tuple[int, ...]
    """the keys of the earlier positions of the turn, the newest last"""
    plan: tuple[int, ...] = ()
    """what an agent means to do next"""
    planner: str = ""
    """its name: others choose for themselves"""


Turns = dict[int, Turn]
"""the unfinished turns of games, by the numbers of the games; they belong to whoever plays the games"""


def act_in_turns(
    game: Game,
    states: Records,
    numbers: Sequence[int],
    turns: Turns,
    agent: str,
    choose: Callable[[Ints], Ints | list[list[int]]],
) -> Ints:
    """[N] the next actions in the games of these numbers [N], in running states [N]: those that the agent of this name
    has planned, and for the other rows [K] what `choose(rows)` says: actions [K], or for each row all actions of the
    turn that are decided. An action that leads back to a position of the same turn is replaced by the way to the
    best end of the turn."""
    actions, same = np.empty(len(states), np.int32), _as_seen(game, states)
    begun = {row: turns.pop(number, None) for row, number in enumerate(numbers)} if turns else {}
    going = {row: turn for row, turn in begun.items() if turn is not None and turn.here == key_of(same[row])}
    plans = {row: turn.plan for row, turn in going.items() if turn.plan and turn.planner == agent}
    asked = np.setdiff1d(np.arange(len(states), dtype=np.int32), list(plans))
    if len(asked):
        found = choose(asked)
        if isinstance(found, list):
            plans.update(zip(asked.tolist(), map(tuple, found), strict=True))
        else:
            actions[asked] = found
    for row, plan in plans.items():
        actions[row] = plan[0]
    after = after_actions(game, states, actions, NO_RNG)
    goes_on = np.flatnonzero((after["outcome"] == RUNNING) & (after["to_move"] == states["to_move"]))
    after[goes_on] = _as_seen(game, after[goes_on])
    for row in goes_on.tolist():
        one, part = states[row : row + 1], slice(row, row + 1)
        passed = (*(going[row].passed if row in going else ()), key_of(same[row]))
        if key_of(after[row]) in passed and (way := best_end(game, one, int(actions[row]))):
            plans[row], actions[row] = tuple(way), way[0]
            after[part] = after_actions(game, one, actions[part], NO_RNG)
        turns[numbers[row]] = Turn(key_of(after[row]), passed[-LONGEST:], plans.get(row, ())[1:], agent)
    return actions


def _as_seen(game: Game, states: Records) -> Records:
    """Records in which what looks the same is the same: what the seat to act cannot see has one value."""
    return game.redrawn(states, np.zeros(len(states), np.uint64))


def key_of(state: np.void) -> int:
    return int.from_bytes(hashlib.blake2b(state.tobytes(), digest_size=8).digest(), "little")


def packed(turns: Turns, games: int) -> NDArray[np.uint64]:
    """[games, 1 + LONGEST] the keys of unfinished turns, for a checkpoint; 0 where there is none. Plans are left out:
    only searches by time make them, and no run with such an opponent is repeatable."""
    keys = np.zeros((games, 1 + LONGEST), np.uint64)
    for game, turn in turns.items():
        keys[game, 0], keys[game, 1 : 1 + len(turn.passed)] = turn.here, turn.passed
    return keys


def unpacked(keys: NDArray[np.uint64]) -> Turns:
    rows = {game: [key for key in row if key] for game, row in enumerate(keys.tolist())}
    return {game: Turn(row[0], tuple(row[1:])) for game, row in rows.items() if row}
