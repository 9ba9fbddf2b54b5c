"""Template: how an n-tuple network chooses actions, and games by which it learns. `learners/td.py` says how."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import below, next_bits, uniform
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.kernels.slots import CHANCE, HIDDEN, determinize, legal, play, refresh, reset, seat
from plyground.models.ntuple_arrays import Memory, Played, Settings
from plyground.models.ntuple_code import look_again, table_of, total, viewer
from plyground.models.numbers import tanh

TINY = 1e-9  # by which equally good actions are told apart, at random


@uncounted_body
def afterstate_value(after: State, mover: int, weights: State, memory: Memory) -> float:
    """The value of the position after a trial action, for side 0. `looks[0]` knows the position before it."""
    if after["outcome"] != RUNNING:
        return value_for(after["outcome"], 0)
    view, known, tried = viewer(after, mover, weights), memory.looks[0], memory.looks[2]
    codes = tried["codes"][view]
    look_again(after, view, weights, known["cells"][view], known["codes"][view], tried["cells"][view], codes)
    found = tanh(total(weights["table"][table_of(after, view, weights)], codes))
    return found if view % 2 == 0 else -found


@uncounted_body
def best_action(state: State, count: int, weights: State, redraws: int, memory: Memory) -> int:
    """The action with the highest mean value over redraws of what chance, or hidden cards, may bring: none of them is
    what will come. `values` become these means, for the seat to act."""
    mover, seen, after = seat(state), memory.states[1], memory.states[2]
    draws = redraws if CHANCE or HIDDEN else 1
    for k in range(count):
        memory.values[k] = 0.0
    for _ in range(draws):
        memory.states[1] = state
        determinize(seen, mover, memory.own_rng)
        if CHANCE:
            next_bits(memory.own_rng)  # another luck, also where the last action of the redraw before has met no chance
        luck = memory.own_rng[0]
        for k in range(count):
            memory.states[2] = seen
            memory.own_rng[0] = luck
            play(after, memory.actions[k], memory.own_rng, memory.work[0])
            memory.values[k] += afterstate_value(after, mover, weights, memory)
    sign = (1.0 if state["to_move"] == 0 else -1.0) / draws
    best, chosen = -9.0, 0
    for k in range(count):
        memory.values[k] *= sign
        value = memory.values[k] + TINY * uniform(memory.own_rng)
        if value > best:
            best, chosen = value, memory.actions[k]
    return chosen


@uncounted_loop
def choose_all(
    states: NDArray[np.void],  # [N] running
    rngs: NDArray[np.uint64],  # [N]
    weights: NDArray[np.void],  # [1]
    redraws: int,
    memory: Memory,
    actions: NDArray[np.int32],  # [N, MAX_LEGAL] the legal actions, then -1
    values: NDArray[np.float64],  # [N, MAX_LEGAL] theirs
    chosen: NDArray[np.int32],  # [N]
) -> None:
    for i in range(len(states)):
        memory.own_rng[0] = rngs[i]
        refresh(states[i], weights[0], memory.looks[0])
        count = legal(states[i], memory.actions, memory.work[0])
        chosen[i] = best_action(states[i], count, weights[0], redraws, memory)
        for k in range(actions.shape[1]):
            actions[i, k] = memory.actions[k] if k < count else -1
            values[i, k] = memory.values[k] if k < count else -np.inf
        rngs[i] = memory.own_rng[0]


@uncounted_loop
def play_games(
    first: int,
    last: int,
    blank: NDArray[np.void],
    weights: NDArray[np.void],
    settings: Settings,
    memory: Memory,
    played: Played,
) -> None:
    """Play the games of these numbers."""
    state, known, following = memory.states[0], memory.looks[0], memory.looks[1]
    for game in range(first, last):
        memory.rng[0], memory.own_rng[0] = played.rngs[game], played.own_rngs[game]
        memory.states[0] = blank[0]
        reset(state, memory.rng)
        refresh(state, weights[0], known)
        opening = 0
        if uniform(memory.own_rng) < settings.opening_share:
            opening = below(memory.own_rng, settings.opening_plies + 1)
        length = 0
        while state["outcome"] == RUNNING and length < played.values.shape[1]:
            count, mover = legal(state, memory.actions, memory.work[0]), seat(state)
            explored = length < opening or uniform(memory.own_rng) < settings.epsilon
            if explored:
                action = memory.actions[below(memory.own_rng, count)]
            else:
                action = best_action(state, count, weights[0], settings.redraws, memory)
            play(state, action, memory.rng, memory.work[0])
            played.explored[game, length] = explored
            if state["outcome"] != RUNNING:
                played.values[game, length] = value_for(state["outcome"], 0)
            else:
                for view in range(len(known["codes"])):
                    look_again(
                        state,
                        view,
                        weights[0],
                        known["cells"][view],
                        known["codes"][view],
                        following["cells"][view],
                        following["codes"][view],
                    )
                memory.looks[0] = following
                view = viewer(state, mover, weights[0])
                table = table_of(state, view, weights[0])
                codes = known["codes"][view]
                for j in range(len(codes)):
                    played.codes[game, length, j] = codes[j]
                played.tables[game, length], played.sides[game, length] = table, view % 2
                found = tanh(total(weights[0]["table"][table], codes))
                played.values[game, length] = found if view % 2 == 0 else -found
            length += 1
        played.lengths[game], played.outcomes[game] = length, state["outcome"]


@uncounted_loop
def learn_games(
    table: int,
    entries: NDArray[np.float32],  # [E] of this table
    steps: NDArray[np.float32],  # [E, 2] fading sums of changes and of their sizes
    settings: Settings,
    played: Played,
    sums: NDArray[np.float64],  # [2] updates, absolute errors
) -> None:
    """Let one table learn from a round of games, each from its end back to its beginning.

    A target is a mixture of what followed; a random ply says nothing about the position before it. What followed has
    the value that it had when it was played: so no table waits for another, and each has a thread of its own.
    """
    alpha, keep = np.float32(settings.alpha), np.float32(settings.coherence_memory)
    one, zero = np.float32(1.0), np.float32(0.0)
    for game in range(len(played.lengths)):
        last = played.lengths[game] - 1
        target = played.values[game, last]
        for k in range(last - 1, -1, -1):
            if played.explored[game, k + 1]:
                target = played.values[game, k]
                continue
            target = settings.td_lambda * target + (1.0 - settings.td_lambda) * played.values[game, k + 1]
            if played.tables[game, k] != table:
                continue
            codes = played.codes[game, k]
            wanted = target if played.sides[game, k] == 0 else -target
            found = tanh(total(entries, codes))
            change = np.float32((wanted - found) * (1.0 - found * found))
            size = abs(change)
            for j in range(settings.codes):
                code = np.uint32(codes[j])
                seen = steps[code, 1]
                rate = one if seen == zero else abs(steps[code, 0]) / seen
                entries[code] += alpha * rate * change
                steps[code, 0] = keep * steps[code, 0] + change
                steps[code, 1] = keep * seen + size
            sums[0] += 1.0
            sums[1] += abs(wanted - found)
