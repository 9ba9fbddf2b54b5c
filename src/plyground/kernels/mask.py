"""Template: masks and legality by the game's own `mask`. For other games `rules.py` derives them from legal lists.

The arguments are those of the functions in `rules.py`; not all are read here.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.no_refcounts import uncounted_loop
from plyground.kernels.slots import mask

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Records = NDArray[np.void]


@uncounted_loop
def legal_masks(states: Records, masks: Bools, work: Records, scratch: Ints) -> None:
    for i in range(len(states)):
        mask(states[i], masks[i])


@njit(cache=True, nogil=True)
def first_illegal(states: Records, actions: Ints, num_actions: int, work: Records, scratch: Ints) -> int:
    """The first row whose action is not legal, or -1."""
    row = np.empty(num_actions, np.bool_)
    for i in range(len(states)):
        mask(states[i], row)
        if not 0 <= actions[i] < num_actions or not row[actions[i]]:
            return i
    return -1
