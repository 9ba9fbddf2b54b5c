"""Template: alpha-beta search of fixed depth over any game of perfect information, with any model.

Nodes are heads, without history; the first action is also played on the whole state, so that a draw by repetition is
seen there. The search is a loop with a stack, since compiled code that is cached cannot recurse. A value is for the
side to move of its node; it is negated where the side to move changes, since one side may act several times in a row.

Beyond `depth`, up to `quiescence` more plies follow only actions that the game calls loud (captures). There the side to
move may also stand pat, which is worth what the model says. Move ordering and the table save time and change no value:
an entry of the table belongs to one position at one level (within the depth), and holds its value or a true bound. Of
the first actions, the `exact` best get their value, the others only a bound below these.

The steps of the loop are inlined before they are compiled: a call that takes arrays counts references to them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import wrapping
from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import STEP, below, mix
from plyground.kernels.slots import legal, legal_loud, loudness, model_value, play, play_head, refresh, update
from plyground.search.arrays import WIN, Doubles, Ints, Limits, Longs, Result, Roots, Scratch, Stack, Table, Words

TIE = 1e-9
AT_LEAST, AT_MOST, EXACT = np.uint64(1), np.uint64(2), np.uint64(3)  # what a value in the table is
BOUND = np.uint64(3)  # the bits of a key in the table that say it; 0 in an empty entry


@njit(cache=True, nogil=True)
def search_all(roots: Roots, limits: Limits, stack: Stack, table: Table, scratch: Scratch, result: Result) -> None:
    """The best action of each position, of equally good ones a random one; or, if `exact`, scores only."""
    table_keys, table_values = table.keys, table.values
    states, words, nodes, actions = stack.states, stack.words, stack.nodes, stack.actions
    weights, rows = scratch.weights, stack.scratch
    rng, work, cutoffs, ranks, best = scratch.rng, scratch.work, scratch.cutoffs, scratch.ranks, scratch.best
    chosen, scores, deepest = result.chosen, result.scores, limits.depth + limits.quiescence
    for i in range(len(roots.heads)):
        states[0] = roots.heads[i]
        refresh(states[0], weights[0], rows[0])
        open_root(nodes[0], states[0], actions[0], work[0], result.actions[i])
        cutoffs[:] = 0
        level, chosen[i] = 0, -1
        while True:
            node = nodes[level]
            if node["tried"] == node["count"] or node["best"] >= node["beta"]:  # done: back to the parent
                if level == 0:
                    break
                value = node["best"]
                if len(table_keys) > 0 and level < limits.depth:
                    entry = entry_of(node["key"], len(table_keys))
                    table_keys[entry], table_values[entry] = node["key"] | bound_of(node), value
                level -= 1
            else:  # play the next action
                child, after = nodes[level + 1], states[level + 1]
                states[level + 1] = states[level]
                action = actions[level, node["tried"] if level > 0 else roots.order[i, node["tried"]]]
                play_head(after, action, rng, work[0])
                node["tried"] += 1
                if level == 0:  # its outcome may depend on the history
                    scratch.whole[0] = roots.states[i]
                    play(scratch.whole[0], action, rng, work[0])
                    after["outcome"] = scratch.whole[0]["outcome"]
                update(states[level], after, weights[0], rows[level], rows[level + 1])
                known, value = leaf_value(after, level + 1, deepest, weights[0], rows[level + 1])
                if not known:
                    set_window(child, node, after["to_move"] == states[level]["to_move"])
                    if len(table_keys) > 0 and level + 1 < limits.depth:
                        child["key"] = key_of(words, level + 1)
                        entry = entry_of(child["key"], len(table_keys))
                        bound = table_keys[entry] ^ child["key"]
                        if bound <= BOUND:  # the same position
                            value = table_values[entry]
                            known = suffices(child, bound, value)
                if not known:
                    level += 1
                    open_node(
                        child, after, limits, level, actions[level], cutoffs, ranks, work[0], weights[0], rows[level]
                    )
                    continue
            node = nodes[level]
            if states[level + 1]["to_move"] != states[level]["to_move"]:
                value = -value
            if level == 0:
                place = roots.order[i, node["tried"] - 1]
                scores[i, place] = value
                if limits.exact > 0:
                    narrow(node, value, limits.exact, best)
                elif back_up_to_root(node, value, roots.rngs[i : i + 1]):
                    chosen[i] = actions[0, place]
            elif back_up(node, value):
                cutoffs[actions[level, node["tried"] - 1]] += (deepest - level) ** 2
        result.values[i] = nodes[0]["best"]


# ---- nodes ----


@njit(inline="always")
def open_root(node: State, state: State, actions: Ints, work: State, listed: Ints) -> None:
    """List the root's actions, also in `listed` with -1 behind them; its window is open."""
    count = legal(state, actions, work)
    node["count"], node["tried"], node["ties"] = count, 0, 0
    node["alpha"], node["beta"], node["best"] = -2 * WIN, 2 * WIN, -2 * WIN
    for k in range(len(listed)):  # a copy of a slice compiles the text of an error about its shape
        listed[k] = actions[k] if k < count else -1


@njit(inline="always")
def leaf_value(state: State, level: int, deepest: int, weights: State, scratch: State) -> tuple[bool, float]:
    """Whether a node is a leaf (the game is over, or the last level is reached), and its value."""
    if state["outcome"] != RUNNING:
        return True, value_for(state["outcome"], state["to_move"]) * (WIN - (level - 1))
    if level == deepest:
        return True, np.float64(model_value(state, weights, scratch))
    return False, 0.0


@njit(inline="always")
def set_window(node: State, parent: State, same_side: bool) -> None:
    """The parent's window, as the node's side to move sees it."""
    node["alpha"] = parent["alpha"] if same_side else -parent["beta"]
    node["beta"] = parent["beta"] if same_side else -parent["alpha"]
    node["floor"] = node["alpha"]


@njit(inline="always")
def open_node(
    node: State,
    state: State,
    limits: Limits,
    level: int,
    actions: Ints,
    cutoffs: Longs,
    ranks: Longs,
    work: State,
    weights: State,
    scratch: State,
) -> None:
    """List a node's actions; beyond the depth only the loud ones, and the side to move may stand pat."""
    quiet = level >= limits.depth
    node["best"], node["count"], node["tried"] = -2 * WIN, 0, 0
    if quiet:
        node["best"] = np.float64(model_value(state, weights, scratch))
        node["alpha"] = max(node["alpha"], node["best"])
    if node["best"] < node["beta"]:
        count = legal_loud(state, actions, work) if quiet else legal(state, actions, work)
        count = rank(state, actions, count, quiet, cutoffs, ranks)
        if limits.ordered:
            order(actions, ranks, count)
        node["count"] = count


@njit(inline="always")
def back_up(node: State, value: float) -> bool:
    """Enter the value of a node's last action; returns whether it causes a cut-off."""
    node["best"] = max(node["best"], value)
    node["alpha"] = max(node["alpha"], value)
    return value >= node["beta"]


@njit(inline="always")
def back_up_to_root(root: State, value: float, rng: Words) -> bool:
    """Enter the value of a first action; returns whether it is chosen, for now."""
    if value > root["best"] + TIE:
        root["ties"] = 0
    best = value >= root["best"] - TIE
    root["best"] = max(root["best"], value)
    root["alpha"] = root["best"] - 2 * TIE  # the value of an equal action must be exact, not a bound
    if not best:
        return False
    root["ties"] += 1
    return below(rng, root["ties"]) == 0


@njit(inline="always")
def narrow(root: State, value: float, exact: int, best: Doubles) -> None:
    """Enter the value of a first action, and raise the window to what the next must reach to get their exact value."""
    place = root["tried"] - 1
    while place > 0 and best[place - 1] < value:
        best[place] = best[place - 1]
        place -= 1
    best[place] = value
    root["best"] = best[0]
    if root["tried"] >= exact:
        root["alpha"] = best[exact - 1] - 2 * TIE


# ---- move ordering ----


@njit
def rank(state: State, actions: Ints, count: int, loud_only: bool, cutoffs: Longs, ranks: Longs) -> int:
    """Rank a node's actions: the loudest first, then those that caused most cut-offs (history heuristic).

    With `loud_only` the others are removed from the list. Returns the number of actions left.
    """
    kept = 0
    for k in range(count):
        action = actions[k]
        loud = np.int64(loudness(state, action))
        if loud > 0 or not loud_only:
            actions[kept], ranks[kept] = action, (loud << 40) + cutoffs[action]
            kept += 1
    return kept


@njit
def order(actions: Ints, ranks: Longs, count: int) -> None:
    """Sort a node's actions by rank, the highest first."""
    for k in range(1, count):
        action, rank, j = actions[k], ranks[k], k
        while j > 0 and ranks[j - 1] < rank:
            actions[j], ranks[j] = actions[j - 1], ranks[j - 1]
            j -= 1
        actions[j], ranks[j] = action, rank


# ---- transposition table ----


@wrapping
def key_of(words: NDArray[np.generic], level: int) -> np.uint64:
    """62 bits for the position at a level (words [L + 1, W]), in front of two that say what is stored."""
    x = mix(np.uint64(level) + STEP)
    for k in range(words.shape[1]):
        x = mix(x ^ np.uint64(words[level, k])) + STEP
    return x & ~BOUND


@njit(inline="always")
def entry_of(key: np.uint64, entries: int) -> np.int64:
    """The number of the only entry in which a key may be stored; a newer key replaces an older one."""
    return np.int64(key >> np.uint64(2)) & (entries - 1)


@njit(inline="always")
def suffices(node: State, bound: np.uint64, value: float) -> bool:
    """Whether a value of the table can be used for a node: it is exact, or a bound outside the node's window."""
    outside = (bound == AT_LEAST and value >= node["beta"]) or (bound == AT_MOST and value <= node["alpha"])
    return bound == EXACT or outside


@njit(inline="always")
def bound_of(node: State) -> np.uint64:
    """What the best value of a node that is done is."""
    return AT_LEAST if node["best"] >= node["beta"] else AT_MOST if node["best"] <= node["floor"] else EXACT
