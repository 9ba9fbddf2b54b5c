"""Turns of several actions in any game: the positions that one reaches, and the wins that nobody must overlook."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import STEP, scatter
from plyground.search.arrays import Ints, Records, Words

MOST, LONGEST = 20_000, 100  # positions and actions within one turn
DRAWS = 4  # of what is hidden: a win that needs no luck is there in all of them
THROWS = 16  # of the dice, which show whether they decide anything
Bools = NDArray[np.bool_]


def winning_actions(game: Game, states: Records, rngs: Words) -> Ints:
    """[N] an action that begins a win within the turn, for each running state [N]; -1 where there is none.

    What the seat to act cannot see is redrawn, from a copy of its generator `rngs` [N]: an action must begin a win in
    each of DRAWS redraws. Nothing that chance decides belongs to it: luck is what the other moves are weighed for.
    """
    own, every = rngs.copy(), game.rules.hidden
    found: list[list[list[int]]] = []
    for _ in range(DRAWS if every else 1):
        drawn = game.redrawn(states, own)
        found.append([_winning(game, drawn[row : row + 1], own[row], every) for row in range(len(states))])
        own += STEP
    in_all = [
        [action for action in draws[0] if all(action in draw for draw in draws)] for draws in zip(*found, strict=True)
    ]
    return np.array([actions[0] if actions else -1 for actions in in_all], np.int32)


def _winning(game: Game, states: Records, rng: np.uint64, every: bool) -> list[int]:
    """The actions that begin a win within the turn in a state [1], every one or the first that is found. Turn by
    breadth: all positions after one action, after two, ..."""
    side, work, known, found = states["to_move"][0], game.work(), set[bytes](), list[int]()
    first = np.full(1, -1, np.int32)  # [F] the action with which the way to each position begins
    for _ in range(LONGEST):
        if not len(states) or len(known) >= MOST or (found and not every):
            break
        actions, origins = legal_actions(game, states)
        after = states[origins]  # a copy
        game.kernels().play_all(after, actions, np.full(len(after), rng, np.uint64), work)
        first = np.where(first[origins] < 0, actions, first[origins])
        if game.rules.CHANCE:
            going = (after["outcome"] == RUNNING) & (after["to_move"] == side)
            rows = np.flatnonzero(going | (after["outcome"] == FIRST_WINS + side))
            rows = rows[without_luck(game, states[origins[rows]], actions[rows], after[rows], rng)]
            after, first = after[rows], first[rows]
        found += first[after["outcome"] == FIRST_WINS + side].tolist()
        new = new_within_turn(game, after, side, known)
        states, first = after[new], first[new]
    return found


def after_actions(game: Game, states: Records, actions: Ints, rng: np.uint64) -> Records:
    """[F] the states after actions [F], each with the same chance, which follows `rng`."""
    after = states.copy()
    game.kernels().play_all(after, actions, np.full(len(after), rng, np.uint64), game.work())
    return after


def turn_of(game: Game, state: Records, line: Sequence[int]) -> tuple[list[int], Records]:
    """The actions of a line, played from a state [1] of a game without chance, that belong to its first turn, and the
    state [1] after them: the turn goes on there if the line ends before it."""
    side, turn = state["to_move"][0], list[int]()
    for action in line:
        if state["outcome"][0] != RUNNING or state["to_move"][0] != side:
            break
        turn.append(action)
        state = after_actions(game, state, np.array([action], np.int32), np.uint64(0))
    return turn, state


def without_luck(game: Game, states: Records, actions: Ints, after: Records, rng: np.uint64) -> Bools:
    """[F] whether chance has no part in where actions [F] led from states [F] with `rng`: in THROWS throws they lead to
    the same position, or end the game alike."""
    sure = np.ones(len(states), np.bool_)
    for number in range(1, THROWS if game.rules.CHANCE and len(states) else 1):
        with np.errstate(over="ignore"):
            other = after_actions(game, states, actions, scatter(rng + np.uint64(number) * STEP))
        ended_alike = (other["outcome"] != RUNNING) & (other["outcome"] == after["outcome"])
        heads = [game.heads(each).view(np.uint8).reshape(len(sure), -1) for each in (other, after)]
        sure &= ended_alike | (heads[0] == heads[1]).all(1)
    return sure


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
