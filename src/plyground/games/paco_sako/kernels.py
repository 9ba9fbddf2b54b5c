"""Template: questions about Paco Ŝako's turns, for people and tests. `work` is one record of DEEP_WORK."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import ZERO
from plyground.games.interface import RUNNING
from plyground.games.paco_sako.search import choices, copy, ended, explore, forced_wins, gives_sako, suppose, threats

Ints = NDArray[np.int32]
Records = NDArray[np.void]


@njit(cache=True, nogil=True)
def threats_all(states: Records, sides: Ints, squares: NDArray[np.uint64], work: Records) -> None:
    """squares [N]: all that each side threatens."""
    for i in range(len(states)):
        squares[i] = threats(states[i], sides[i], ~ZERO, work[0])


@njit(cache=True, nogil=True)
def gives_sako_all(states: Records, sides: Ints, found: Ints, work: Records) -> None:
    """found [N]: whether each side could unite with the other king; see `gives_sako`."""
    for i in range(len(states)):
        found[i] = gives_sako(states[i], sides[i], work[0])


@njit(cache=True, nogil=True)
def explore_turn(states: Records, work: Records) -> int:
    """Fill `work["turn"]` with the rest of the turn of one state; how many nodes."""
    copy(states[0], work[0]["turn"]["nodes"][0])
    return explore(work[0]["turn"], False, work[0])


@njit(cache=True, nogil=True)
def explore_chains(states: Records, side: int, work: Records) -> int:
    """The same for the chains to the king, were it the turn of `side`."""
    suppose(states[0], side, work[0]["turn"]["nodes"][0])
    return explore(work[0]["turn"], True, work[0])


@njit(cache=True, nogil=True)
def count_turn(count: int, work: Records, counts: NDArray[np.int64]) -> None:
    """counts [4]: the ends of an explored turn, those that won, the states within, and those without an action."""
    nodes = work[0]["turn"]["nodes"]
    side = nodes[0]["to_move"]
    counts[:] = 0
    for index in range(count):
        node = nodes[index]
        if index > 0 and ended(node, side):
            counts[0] += 1
            counts[1] += node["outcome"] != RUNNING
        else:
            counts[2] += index > 0
            counts[3] += node["outcome"] != RUNNING or choices(node, False, work[0])[1] == ZERO


@njit(cache=True, nogil=True)
def forced_turns(states: Records, side: int, found: Ints, work: Records) -> tuple[int, bool]:
    """Paco in 2 for one state: see `forced_wins`."""
    return forced_wins(states[0], side, work[0], found)
