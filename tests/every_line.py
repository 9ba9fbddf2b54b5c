"""Whether an agent can be beaten at all: every line of play of a small game."""

from __future__ import annotations

import numpy as np

import plyground as pg
from plyground.agents.agent import Agent
from plyground.games.interface import FIRST_WINS, RUNNING, SECOND_WINS


def losses_against_everything(game: pg.Game, agent: Agent) -> int:
    """The number of lines in which the agent loses, as first and as second player, over all replies.

    All lines advance together, ply by ply; equal states are merged, and their lines counted.
    """
    return sum(_losses(game, agent, side) for side in (0, 1))


def _losses(game: pg.Game, agent: Agent, side: int) -> int:
    states, lines, lost = game.start().states.copy(), np.ones(1, np.int64), 0
    while len(states):
        own = states["to_move"] == side
        chosen = agent.act(states[own], np.zeros(int(own.sum()), np.uint64))
        replies, actions = np.nonzero(game.legal_mask(states) & ~own[:, None])
        rows = np.concatenate([np.flatnonzero(own), replies])
        states, lines = states[rows], lines[rows]
        played = np.concatenate([chosen, actions]).astype(np.int32)
        game.kernels().play_all(states, played, np.zeros(len(states), np.uint64), game.work())
        lost += int(lines[states["outcome"] == (SECOND_WINS, FIRST_WINS)[side]].sum())
        running = states["outcome"] == RUNNING
        states, lines = _merged(states[running], lines[running])
    return lost


def _merged(states: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each state once, with the sum of its lines."""
    if not len(states):
        return states, lines
    rows = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), -1)
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, group.ravel(), lines)
    return states[first], sums
