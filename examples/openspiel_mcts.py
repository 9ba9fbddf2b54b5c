"""OpenSpiel's Monte Carlo tree search as an agent, for matches and ladders. Needs the extra `openspiel`.

plyground ladder connect_four random greedy file:examples/openspiel_mcts.py:mcts_100 search:sims=100 --games 20
"""

from __future__ import annotations

from plyground.game import Game
from plyground.interop.openspiel import SpielAgent, mcts


def mcts_100(game: Game) -> SpielAgent:
    return mcts(game, simulations=100)


def mcts_1000(game: Game) -> SpielAgent:
    return mcts(game, simulations=1000)
