"""Template: search over determinizations, for games with hidden information or chance.

The actions of the root are compared by games that the rollout agent plays against itself (flat Monte Carlo). Each
determinization is drawn from what the seat to act may know, and all candidates are played in the same determinizations
with the same random numbers, so that luck is the same for all. Sequential halving drops the worse half of the
candidates again and again.

Nothing below the root is stored: an action is judged by its mean over all determinizations, never by what would be best
in one that the player cannot tell from others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import STEP, below, mix, next_bits
from plyground.kernels.arrays import int32
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.kernels.slots import STATE, choose, determinize, evaluate, legal, play, score, seat
from plyground.search.determinized_arrays import DETERMINIZED, ROLLOUT, ROOT, FlatSearch
from plyground.search.tree_arrays import OPEN, SCRIPTED, Records, Result, Rngs, Settings

Words = NDArray[np.generic]

SIZE = STATE.itemsize // STATE.alignment  # of a record, in words


@uncounted_body
def copy_state(search: FlatSearch, source: int, target: int) -> None:
    for k in range(SIZE):
        search.words[target, k] = search.words[source, k]


# ---- begin ----


@uncounted_loop
def begin_search(search: FlatSearch, root: Words, rngs: Rngs, work: Records) -> None:
    """Begin a search of the position root [SIZE]; its legal actions with the highest scores are candidates. A scorer
    sees a determinization too: it cannot read what is hidden."""
    for k in range(SIZE):
        search.words[ROOT, k] = root[k]
    progress = search.progress[0]
    progress["seed"] = next_bits(rngs)
    draw_determinization(search, 0)
    count = legal(search.states[ROOT], search.actions, work[0])
    considered = min(count, len(search.candidates))
    for k in range(count):
        search.scores[k] = score(search.states[DETERMINIZED], search.actions[k])
    for rank in range(considered):
        best = rank
        for k in range(rank + 1, count):
            best = k if search.scores[k] > search.scores[best] else best
        candidate = search.candidates[rank]
        candidate["action"], candidate["prior"] = search.actions[best], search.scores[best]
        candidate["total"], candidate["visits"] = 0.0, 0
        search.actions[best], search.scores[best] = search.actions[rank], search.scores[rank]
    progress["count"], progress["considered"], progress["left"] = count, considered, considered
    progress["determinizations"], progress["simulations"] = 0, 0


@uncounted_body
def draw_determinization(search: FlatSearch, number: int) -> None:
    """Draw the determinization of that number from what the seat to act may know; the generator follows it."""
    copy_state(search, ROOT, DETERMINIZED)
    search.rng[0] = mix(search.progress[0]["seed"] + np.uint64(number) * STEP)
    determinize(search.states[DETERMINIZED], seat(search.states[ROOT]), search.rng)


# ---- simulate ----


@uncounted_loop
def play_determinizations(search: FlatSearch, simulations: int, settings: Settings, work: Records) -> None:
    """Play the candidates that are left in new determinizations, until there were so many simulations in all."""
    progress, rng, side = search.progress[0], search.rng, search.states[ROOT]["to_move"]
    while progress["simulations"] < simulations:
        draw_determinization(search, progress["determinizations"])
        after = rng[0]  # all candidates meet the same chances
        for rank in range(progress["left"]):
            candidate, rng[0] = search.candidates[rank], after
            candidate["total"] += play_out(search, candidate["action"], side, settings, work[0])
            candidate["visits"] += 1
        progress["determinizations"] += 1
        progress["simulations"] += progress["left"]


@uncounted_body
def play_out(search: FlatSearch, action: int, side: int, settings: Settings, work: State) -> float:
    """The result for `side` of an action in the current determinization: the rollout agent plays on, to the end or for
    `rollout_plies`, after which `evaluate` decides."""
    copy_state(search, DETERMINIZED, ROLLOUT)
    state, rng, left, chosen = search.states[ROLLOUT], search.rng, settings.rollout_plies, int32(action)
    while True:
        play(state, chosen, rng, work)
        if state["outcome"] != RUNNING or left == 0:
            break
        if settings.leaf == SCRIPTED:
            chosen = int32(choose(state, rng, work))
        else:
            chosen = search.actions[below(rng, legal(state, search.actions, work))]
        left -= 1
    if state["outcome"] != RUNNING:
        return value_for(state["outcome"], side)
    value = np.float64(evaluate(state))
    return value if state["to_move"] == side else -value


@uncounted_loop
def halve(search: FlatSearch) -> None:
    """Sort the candidates that are left by their mean result and keep the better half, but at least two."""
    progress = search.progress[0]
    sort_candidates(search)
    progress["left"] = min(progress["left"], max(2, (progress["left"] + 1) // 2))


@uncounted_body
def sort_candidates(search: FlatSearch) -> None:
    """The best of those that are left first."""
    for k in range(1, search.progress[0]["left"]):
        place = k
        while place > 0 and is_better(search, place, place - 1):
            swap(search, place)
            place -= 1


@uncounted_body
def is_better(search: FlatSearch, rank: int, other: int) -> bool:
    """By the mean result; of equal ones by the prior, then by the number of the action."""
    one, two = search.candidates[rank], search.candidates[other]
    difference = mean_of(search, rank) - mean_of(search, other)
    if difference != 0.0:
        return difference > 0.0
    return one["prior"] > two["prior"] or (one["prior"] == two["prior"] and one["action"] < two["action"])


@uncounted_body
def mean_of(search: FlatSearch, rank: int) -> float:
    candidate = search.candidates[rank]
    return candidate["total"] / max(1, candidate["visits"])


@uncounted_body
def swap(search: FlatSearch, rank: int) -> None:
    """Exchange a candidate with the one before it."""
    one, other = search.candidates[rank - 1], search.candidates[rank]
    one["total"], other["total"] = other["total"], one["total"]
    one["prior"], other["prior"] = other["prior"], one["prior"]
    one["action"], other["action"] = other["action"], one["action"]
    one["visits"], other["visits"] = other["visits"], one["visits"]


# ---- the result ----


@uncounted_loop
def finish_search(search: FlatSearch, row: int, result: Result, work: Records) -> None:
    """Write what was found so far into a row of the result; the search may go on."""
    progress = search.progress[0]
    sort_candidates(search)
    count = legal(search.states[ROOT], search.actions, work[0])
    for k in range(result.actions.shape[1]):
        result.actions[row, k] = search.actions[k] if k < count else -1
        result.visits[row, k], result.priors[row, k], result.action_values[row, k] = 0, 0.0, 0.0
        result.action_proven[row, k], result.distances[row, k], result.policy[row, k] = OPEN, 0, 0.0
    for rank in range(progress["considered"]):
        candidate, k = search.candidates[rank], 0
        while search.actions[k] != candidate["action"]:
            k += 1
        result.visits[row, k], result.action_values[row, k] = candidate["visits"], mean_of(search, rank)
        result.priors[row, k] = 1.0 / progress["considered"]
        result.policy[row, k] = candidate["visits"] / max(1, progress["simulations"])
    result.chosen[row], result.values[row] = search.candidates[0]["action"], mean_of(search, 0)
    result.proven[row], result.simulations[row] = OPEN, progress["simulations"]
