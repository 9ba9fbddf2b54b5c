"""The board representation of a Connect Four DQN agent, as its author described it, for any array of 0, 1 and 2.

It encodes arrays, not games: an arrangement that no game reaches is encoded too. On reachable positions the encoder
`relative` gives the same numbers, faster.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plyground.errors import InvalidValue


def encode_state(board: ArrayLike, player_id: int) -> NDArray[np.float32]:
    """Own stones 1.0, the opponent's 2.0, empty cells 0.0; cell (row, column) of a 6x7 board is at row * 7 + column.

    `board` holds 0 (empty), 1 and 2 (the players' stones); `player_id` is the player, 1 or 2, whose stones become 1.0.
    """
    cells = np.asarray(board)
    if player_id not in (1, 2):
        raise InvalidValue(f"player_id is 1 or 2, not {player_id!r}")
    if cells.shape != (6, 7):
        raise InvalidValue(f"a board has the shape (6, 7), row 0 on top, not {cells.shape}")
    if not np.isin(cells, (0, 1, 2)).all():
        raise InvalidValue(f"a board holds 0, 1 and 2; this one also {sorted(set(cells.flat) - {0, 1, 2})}")
    return np.select([cells == player_id, cells != 0], [1.0, 2.0]).astype(np.float32).reshape(-1)


def best_legal(q_values: ArrayLike, legal: Collection[int]) -> int:
    """The legal column with the highest Q-value; illegal columns count as minus infinity."""
    values = np.asarray(q_values, np.float32)  # [7]
    columns = sorted(set(legal))
    if not columns or not 0 <= columns[0] <= columns[-1] < len(values):
        raise InvalidValue(f"legal columns are some of 0 to {len(values) - 1}, not {columns}")
    return columns[int(values[columns].argmax())]
