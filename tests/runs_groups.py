"""A checkpoint to test with."""

from __future__ import annotations

import numpy as np

IDENTITY = {"game": "connect_four", "encoder": "planes-v1", "network": "84-8-7"}


def groups(value: float = 0.5) -> dict[str, dict[str, np.ndarray]]:
    return {
        "network": {"weight": np.full((3, 2), value, np.float32)},
        "replay": {"states": np.arange(64, dtype=np.uint8), "rngs": np.array([2**64 - 1], np.uint64)},
    }
