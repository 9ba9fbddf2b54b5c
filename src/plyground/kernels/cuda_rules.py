"""Template: a game's scalar functions as kernels for a GPU. The loops of `rules.py`, in which a thread takes every
so-many-th row, and the same functions in them.

`words` is `states` once more, in the largest whole numbers that divide a record: the compiler copies records byte by
byte, which on a GPU costs more than the rules. `work` has one record for each thread. `fresh` is a record as `reset`
leaves it, or, where chance has a part in that, as it gets it.
"""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import cuda as untyped
from numba import njit  # noqa: F401  # pyright: ignore[reportUnusedImport]  (slots may be filled with adapters)
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, value_for
from plyground.games.rng import below
from plyground.kernels.openings import TRIES
from plyground.kernels.slots import (
    CHANCE,
    MAX_LEGAL,
    STATE,
    count_legal,
    legal,
    play,
    play_head,
    reset,
    seat,
    transform,
)

cuda: Any = untyped

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Records = Any  # [N] of the game's STATE or HEAD
Rngs = NDArray[np.uint64]  # [N]
Words = NDArray[Any]  # [N, record's size in words]; of `fresh` one row

WORD = {8: np.uint64, 4: np.uint32, 2: np.uint16, 1: np.uint8}[STATE.alignment]
SIZE = STATE.itemsize // STATE.alignment  # of a record, in words
LIMITED: Any = {} if numba.config.ENABLE_CUDASIM else {"max_registers": 128}  # pyright: ignore
"""so that 512 threads that play on their own fit a multiprocessor"""


@cuda.jit(cache=True)
def reset_all(states: Records, words: Words, fresh: Words, rngs: Rngs) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        for k in range(SIZE):
            words[i, k] = fresh[0, k]
        if CHANCE:
            reset(states[i], rngs[i : i + 1])


@cuda.jit(cache=True)
def step_all(
    states: Records,
    words: Words,
    heads: Words,  # the same once more, in whole numbers that divide a head
    after: Words,  # [N, head's size in those]: where the actions led, before a fresh game takes a finished one's place
    actions: Ints,
    rngs: Rngs,
    fresh: Words,
    plies: Ints,  # [N] plies played in the current game of each row
    max_plies: int,
    rewards: Floats,
    terminated: Bools,
    truncated: Bools,
    work: Records,
) -> None:
    """Play one action in every row and begin a new game where one has ended. The reward is the acting side's."""
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        state = states[i]
        side = state["to_move"]
        play(state, actions[i], rngs[i : i + 1], work[cuda.grid(1)])
        played = plies[i] + 1
        for k in range(after.shape[1]):
            after[i, k] = heads[i, k]
        over = state["outcome"] != RUNNING
        stopped = not over and played >= max_plies
        rewards[i], terminated[i], truncated[i] = value_for(state["outcome"], side), over, stopped
        if over or stopped:
            played = 0
            for k in range(SIZE):
                words[i, k] = fresh[0, k]
            if CHANCE:
                reset(state, rngs[i : i + 1])
        plies[i] = played


@cuda.jit(cache=True)
def look_all(
    states: Records,
    lists: Ints,  # [N, MAX_LEGAL], like all that follow or empty where nobody asks: the legal actions, ascending
    counts: Ints,  # [N] how many there are
    masks: Bools,  # [N, A], all false before: which actions are legal
    rngs: Rngs,
    drawn: Ints,  # [N] one of them, all equally likely; -1 where the game is over
    chosen: Ints,
    illegal: Ints,  # [1] the first row whose `chosen` [N] is not legal, if that is below what it held
    work: Records,
) -> None:
    """Find the legal actions of each state, and answer what is asked about them.

    One kernel for all questions: most of its compiling time is `legal`.
    """
    actions = cuda.local.array(MAX_LEGAL, np.int32)
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        count = legal(states[i], actions, work[cuda.grid(1)])
        if len(counts):
            counts[i] = count
            for k in range(count):
                lists[i, k] = actions[k]
        if len(masks):
            for k in range(count):
                masks[i, actions[k]] = True
        if len(drawn):
            drawn[i] = actions[below(rngs[i : i + 1], count)] if count else -1
        if len(chosen):
            k = 0
            while k < count and actions[k] < chosen[i]:  # they ascend
                k += 1
            if k == count or actions[k] != chosen[i]:
                cuda.atomic.min(illegal, 0, i)


@cuda.jit(cache=True, **LIMITED)
def random_play(
    words: Words,
    fresh: Words,
    rngs: Rngs,
    plies: Ints,  # [N] plies played in the current game of each row
    count: int,
    ended: NDArray[np.int64],
    work: Records,
) -> None:
    """Play `count` random actions in each row, game after game; `ended` [4] counts the outcomes.

    A thread plays in a record of its own, which the compiler keeps in registers or beside those of its neighbours. All
    threads of a block look for moves at the same time, and all play at the same time: the instructions for both are
    more than a multiprocessor can keep at hand.
    """
    own, rng = cuda.local.array(SIZE, WORD), cuda.local.array(1, np.uint64)
    actions, counts = cuda.local.array(MAX_LEGAL, np.int32), cuda.local.array(4, np.int64)
    for k in range(4):
        counts[k] = 0
    state = own.view(STATE)[0]
    first = cuda.blockIdx.x * cuda.blockDim.x
    while first < len(words):
        i = first + cuda.threadIdx.x
        here, played, choices = i < len(words), 0, 0
        if here:
            for k in range(SIZE):
                own[k] = words[i, k]
            rng[0], played = rngs[i], plies[i]
        for _ in range(count):
            if here:
                choices = legal(state, actions, work[cuda.grid(1)])
            cuda.syncthreads()
            if here:
                play(state, actions[below(rng, choices)], rng, work[cuda.grid(1)])
                played += 1
                if state["outcome"] != RUNNING:
                    counts[state["outcome"]] += 1
                    played = 0
                    for k in range(SIZE):
                        own[k] = fresh[0, k]
                    if CHANCE:
                        reset(state, rng)
            cuda.syncthreads()
        if here:
            for k in range(SIZE):
                words[i, k] = own[k]
            rngs[i], plies[i] = rng[0], played
        first += cuda.gridsize(1)
    for k in range(4):
        if counts[k]:
            cuda.atomic.add(ended, k, counts[k])


@cuda.jit(cache=True)
def open_games(
    states: Records,
    words: Words,
    begins: Bools,  # [N] which games to begin
    wanted: Ints,  # [N] random plies in each
    fresh: Words,
    rngs: Rngs,
    work: Records,
) -> None:
    """Begin games anew; where random plies keep ending the game, it begins at the start."""
    actions = cuda.local.array(MAX_LEGAL, np.int32)
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        state, rng = states[i], rngs[i : i + 1]
        attempt = 0 if begins[i] else TRIES
        while attempt < TRIES:
            for k in range(SIZE):
                words[i, k] = fresh[0, k]
            if CHANCE:
                reset(state, rng)
            left = wanted[i] if attempt < TRIES - 1 else 0
            while left > 0 and state["outcome"] == RUNNING:
                count = legal(state, actions, work[cuda.grid(1)])
                play(state, actions[below(rng, count)], rng, work[cuda.grid(1)])
                left -= 1
            attempt = TRIES if state["outcome"] == RUNNING else attempt + 1


@cuda.jit(cache=True)
def seats_to_act(states: Records, seats: Ints) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        seats[i] = seat(states[i])


@cuda.jit(cache=True)
def transform_all(states: Records, symmetries: Ints) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        transform(states[i], symmetries[i])


# ---- perft ----


@cuda.jit(cache=True)
def play_heads(heads: Records, actions: Ints, rngs: Rngs, work: Records) -> None:
    for i in range(cuda.grid(1), len(heads), cuda.gridsize(1)):
        play_head(heads[i], actions[i], rngs[i : i + 1], work[cuda.grid(1)])


@cuda.jit(cache=True)
def count_all(heads: Records, leaves: NDArray[np.int64], work: Records) -> None:
    """leaves [N]: how many legal actions each state has."""
    actions = cuda.local.array(MAX_LEGAL, np.int32)
    for i in range(cuda.grid(1), len(heads), cuda.gridsize(1)):
        leaves[i] = count_legal(heads[i], actions, work[cuda.grid(1)])
