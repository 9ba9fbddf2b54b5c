"""Minimax as one would write it down: no window, no order, no stack."""

from __future__ import annotations

import numpy as np

import plyground as pg
from plyground.games.interface import value_for


def naive_minimax(position: pg.Position, depth: int, ply: int = 0) -> float:
    """Value for the side to move, without a window and without an order."""
    if position.over:
        return value_for(int(position.outcome), position.to_move) * (1000 - (ply - 1))
    if depth == 0:
        value = np.empty(1, np.float32)
        position.game.kernels("evaluate").evaluate_all(position.states, value)
        return float(value[0])
    values: list[float] = []
    for action in position.legal():
        child = position.play(action)
        value = naive_minimax(child, depth - 1, ply + 1)
        values.append(value if child.to_move == position.to_move else -value)
    return max(values)
