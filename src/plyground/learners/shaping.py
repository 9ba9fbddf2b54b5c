"""Potential-based reward shaping: the game's `evaluate` as a reward that changes no best action.

The potential of a state is `evaluate` for its side to move. The side that acts is rewarded with the potential of the
next state, seen by itself (negated and discounted where the turn has passed), minus the potential of its state. Along a
game these differences cancel but for the first potential, so every action's value changes by the same amount, minus the
potential of the state (Ng, Harada and Russell 1999). A finished game has no potential; a truncated one keeps it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from plyground.backend.games import DeviceGame
from plyground.games.interface import RUNNING
from plyground.learners.selfplay import Transition


def potentials(games: DeviceGame, states: Tensor) -> Tensor:
    """[N] for the side to move; 0 where the game is over."""
    return torch.where(games.field(states, "outcome") == RUNNING, games.evaluate(states), 0.0)


def shaping_rewards(games: DeviceGame, ply: Transition, gamma: float) -> Tensor:
    """[N] the differences of potentials."""
    same_side = games.field(ply.states, "to_move") == games.field(ply.next_states, "to_move")
    return torch.where(same_side, 1.0, -gamma) * potentials(games, ply.next_states) - potentials(games, ply.states)
