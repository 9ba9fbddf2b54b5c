"""Template: a game's scalar functions as loops over batches. One row never touches another.

Every loop releases the interpreter's lock and knows nothing of threads: a caller who wants several hands each a slice
(`threads.py`). `work` is one record of the game's working memory; `rngs[i]` is the generator of row i.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, value_for
from plyground.games.rng import below
from plyground.kernels.slots import count_legal, determinize, legal, play, play_head, reset, seat, settle, transform

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Records = NDArray[np.void]  # [N] of the game's STATE; `blank` and `work` have one row
Rngs = NDArray[np.uint64]  # [N]


@njit(cache=True, nogil=True)
def reset_all(states: Records, blank: Records, rngs: Rngs) -> None:
    for i in range(len(states)):
        states[i] = blank[0]
        reset(states[i], rngs[i : i + 1])


@njit(cache=True, nogil=True)
def play_all(states: Records, actions: Ints, rngs: Rngs, work: Records) -> None:
    for i in range(len(states)):
        play(states[i], actions[i], rngs[i : i + 1], work[0])


@njit(cache=True, nogil=True)
def step_all(
    states: Records,
    state_bytes: Bytes,  # [N, itemsize]: `states` once more, as bytes
    after: Bytes,  # [N, head's itemsize]: where the actions led, before a fresh game takes the place of a finished one
    actions: Ints,
    rngs: Rngs,
    blank: Records,
    plies: Ints,  # [N] plies played in the current game of each row
    max_plies: int,
    rewards: Floats,
    terminated: Bools,
    truncated: Bools,
    work: Records,
) -> None:
    """Play one action in every row and begin a new game where one has ended. The reward is the acting side's."""
    for i in range(len(states)):
        state = states[i]
        side = state["to_move"]
        play(state, actions[i], rngs[i : i + 1], work[0])
        plies[i] += 1
        for k in range(after.shape[1]):
            after[i, k] = state_bytes[i, k]
        over = state["outcome"] != RUNNING
        stopped = not over and plies[i] >= max_plies
        rewards[i], terminated[i], truncated[i] = value_for(state["outcome"], side), over, stopped
        if over or stopped:
            plies[i] = 0
            states[i] = blank[0]
            reset(states[i], rngs[i : i + 1])


@njit(cache=True, nogil=True)
def legal_lists(states: Records, actions: Ints, counts: Ints, work: Records) -> None:
    """Row i's legal actions are `actions[i, :counts[i]]`, ascending; the rest of the row is -1."""
    for i in range(len(states)):
        counts[i] = legal(states[i], actions[i], work[0])
        actions[i, counts[i] :] = -1


@njit(cache=True, nogil=True)
def legal_masks(states: Records, masks: Bools, work: Records, scratch: Ints) -> None:
    for i in range(len(states)):
        masks[i, :] = False
        for k in range(legal(states[i], scratch, work[0])):
            masks[i, scratch[k]] = True


@njit(cache=True, nogil=True)
def first_illegal(states: Records, actions: Ints, num_actions: int, work: Records, scratch: Ints) -> int:
    """The first row whose action is not legal, or -1."""
    for i in range(len(states)):
        count, k = legal(states[i], scratch, work[0]), 0
        while k < count and scratch[k] < actions[i]:  # they ascend
            k += 1
        if k == count or scratch[k] != actions[i]:
            return i
    return -1


@njit(cache=True, nogil=True)
def random_actions(states: Records, rngs: Rngs, actions: Ints, work: Records, scratch: Ints) -> None:
    """One legal action for each row, all equally likely; -1 where the game is over."""
    for i in range(len(states)):
        count = legal(states[i], scratch, work[0])
        actions[i] = scratch[below(rngs[i : i + 1], count)] if count else -1


@njit(cache=True, nogil=True)
def random_play(
    states: Records,
    blank: Records,
    rngs: Rngs,
    plies: Ints,  # [N] plies played in the current game of each row
    count: int,
    ended: NDArray[np.int64],
    work: Records,
    scratch: Ints,
) -> None:
    """Play `count` random actions in each row, game after game; `ended` [4] counts the outcomes."""
    for i in range(len(states)):
        state, rng = states[i], rngs[i : i + 1]
        for _ in range(count):
            choices = legal(state, scratch, work[0])
            play(state, scratch[below(rng, choices)], rng, work[0])
            plies[i] += 1
            if state["outcome"] != RUNNING:
                ended[state["outcome"]] += 1
                plies[i] = 0
                states[i] = blank[0]
                reset(state, rng)


@njit(cache=True, nogil=True)
def settle_all(states: Records) -> None:
    for i in range(len(states)):
        settle(states[i])


@njit(cache=True, nogil=True)
def play_heads(heads: Records, actions: Ints, rngs: Rngs, work: Records) -> None:
    for i in range(len(heads)):
        play_head(heads[i], actions[i], rngs[i : i + 1], work[0])


@njit(cache=True, nogil=True)
def perft_all(
    heads: Records,
    depth: int,
    leaves: NDArray[np.int64],  # [N]
    stack: Records,  # [depth]: the states above the one being counted
    lists: Ints,  # [depth, MAX_LEGAL]
    rngs: Rngs,
    work: Records,
) -> None:
    """How many sequences of exactly `depth` actions each state has. The last level is counted, not played."""
    size, place = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    for i in range(len(heads)):
        level, total = 0, 0
        stack[0] = heads[i]
        if depth == 1:
            leaves[i] = count_legal(stack[0], lists[0], work[0])
            continue
        size[0], place[0] = legal(stack[0], lists[0], work[0]), 0
        while level >= 0:
            if place[level] == size[level]:
                level -= 1
                continue
            child = stack[level + 1]
            stack[level + 1] = stack[level]
            play_head(child, lists[level, place[level]], rngs[i : i + 1], work[0])
            place[level] += 1
            if level + 2 == depth:
                total += count_legal(child, lists[level + 1], work[0])
            else:
                level += 1
                size[level], place[level] = legal(child, lists[level], work[0]), 0
        leaves[i] = total


@njit(cache=True, nogil=True)
def seats_to_act(states: Records, seats: Ints) -> None:
    for i in range(len(states)):
        seats[i] = seat(states[i])


@njit(cache=True, nogil=True)
def transform_all(states: Records, symmetries: Ints) -> None:
    for i in range(len(states)):
        transform(states[i], symmetries[i])


@njit(cache=True, nogil=True)
def determinize_all(states: Records, seats: Ints, rngs: Rngs) -> None:
    for i in range(len(states)):
        determinize(states[i], seats[i], rngs[i : i + 1])
