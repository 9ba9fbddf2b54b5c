"""Potential-based shaping: a game's own judgement as a reward that changes no best action.

The potential of a state is what `evaluate` says for its side to move. The side that acts gets what the potential has
become, seen by itself (minus, where the turn has passed, and discounted there), less what it was. Along a game these
differences cancel out but for the first potential, so every action's value changes by the same amount, minus the
potential of the state (Ng, Harada and Russell 1999). A finished game has no potential; one that was stopped keeps it.
"""

from __future__ import annotations

from typing import Any

from plyground.games.interface import RUNNING
from plyground.learners.arrays import OnCpu


def potentials(on: OnCpu, states: Any) -> Any:
    """[N] for the side to move; 0 where the game is over."""
    return on.where(on.field(states, "outcome") == RUNNING, on.evaluate(states), 0.0)


def differences(on: OnCpu, states: Any, after: Any, discount: float) -> Any:
    """[N] what is added to the reward of the side that acted in `states` and came to `after`."""
    same_side = on.field(states, "to_move") == on.field(after, "to_move")
    return on.where(same_side, 1.0, -discount) * potentials(on, after) - potentials(on, states)
