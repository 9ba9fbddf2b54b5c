"""Template: alpha-beta search of fixed depth over any game in which nothing is hidden, on the game's own `evaluate`.

The tree is searched on heads, without their history; the first move is also played on the whole state, so that a draw
by repetition is seen there. A loop with a stack, since compiled code that is to be cached cannot recurse. Values are
seen by the mover of the node they belong to, and change sign only where the mover changes: one side may act several
times in a row.

Beyond `depth`, up to `quiet` more plies follow only what the game calls loud (captures): there the mover may also leave
things as they are, which is worth `evaluate`. Order and table save time and change no value: an entry of the table
belongs to one position at one level (within the depth), and holds its value or a bound that is true.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import wrapping
from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import STEP, below, mix
from plyground.kernels.slots import evaluate, legal, loudness, play, play_head

WIN = 1000.0  # a win now; one ply later it is worth one less, so that wins come soon and losses late
TIE = 1e-9
AT_LEAST, AT_MOST, EXACTLY = 1, 2, 3  # what an entry of the table says

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Records = NDArray[np.void]


@njit
def order(state: State, actions: Ints, count: int, cutoffs: Longs, keys: Longs) -> None:
    """Sort a node's actions: the loudest first, then those that cut off most often before."""
    for k in range(count):
        keys[k] = (np.int64(loudness(state, actions[k])) << 40) + cutoffs[actions[k]]
    for k in range(1, count):
        action, key, j = actions[k], keys[k], k
        while j > 0 and keys[j - 1] < key:
            actions[j], keys[j] = actions[j - 1], keys[j - 1]
            j -= 1
        actions[j], keys[j] = action, key


@njit
def keep_loud(state: State, actions: Ints, count: int) -> int:
    """Leave only the loud actions in the list; how many there are."""
    kept = 0
    for k in range(count):
        if loudness(state, actions[k]) > 0:
            actions[kept] = actions[k]
            kept += 1
    return kept


@wrapping
def key_of(record: NDArray[np.generic], level: int) -> np.uint64:
    """64 bits for a position (its record, as whole numbers) at a level; never 0, which marks an empty entry."""
    x = mix(np.uint64(level) + STEP)
    for k in range(len(record)):
        x = mix(x ^ np.uint64(record[k])) + STEP
    return x | np.uint64(1)


@njit(cache=True, nogil=True)
def minimax_all(
    states: Records,
    whole: Records,  # [1] room for one such state
    heads: Records,  # [N] the states as `play_head` takes them
    depth: int,
    quiet: int,  # plies beyond the depth in which only loud actions are followed
    ordered: bool,
    exact: bool,  # the value of every first action, not only of the best ones
    chosen: Ints,  # [N]
    values: NDArray[np.float64],  # [N] the chosen action's value, for the side to move
    actions: Ints,  # [N, MAX_LEGAL] the legal actions, ascending, then -1
    scores: NDArray[np.float64],  # [N, MAX_LEGAL] their values; unless `exact`, those of worse ones are upper bounds
    stack: Records,  # [depth + quiet + 1]
    words: NDArray[np.generic],  # [depth + quiet + 1, ...] the stack's memory as whole numbers
    lists: Ints,  # [depth + quiet, MAX_LEGAL]
    cutoffs: Longs,  # [NUM_ACTIONS]
    table_keys: NDArray[np.uint64],  # [a power of two], or [0]: no table
    table_values: NDArray[np.float64],
    table_kinds: NDArray[np.int8],
    rngs: NDArray[np.uint64],
    work: Records,
) -> None:
    """The best action of each state; equally good ones are drawn from at random or, if `exact`, the lowest is taken."""
    deepest = depth + quiet
    size, place, node = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest, np.uint64)
    alpha, beta, best, floor = np.zeros(deepest), np.zeros(deepest), np.zeros(deepest), np.zeros(deepest)
    keys, no_chance = np.zeros(lists.shape[1], np.int64), np.zeros(1, np.uint64)
    for i in range(len(states)):
        cutoffs[:] = 0
        level, ties = 0, 0
        stack[0] = heads[i]
        size[0], place[0] = legal(stack[0], lists[0], work[0]), 0
        alpha[0], beta[0], best[0] = -2 * WIN, 2 * WIN, -2 * WIN
        chosen[i] = -1
        actions[i, : size[0]], actions[i, size[0] :] = lists[0, : size[0]], -1
        while True:
            if place[level] == size[level] or best[level] >= beta[level]:
                if level == 0:
                    break
                value = best[level]  # of the child, which is done
                if len(table_keys) > 0 and level < depth:
                    entry = np.int64(node[level] >> np.uint64(1)) & (len(table_keys) - 1)
                    table_keys[entry], table_values[entry] = node[level], value
                    known = AT_LEAST if value >= beta[level] else AT_MOST if value <= floor[level] else EXACTLY
                    table_kinds[entry] = known
                level -= 1
            else:
                child = stack[level + 1]
                stack[level + 1] = stack[level]
                play_head(child, lists[level, place[level]], no_chance, work[0])
                outcome = child["outcome"]
                if level == 0:
                    whole[0] = states[i]
                    play(whole[0], lists[0, place[0]], no_chance, work[0])
                    outcome = whole[0]["outcome"]
                place[level] += 1
                if outcome != RUNNING:
                    value = value_for(outcome, child["to_move"]) * (WIN - level)
                elif level + 1 == deepest:
                    value = np.float64(evaluate(child))
                else:
                    same = child["to_move"] == stack[level]["to_move"]
                    lowest = alpha[level] if same else -beta[level]
                    highest = beta[level] if same else -alpha[level]
                    known, value = 0, 0.0
                    if len(table_keys) > 0 and level + 1 < depth:
                        node[level + 1] = key_of(words[level + 1], level + 1)
                        entry = np.int64(node[level + 1] >> np.uint64(1)) & (len(table_keys) - 1)
                        if table_keys[entry] == node[level + 1]:
                            known, value = table_kinds[entry], table_values[entry]
                            if (known == AT_LEAST and value < highest) or (known == AT_MOST and value > lowest):
                                known = 0
                    if known == 0:
                        level += 1
                        alpha[level], beta[level], floor[level] = lowest, highest, lowest
                        best[level], size[level], place[level] = -2 * WIN, 0, 0
                        if level >= depth:  # leave things as they are?
                            best[level] = np.float64(evaluate(child))
                            alpha[level] = max(lowest, best[level])
                        if best[level] < highest:
                            size[level] = legal(child, lists[level], work[0])
                            if level >= depth:
                                size[level] = keep_loud(child, lists[level], size[level])
                            if ordered:
                                order(child, lists[level], size[level], cutoffs, keys)
                        continue
            action = lists[level, place[level] - 1]
            if stack[level + 1]["to_move"] != stack[level]["to_move"]:
                value = -value
            if level == 0:
                scores[i, place[0] - 1] = value
                if value > best[0] + TIE:
                    ties = 0
                if value >= best[0] - TIE:
                    ties += 1
                    if (exact and ties == 1) or (not exact and below(rngs[i : i + 1], ties) == 0):
                        chosen[i] = action
                best[0] = max(best[0], value)
                if not exact:
                    alpha[0] = best[0] - 2 * TIE  # an equal action must come out exact, not as a bound
            else:
                best[level] = max(best[level], value)
                alpha[level] = max(alpha[level], value)
                if value >= beta[level]:
                    cutoffs[action] += (deepest - level) ** 2
        values[i] = best[0]
