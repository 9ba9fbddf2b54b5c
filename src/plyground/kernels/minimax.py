"""Template: alpha-beta search of fixed depth over any game in which nothing is hidden, on the game's own `evaluate`.

The tree is searched on heads, without their history; the first move is also played on the whole state, so that a draw
by repetition is seen there. A loop with a stack, since compiled code that is to be cached cannot recurse. Values are
seen by the mover of the node they belong to, and change sign only where the mover changes: one side may act several
times in a row.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.chance import below
from plyground.games.interface import RUNNING, value_for
from plyground.kernels.slots import evaluate, legal, play, play_head

WIN = 1000.0  # a win now; one ply later it is worth one less, so that wins come soon and losses late
TIE = 1e-9

Ints = NDArray[np.int32]
Records = NDArray[np.void]


@njit
def order(actions: Ints, count: int, cutoffs: NDArray[np.int64]) -> None:
    """Sort a node's actions: those that cut off most often before come first."""
    for k in range(1, count):
        action, j = actions[k], k
        while j > 0 and cutoffs[actions[j - 1]] < cutoffs[action]:
            actions[j] = actions[j - 1]
            j -= 1
        actions[j] = action


@njit(cache=True, nogil=True)
def minimax_all(
    states: Records,
    whole: Records,  # [1] room for one such state
    heads: Records,  # [N] the states as `play_head` takes them
    depth: int,
    chosen: Ints,  # [N]
    values: NDArray[np.float64],  # [N] the chosen action's value, for the side to move
    stack: Records,  # [depth + 1]
    lists: Ints,  # [depth, MAX_LEGAL]
    cutoffs: NDArray[np.int64],  # [NUM_ACTIONS]
    rngs: NDArray[np.uint64],
    work: Records,
) -> None:
    """The best action of each state `depth` plies deep; equally good ones are drawn from at random."""
    size, place = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    alpha, beta, best = np.zeros(depth), np.zeros(depth), np.zeros(depth)
    no_chance = np.zeros(1, np.uint64)
    for i in range(len(states)):
        cutoffs[:] = 0
        level, ties = 0, 0
        stack[0] = heads[i]
        size[0], place[0] = legal(stack[0], lists[0], work[0]), 0
        alpha[0], beta[0], best[0] = -2 * WIN, 2 * WIN, -2 * WIN
        chosen[i] = -1
        while True:
            if place[level] == size[level] or best[level] >= beta[level]:
                if level == 0:
                    break
                value = best[level]  # of the child, which is done
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
                elif level + 1 == depth:
                    value = np.float64(evaluate(child))
                else:
                    same = child["to_move"] == stack[level]["to_move"]
                    alpha[level + 1] = alpha[level] if same else -beta[level]
                    beta[level + 1] = beta[level] if same else -alpha[level]
                    level += 1
                    best[level] = -2 * WIN
                    size[level], place[level] = legal(child, lists[level], work[0]), 0
                    order(lists[level], size[level], cutoffs)
                    continue
            action = lists[level, place[level] - 1]
            if stack[level + 1]["to_move"] != stack[level]["to_move"]:
                value = -value
            if level == 0:
                if value > best[0] + TIE:
                    ties = 0
                if value >= best[0] - TIE:
                    ties += 1
                    if below(rngs[i : i + 1], ties) == 0:
                        chosen[i] = action
                best[0] = max(best[0], value)
                alpha[0] = best[0] - 2 * TIE  # an equal action must come out exact, not as a bound
            else:
                best[level] = max(best[level], value)
                alpha[level] = max(alpha[level], value)
                if value >= beta[level]:
                    cutoffs[action] += (depth - level) ** 2
        values[i] = best[0]
