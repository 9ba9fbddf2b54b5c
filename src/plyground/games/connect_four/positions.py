"""Connect Four positions to grade agents on, made from a seed, so that an agent cannot be tuned to a fixed list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, Random, make
from plyground.game import Game
from plyground.games.connect_four.perfect import Perfect
from plyground.games.interface import RUNNING
from plyground.games.rng import draw, seeds

Records = NDArray[np.void]
Player = Callable[[Records, int, NDArray[np.uint64]], NDArray[np.int32]]  # states, their ply, generators -> actions

COSTLY = range(10, 13)  # just after the book's last ply, where exact scores of all moves take the solver longest
SLOW = range(10, 15)  # plies at which a greedy player replaces the perfect one
OPENING = 4  # plies at random, so that games differ
SLIPS = 0.2  # how often a player errs on purpose


def made(game: Game, n: int, agent: Agent, seed: int) -> Records:
    """[about n] running positions, each once: a third from random games, a third from the agent's games with itself,
    a third from the perfect player's games with itself; the last two err now and then.
    """
    dice, greedy = Random(game), make("greedy", game)

    def slipping(player: Agent) -> Player:
        def act(states: Records, ply: int, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
            chosen = (greedy if ply in SLOW and isinstance(player, Perfect) else player).act(states, rngs)
            slips = draw(rngs, np.full(len(states), 1000)) < 1000 * SLIPS
            return np.where(slips | (ply < OPENING), dice.act(states, rngs), chosen)

        return act

    players: list[Player] = [lambda states, ply, rngs: dice.act(states, rngs), slipping(agent), slipping(Perfect())]
    parts = [_from_games(game, -(-n // 3), player, seed + 7 * k) for k, player in enumerate(players)]
    return np.unique(np.concatenate(parts))


def _from_games(game: Game, n: int, player: Player, seed: int) -> Records:
    """[n] one position from each of n games, all plies of a game equally likely but the costly ones."""
    kernels, rngs, plies = game.kernels(), seeds(seed, n), game.rules.MAX_PLIES
    course, length = np.repeat(game.blank, n * plies).reshape(plies, n), np.zeros(n, np.int64)
    states = course[0].copy()
    kernels.reset_all(states, game.blank, rngs)
    for ply in range(plies):
        rows = np.flatnonzero(states["outcome"] == RUNNING)
        course[ply], length[rows] = states, ply + 1
        going, luck = states[rows], rngs[rows]
        actions = np.ascontiguousarray(player(going.copy(), ply, luck), np.int32)
        kernels.play_all(going, actions, luck.copy(), game.work())
        states[rows], rngs[rows] = going, luck
    cheap = length - np.clip(length - COSTLY.start, 0, len(COSTLY))  # [n] plies to choose from
    chosen = draw(rngs, cheap)
    return course[np.where(chosen < COSTLY.start, chosen, chosen + len(COSTLY)), np.arange(n)]
