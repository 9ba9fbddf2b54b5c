"""Slow twins of the choices within a turn: by lists and sets of Python, one position after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import plyground as pg
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.rng import STEP, draw, scatter

Records = NDArray[np.void]
Rngs = NDArray[np.uint64]
MOST, LONGEST, MOST_OF_ENDS, DRAWS, THROWS = 20_000, 100, 2_000, 4, 16


def winning_actions(game: pg.Game, states: Records, rngs: Rngs) -> list[int]:
    """For each state an action that begins a win within the turn, in every draw of what is hidden; -1: none."""
    own, found = rngs.copy(), list[list[list[int]]]()
    for _ in range(DRAWS if game.rules.hidden else 1):
        drawn = game.redrawn(states, own)
        found.append([_winning(game, drawn[row : row + 1], own[row]) for row in range(len(states))])
        own += STEP
    both = (
        [action for action in each[0] if all(action in other for other in each)] for each in zip(*found, strict=True)
    )
    return [actions[0] if actions else -1 for actions in both]


def _winning(game: pg.Game, state: Records, bits: np.uint64) -> list[int]:
    """All actions that begin a win or, where nothing is hidden, the first one."""
    side, known, found = state["to_move"][0], set[bytes](), list[int]()
    layer = [(state, -1)]  # and the action with which the way there begins
    for _ in range(LONGEST):
        if not layer or len(known) >= MOST or (found and not game.rules.hidden):
            break
        following = list[tuple[Records, int]]()
        for here, first in layer:
            for action in pg.Position(game, here).legal():
                after, begun = play(game, here, action, bits), action if first < 0 else first
                wins = bool(after["outcome"][0] == FIRST_WINS + side)
                goes_on = bool(after["outcome"][0] == RUNNING and after["to_move"][0] == side)
                if not (wins or goes_on) or is_luck(game, here, action, after, bits):
                    continue
                found += [begun] * wins
                if goes_on and (head := game.heads(after).tobytes()) not in known:
                    known.add(head)
                    following.append((after, begun))
        layer = following
    return found


def best_end(game: pg.Game, state: Records) -> list[int]:
    """The shortest way to the best end of the turn, by `evaluate` and results."""
    side, best, chosen, known = state["to_move"][0], -np.inf, list[int](), set[bytes]()
    layer = [(state, list[int]())]  # and the way there
    while layer and len(known) < MOST_OF_ENDS:
        following = list[tuple[Records, list[int]]]()
        for here, way in layer:
            for action in pg.Position(game, here).legal():
                after = play(game, here, action, np.uint64(0))
                if is_luck(game, here, action, after, np.uint64(0)):
                    continue
                outcome = after["outcome"][0]
                if outcome == RUNNING and after["to_move"][0] == side:
                    if (head := game.heads(after).tobytes()) not in known:
                        known.add(head)
                        following.append((after, [*way, action]))
                elif (value := value_of_end(game, after, side)) > best:
                    best, chosen = value, [*way, action]
        layer = following
    return chosen


def value_of_end(game: pg.Game, state: Records, side: int) -> float:
    if state["outcome"][0] == RUNNING:
        evaluate: Any = game.rules.evaluate
        return -float(np.float32(evaluate(state[0]))) if evaluate else 0.0
    return {DRAW: 0.0, FIRST_WINS + side: 2.0}.get(state["outcome"][0], -2.0)


def play(game: pg.Game, state: Records, action: int, bits: np.uint64) -> Records:
    after = state.copy()
    game.kernels().play_all(after, np.array([action], np.int32), np.array([bits]), game.work())
    return after


def is_luck(game: pg.Game, state: Records, action: int, after: Records, bits: np.uint64) -> bool:
    for number in range(1, THROWS if game.rules.CHANCE else 1):
        with np.errstate(over="ignore"):
            other = play(game, state, action, scatter(bits + np.uint64(number) * STEP))
        alike = other["outcome"] == after["outcome"] != RUNNING
        if not alike and game.heads(other).tobytes() != game.heads(after).tobytes():
            return True
    return False


def drawn_by_score(scores: NDArray[np.float64], temperature: float, rngs: Rngs) -> NDArray[np.int64]:
    """[N] the places of actions, drawn from the softmax of their scores [N, K], minus infinity where there is none."""
    steps = 1 << 30
    scores = np.where(scores > -np.inf, np.clip(scores, -1.5, 1.5), -np.inf)
    totals = np.cumsum(np.exp((scores - scores.max(1, keepdims=True)) / temperature), 1)
    wanted = draw(rngs, np.full(len(scores), steps)) / steps * totals[:, -1]
    return np.argmax(totals > wanted[:, None], 1)
