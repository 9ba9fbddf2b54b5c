"""Template: a game's scalar functions as kernels for a GPU: grid-stride loops around the bodies of `rules.py`.

Records are copied in words, because the compiler copies records byte by byte, which costs more than the rules.
`work` has one record for each thread.
"""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.games.interface import RUNNING
from plyground.games.rng import below
from plyground.kernels.arrays import Games, Legal, Step
from plyground.kernels.rules import SIZE, begin_row, children_row, draw_action, is_legal, open_row, step_row
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
Records = Any  # [N] of the game's STATE or HEAD
Rngs = NDArray[np.uint64]  # [N]
Words = NDArray[Any]  # [1, SIZE]

WORD = {8: np.uint64, 4: np.uint32, 2: np.uint16, 1: np.uint8}[STATE.alignment]
LIMITED: Any = {} if numba.config.ENABLE_CUDASIM else {"max_registers": 128}  # pyright: ignore
"""so that a multiprocessor holds a block of 512 threads of `random_play`"""


@cuda.jit(cache=True)
def begin_all(games: Games, fresh: Words, work: Records) -> None:
    for i in range(cuda.grid(1), len(games.states), cuda.gridsize(1)):
        begin_row(i, games, fresh)


@cuda.jit(cache=True)
def step_all(games: Games, actions: Ints, step: Step, max_plies: int, fresh: Words, work: Records) -> None:
    for i in range(cuda.grid(1), len(games.states), cuda.gridsize(1)):
        step_row(i, games, actions, step, max_plies, fresh, work[cuda.grid(1)])


@cuda.jit(cache=True)
def open_games(games: Games, begins: Bools, opening_plies: Ints, fresh: Words, work: Records) -> None:
    actions = cuda.local.array(MAX_LEGAL, np.int32)
    for i in range(cuda.grid(1), len(games.states), cuda.gridsize(1)):
        if begins[i]:
            open_row(i, games, opening_plies[i], fresh, work[cuda.grid(1)], actions)


@cuda.jit(cache=True)
def play_children(
    states: Records,
    words: Words,
    rngs: Rngs,
    actions: Ints,
    children: Records,
    child_words: Words,
    work: Records,
) -> None:
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        children_row(i, states, words, rngs, actions, children, child_words, work[cuda.grid(1)])


@cuda.jit(cache=True)
def find_legal(states: Records, out: Legal, work: Records) -> None:
    """Find the legal actions of each state and fill the fields of `Legal` that are not empty.

    One kernel for all of them, because `legal` takes most of its compile time.
    """
    actions = cuda.local.array(MAX_LEGAL, np.int32)
    for i in range(cuda.grid(1), len(states), cuda.gridsize(1)):
        count = legal(states[i], actions, work[cuda.grid(1)])
        if len(out.counts):
            out.counts[i] = count
            for k in range(count):
                out.lists[i, k] = actions[k]
        if len(out.outputs):
            acting = seat(states[i])
            for k in range(count):
                output = out.outputs[acting, actions[k]]
                if output < out.masks.shape[1]:
                    out.masks[i, output] = True
        elif len(out.masks):
            for k in range(count):
                out.masks[i, actions[k]] = True
        if len(out.drawn):
            out.drawn[i] = draw_action(out.rngs[i : i + 1], actions, count)
        if len(out.chosen) and not is_legal(out.chosen[i], actions, count):
            cuda.atomic.min(out.illegal, 0, i)


@cuda.jit(cache=True, **LIMITED)
def random_play(games: Games, count: int, ended: NDArray[np.int64], fresh: Words, work: Records) -> None:
    """Play `count` random actions in each row, game after game; `ended` [4] counts the outcomes.

    A thread plays in a record of its own, which the compiler keeps in registers or in local memory. All threads of a
    block find legal actions at the same time, and all play at the same time: the instructions of both do not fit a
    multiprocessor's instruction cache.
    """
    own, rng = cuda.local.array(SIZE, WORD), cuda.local.array(1, np.uint64)
    actions, counts = cuda.local.array(MAX_LEGAL, np.int32), cuda.local.array(4, np.int64)
    for k in range(4):
        counts[k] = 0
    state = own.view(STATE)[0]
    first = cuda.blockIdx.x * cuda.blockDim.x
    while first < len(games.words):
        i = first + cuda.threadIdx.x
        here, played, choices = i < len(games.words), 0, 0
        if here:
            for k in range(SIZE):
                own[k] = games.words[i, k]
            rng[0], played = games.rngs[i], games.plies[i]
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
                games.words[i, k] = own[k]
            games.rngs[i], games.plies[i] = rng[0], played
        first += cuda.gridsize(1)
    for k in range(4):
        if counts[k]:
            cuda.atomic.add(ended, k, counts[k])


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
