"""Puzzles of one move: win at once, or block the opponent's win. Generated from random games by the rules.

`win_in_1`: some move wins at once. `block_in_1`: none does, and after all moves but one the opponent can win at once.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, ask
from plyground.batch import Batch
from plyground.game import Game
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import seeds

EACH = 500  # puzzles of each kind
GAMES = 1000  # random games to find them in
WIDEST = 16  # MAX_LEGAL above which a game has no puzzles: generating them would take too long
SEED = 271_828

Records = NDArray[np.void]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Puzzles:
    """Positions of one kind and the moves that solve each."""

    states: Records  # [P]
    solutions: Bools  # [P, A]

    def solved(self, game: Game, agent: Agent) -> float:
        """The share of puzzles that an agent solves."""
        actions = ask(agent, game, self.states.copy(), seeds(SEED, len(self.states)))
        return float(self.solutions[np.arange(len(self.states)), actions].mean())


@functools.lru_cache(maxsize=8)
def puzzles_of(game: Game) -> Mapping[str, Puzzles]:
    """The puzzles of a game, the same every time; none with chance, hidden information or very many choices."""
    if game.rules.hidden or game.rules.CHANCE or game.rules.MAX_LEGAL > WIDEST:
        return {}
    batch, seen, going = Batch(game, GAMES, SEED), list[Records](), np.ones(GAMES, np.bool_)
    for _ in range(game.rules.MAX_PLIES):
        seen.append(batch.states[going].copy())
        going &= ~batch.step(batch.random_actions()).terminated
    states = np.random.default_rng(SEED).permutation(np.unique(np.concatenate(seen)))  # [N] distinct, running
    wins = _wins(game, states)
    quiet = np.flatnonzero(~wins.any(axis=1))
    safe = _safe(game, states[quiet])
    forced = (safe.sum(axis=1) == 1) & (game.legal_mask(states[quiet]).sum(axis=1) > 1)
    found = {"win_in_1": (states, wins, wins.any(axis=1)), "block_in_1": (states[quiet], safe, forced)}
    kinds = {name: Puzzles(where[fit][:EACH], right[fit][:EACH]) for name, (where, right, fit) in found.items()}
    return {name: puzzles for name, puzzles in kinds.items() if len(puzzles.states)}


def solved(game: Game, agent: Agent) -> dict[str, float]:
    """The share of puzzles of each kind that an agent solves."""
    return {name: puzzles.solved(game, agent) for name, puzzles in puzzles_of(game).items()}


def _wins(game: Game, states: Records) -> Bools:
    """[N, A] which moves win at once for the side to move."""
    wins = game.legal_mask(states)
    rows, actions = np.nonzero(wins)
    after = _played(game, states[rows], actions)
    wins[rows, actions] = after["outcome"] == FIRST_WINS + states["to_move"][rows]
    return wins


def _safe(game: Game, states: Records) -> Bools:
    """[N, A] which moves leave the opponent without a move that wins at once."""
    safe = game.legal_mask(states)
    rows, actions = np.nonzero(safe)
    after = _played(game, states[rows], actions)
    passed = (after["outcome"] == RUNNING) & (after["to_move"] != states["to_move"][rows])
    loses = np.zeros(len(rows), np.bool_)
    loses[passed] = _wins(game, after[passed]).any(axis=1)
    safe[rows, actions] = ~loses
    return safe


def _played(game: Game, states: Records, actions: NDArray[np.intp]) -> Records:
    """[M] the states after the actions."""
    after = states.copy()
    game.kernels().play_all(after, actions.astype(np.int32), seeds(SEED, len(after)), game.work())
    return after
