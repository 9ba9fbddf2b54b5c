"""`learn_by_self_play`: any model that defines `learn` learns from games against itself, by TD(lambda)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, is_whole, shown
from plyground.games.rng import agent_seeds, seeds
from plyground.kernels.arrays import Judge
from plyground.models.compiled import CompiledModel

Records = NDArray[np.void]
TEMPLATE = "plyground.models.self_play"
LONGEST = 4096  # plies of a game that are kept; longer ones end there as draws


class SelfPlaySettings(NamedTuple):
    rate: float
    epsilon: float  # the share of actions that are random
    td_lambda: float  # the share of what followed in what a position learns
    opening_plies: int  # at most so many random plies begin a game, none of which is learned from


class SelfPlayMemory(NamedTuple):
    """P is the length of the longest game."""

    states: Records  # [P + 1] of STATE: one game
    values: NDArray[np.float64]  # [P + 1] what the model said of them, for their sides to move
    explored: NDArray[np.bool_]  # [P] whether the action there was random
    actions: NDArray[np.int32]  # [MAX_LEGAL]
    after: Records  # [1] of STATE
    rng: NDArray[np.uint64]  # [1] of the game
    own: NDArray[np.uint64]  # [1] of plies that are looked ahead: what chance will do in the game chooses no action
    work: Records  # [1]
    judge: Judge


def learn_by_self_play(
    model: CompiledModel,
    games: int,
    seed: int = 0,
    rate: float = 0.01,
    epsilon: float = 0.1,
    td_lambda: float = 0.8,
    opening_plies: int = 0,
) -> int:
    """Play `games` games and learn after each from its end back to its beginning; returns the number of plies.

    Each position learns a mix of the value of the next one and of what followed in the game (by `td_lambda`), as its
    side to move sees them. The best action by the model is played or, with the probability `epsilon`, a random one,
    before which nothing is learned; nor is it from random plies at the beginning, `opening_plies` at most. The same
    seed gives the same weights.
    """
    game = model.game
    if "learn" not in model.functions:
        raise InvalidValue(
            f"{model.source} does not learn: it defines no `learn(state, target, rate, weights, scratch)`"
        )
    if game.rules.hidden:
        raise InvalidValue(f"self-play of models needs a game in which nothing is hidden; {game} is not one")
    if not is_whole(games, 0) or not is_whole(opening_plies, 0) or not 0.0 <= epsilon <= 1.0:
        given = f"games={shown(games)}, opening_plies={shown(opening_plies)}, epsilon={shown(epsilon)}"
        raise InvalidValue(f"self-play takes numbers of games and plies, and a share from 0 to 1, not {given}")
    plies = min(game.rules.MAX_PLIES, LONGEST)
    memory = SelfPlayMemory(
        states=np.zeros(plies + 1, game.rules.STATE),
        values=np.zeros(plies + 1),
        explored=np.zeros(plies, np.bool_),
        actions=game.scratch(),
        after=np.zeros(1, game.rules.STATE),
        rng=seeds(seed, 1),
        own=agent_seeds(seed, 1),
        work=game.work(),
        judge=model.as_judge(),
    )
    return model.kernels(TEMPLATE).learn_games(
        games, game.blank, SelfPlaySettings(rate, epsilon, td_lambda, opening_plies), memory
    )
