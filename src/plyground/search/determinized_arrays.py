"""The memory of a search over determinizations: one position at a time, without allocation.

C is the number of actions that are considered, L the game's MAX_LEGAL.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ROOT, DETERMINIZED, ROLLOUT = range(3)  # rows of `states`: the position, a determinization, a game played from there

CANDIDATE = np.dtype(
    [
        ("total", np.float64),  # sum of the results, for the side to move
        ("prior", np.float64),  # the scorer's score, or the network's log-probability; 0 without one
        ("action", np.int32),
        ("visits", np.int32),
    ],
    align=True,
)
PROGRESS = np.dtype(
    [
        ("seed", np.uint64),  # determinization k follows from it and from k
        ("count", np.int32),  # legal actions
        ("considered", np.int32),  # candidates
        ("left", np.int32),  # of them, those that are still compared: the first ones
        ("determinizations", np.int32),  # determinizations drawn
        ("simulations", np.int32),  # games played
    ],
    align=True,
)


class FlatSearch(NamedTuple):
    """A search of one position by flat Monte Carlo."""

    states: Any  # [3] of STATE
    words: Any  # [3, SIZE] the same as unsigned integers of STATE's alignment
    candidates: Any  # [C] of CANDIDATE, the best first
    progress: Any  # [1] of PROGRESS
    rng: Any  # [1] uint64
    actions: Any  # [L] int32: the legal actions, ascending
    scores: Any  # [L] float64: theirs, by the scorer
