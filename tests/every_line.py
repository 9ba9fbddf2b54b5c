"""Whether an agent can be beaten at all: every line of play of a small game."""

from __future__ import annotations

import numpy as np

import plyground as pg
from plyground.agents.agent import Agent


def losses_against_everything(game: pg.Game, agent: Agent) -> int:
    """In how many lines the agent loses, whatever the opponent does."""

    def lost(position: pg.Position, side: int) -> int:
        if position.over:
            return int(position.outcome == (3, 2)[side])
        if position.to_move == side:
            move = int(agent.act(position.states.copy(), np.zeros(1, np.uint64))[0])
            return lost(position.play(move), side)
        return sum(lost(position.play(move), side) for move in position.legal())

    return sum(lost(game.start(), side) for side in (0, 1))
