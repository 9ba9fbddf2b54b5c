"""Template: a game's scalar functions over batches, on the CPU. One row never reads or writes another.

A function `…_row` is the body for one row; `cuda_rules.py` calls the same bodies. Every loop releases the interpreter's
lock and uses one thread; a caller with several threads gives each a slice of the arrays (`threads.py`). Loops begin at
row 0: with another first row the compiler cannot prove that indices are not negative, and `step_all` is 1.2 times
slower. `work` is one record of the game's working memory; `rngs[i]` is the generator of row i; `fresh` [1, SIZE] are
the words of a record as `reset` leaves it or, where `reset` draws from the generator, as `reset` receives it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import Rng, below, next_bits
from plyground.kernels.arrays import Games, Step
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.kernels.slots import (
    CHANCE,
    HIDDEN,
    MAX_LEGAL,
    STATE,
    count_legal,
    determinize,
    legal,
    play,
    play_head,
    reset,
    seat,
    settle,
    transform,
)

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Records = NDArray[np.void]  # [N] of the game's STATE; `blank` and `work` have one row
Rngs = NDArray[np.uint64]  # [N]
Words = NDArray[np.generic]  # [1, SIZE]

SIZE = STATE.itemsize // STATE.alignment  # of a record, in words
OPENING_TRIES = 100


# ---- bodies for one row, the same on every device ----


@uncounted_body
def begin_row(i: int, games: Games, fresh: Words) -> None:
    """Begin a new game in row i."""
    for k in range(SIZE):
        games.words[i, k] = fresh[0, k]
    if CHANCE:
        reset(games.states[i], games.rngs[i : i + 1])


@uncounted_body
def step_row(i: int, games: Games, actions: Ints, step: Step, max_plies: int, fresh: Words, work: State) -> None:
    """Play one action and begin a new game if that ended one. The reward is for the side that acted."""
    state = games.states[i]
    side = state["to_move"]
    play(state, actions[i], games.rngs[i : i + 1], work)
    played = games.plies[i] + 1
    for k in range(games.next_heads.shape[1]):
        games.next_heads[i, k] = games.heads[i, k]
    terminated = state["outcome"] != RUNNING
    truncated = not terminated and played >= max_plies
    step.rewards[i] = value_for(state["outcome"], side)
    step.terminated[i] = terminated
    step.truncated[i] = truncated
    if terminated or truncated:
        played = 0
        begin_row(i, games, fresh)
    games.plies[i] = played


@uncounted_body
def open_row(i: int, games: Games, opening_plies: int, fresh: Words, work: State, actions: Ints) -> None:
    """Begin a new game after random plies; after OPENING_TRIES - 1 openings that ended the game, at the start."""
    state, rng = games.states[i], games.rngs[i : i + 1]
    attempt = 0
    while attempt < OPENING_TRIES:
        begin_row(i, games, fresh)
        left = opening_plies if attempt < OPENING_TRIES - 1 else 0
        while left > 0 and state["outcome"] == RUNNING:
            count = legal(state, actions, work)
            play(state, actions[below(rng, count)], rng, work)
            left -= 1
        attempt = OPENING_TRIES if state["outcome"] == RUNNING else attempt + 1
    games.plies[i] = 0


@uncounted_body
def draw_action(rng: Rng, actions: Ints, count: int) -> np.int32:
    """One of the first `count` actions, all equally likely; -1 if there is none."""
    return actions[below(rng, count)] if count else np.int32(-1)


@uncounted_body
def children_row(
    i: int, states: Records, words: Words, rngs: Rngs, actions: Ints, children: Records, child_words: Words, work: State
) -> None:
    """Fill the first of `children` [N, K] in row i with the states after its `actions` [N, K], up to the first -1.

    What the seat to act cannot see is drawn anew, once for all of them, and all meet the same chances: both come from
    row i's generator, which this takes one number from.
    """
    count, rng = 0, rngs[i : i + 1]
    while count < actions.shape[1] and actions[i, count] >= 0:
        count += 1
    if count == 0:
        return
    for k in range(SIZE):
        child_words[i, 0, k] = words[i, k]
    after = luck = rng[0]
    if CHANCE or HIDDEN:
        seed = next_bits(rng)
        after, rng[0] = rng[0], seed
        determinize(children[i, 0], seat(states[i]), rng)
        luck = rng[0]
    for c in range(count - 1, -1, -1):  # the first last: the others are copies of it
        for k in range(SIZE):
            child_words[i, c, k] = child_words[i, 0, k]
        rng[0] = luck
        play(children[i, c], actions[i, c], rng, work)
    rng[0] = after


@njit
def is_legal(action: int, actions: Ints, count: int) -> bool:
    """Whether an action is among the first `count` of `actions`, which ascend."""
    k = 0
    while k < count and actions[k] < action:
        k += 1
    return k < count and actions[k] == action


@uncounted_body
def perft_row(
    depth: int,
    stack: Records,
    lists: Ints,
    place: Longs,  # [depth]: which action of each level is played next
    size: Longs,  # [depth]: how many actions each level has
    rng: Rng,
    work: State,
) -> int:
    """The leaves below the first state of `stack`."""
    if depth == 1:
        return count_legal(stack[0], lists[0], work)
    level, leaves = 0, 0
    size[0], place[0] = legal(stack[0], lists[0], work), 0
    while level >= 0:
        if place[level] == size[level]:
            level -= 1
            continue
        child = stack[level + 1]
        stack[level + 1] = stack[level]
        play_head(child, lists[level, place[level]], rng, work)
        place[level] += 1
        if level + 2 == depth:
            leaves += count_legal(child, lists[level + 1], work)
        else:
            level += 1
            size[level], place[level] = legal(child, lists[level], work), 0
    return leaves


# ---- loops that a GPU has too ----


@uncounted_loop
def begin_all(games: Games, fresh: Words, work: Records) -> None:
    """Begin a new game in every row."""
    for i in range(len(games.states)):
        begin_row(i, games, fresh)


@uncounted_loop
def step_all(games: Games, actions: Ints, step: Step, max_plies: int, fresh: Words, work: Records) -> None:
    """Play one action in every row; see `step_row`."""
    for i in range(len(games.states)):
        step_row(i, games, actions, step, max_plies, fresh, work[0])


@njit(cache=True, nogil=True)
def open_games(games: Games, begins: Bools, opening_plies: Ints, fresh: Words, work: Records) -> None:
    """Begin new games where `begins` [N] is set, after `opening_plies` [N] random plies; see `open_row`."""
    actions = np.empty(MAX_LEGAL, np.int32)
    for i in range(len(games.states)):
        if begins[i]:
            open_row(i, games, opening_plies[i], fresh, work[0], actions)


@uncounted_loop
def play_children(
    states: Records,
    words: Words,  # [N, SIZE] the same as unsigned integers of STATE's alignment
    rngs: Rngs,
    actions: Ints,  # [N, K]
    children: Records,  # [N, K]
    child_words: Words,  # [N, K, SIZE] the same
    work: Records,
) -> None:
    """The states after several actions of each row; see `children_row`."""
    for i in range(len(states)):
        children_row(i, states, words, rngs, actions, children, child_words, work[0])


@njit(cache=True, nogil=True)
def mask_outputs(states: Records, masks: Bools, outputs: Ints, work: Records) -> None:
    """masks [N, outputs], all false before: which outputs of a network stand for legal actions.

    `outputs` [SEATS, A] has the output for each action as each seat sees it; those beyond the mask are left out.
    """
    actions = np.empty(MAX_LEGAL, np.int32)
    for i in range(len(states)):
        acting = seat(states[i])
        for k in range(legal(states[i], actions, work[0])):
            output = outputs[acting, actions[k]]
            if output < masks.shape[1]:
                masks[i, output] = True


@njit(cache=True, nogil=True)
def random_play(games: Games, count: int, ended: NDArray[np.int64], fresh: Words, work: Records) -> None:
    """Play `count` random actions in each row, game after game; `ended` [4] counts the outcomes."""
    actions = np.empty(MAX_LEGAL, np.int32)
    for i in range(len(games.states)):
        state, rng = games.states[i], games.rngs[i : i + 1]
        played = games.plies[i]
        for _ in range(count):
            choices = legal(state, actions, work[0])
            play(state, actions[below(rng, choices)], rng, work[0])
            played += 1
            if state["outcome"] != RUNNING:
                ended[state["outcome"]] += 1
                played = 0
                begin_row(i, games, fresh)
        games.plies[i] = played


# ---- loops of the CPU alone ----


@uncounted_loop
def reset_all(states: Records, blank: Records, rngs: Rngs) -> None:
    for i in range(len(states)):
        states[i] = blank[0]
        reset(states[i], rngs[i : i + 1])


@uncounted_loop
def play_all(states: Records, actions: Ints, rngs: Rngs, work: Records) -> None:
    for i in range(len(states)):
        play(states[i], actions[i], rngs[i : i + 1], work[0])


@uncounted_loop
def legal_lists(states: Records, actions: Ints, counts: Ints, work: Records) -> None:
    """Row i's legal actions are `actions[i, :counts[i]]`, ascending; the rest of the row is -1."""
    for i in range(len(states)):
        counts[i] = legal(states[i], actions[i], work[0])
        actions[i, counts[i] :] = -1


@uncounted_loop
def legal_masks(states: Records, masks: Bools, work: Records, scratch: Ints) -> None:
    for i in range(len(states)):
        masks[i, :] = False
        for k in range(legal(states[i], scratch, work[0])):
            masks[i, scratch[k]] = True


@uncounted_loop
def first_illegal(states: Records, actions: Ints, num_actions: int, work: Records, scratch: Ints) -> int:
    """The first row whose action is not legal, or -1."""
    for i in range(len(states)):
        if not is_legal(actions[i], scratch, legal(states[i], scratch, work[0])):
            return i
    return -1


@uncounted_loop
def random_actions(states: Records, rngs: Rngs, actions: Ints, work: Records, scratch: Ints) -> None:
    """One legal action for each row, all equally likely; -1 where the game is over."""
    for i in range(len(states)):
        actions[i] = draw_action(rngs[i : i + 1], scratch, legal(states[i], scratch, work[0]))


@uncounted_loop
def settle_all(states: Records) -> None:
    for i in range(len(states)):
        settle(states[i])


@uncounted_loop
def play_heads(heads: Records, actions: Ints, rngs: Rngs, work: Records) -> None:
    for i in range(len(heads)):
        play_head(heads[i], actions[i], rngs[i : i + 1], work[0])


@njit(cache=True, nogil=True)
def perft_all(
    heads: Records,
    depth: int,
    leaves: Longs,  # [N]
    stack: Records,  # [depth]: the states above the one being counted
    lists: Ints,  # [depth, MAX_LEGAL]
    rngs: Rngs,
    work: Records,
) -> None:
    """How many sequences of exactly `depth` actions each state has. The last level is counted, not played."""
    place, size = np.empty(depth, np.int64), np.empty(depth, np.int64)
    for i in range(len(heads)):
        stack[0] = heads[i]
        leaves[i] = perft_row(depth, stack, lists, place, size, rngs[i : i + 1], work[0])


@uncounted_loop
def seats_to_act(states: Records, seats: Ints) -> None:
    for i in range(len(states)):
        seats[i] = seat(states[i])


@uncounted_loop
def transform_all(states: Records, symmetries: Ints) -> None:
    for i in range(len(states)):
        transform(states[i], symmetries[i])


@uncounted_loop
def determinize_all(states: Records, seats: Ints, rngs: Rngs) -> None:
    for i in range(len(states)):
        determinize(states[i], seats[i], rngs[i : i + 1])
