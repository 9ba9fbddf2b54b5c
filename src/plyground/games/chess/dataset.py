"""Chess in a teacher's datasets: FENs, and 4096 actions, 64 * from + to, whatever a pawn becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.games.chess.board import QUEENING_ACTIONS
from plyground.games.chess.fen import CODEC
from plyground.games.dataset_format import DatasetFormat


def queening(states: NDArray[np.void], actions: NDArray[np.int32]) -> NDArray[np.int32]:
    """[N, M] the actions of `states` [N], promotions to less than a queen as those to a queen."""
    number, black = actions - QUEENING_ACTIONS, states["to_move"][:, None]
    start = np.where(black, 8, 48) + number // 9
    end: NDArray[Any] = start + np.where(black, -8, 8) + number // 3 % 3 - 1
    return np.where(actions >= QUEENING_ACTIONS, 64 * start + end, actions).astype(np.int32)


DATASET = DatasetFormat(position="fen", sides=("w", "b"), clocks=2, actions=queening, codec=CODEC)
