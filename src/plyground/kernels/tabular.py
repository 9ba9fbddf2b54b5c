"""Template: Q-learning and SARSA with a table, many games at once.

A value belongs to a key: what a table knows of a state, and of what an action does there. The value of an action is
corrected when its player acts next, for only then is known where it led; or when the game ends, by the result.

What an action does is its *effect*; what it takes besides (a card) is its *draw*. Actions that differ only in their
draw share an effect, hence a key and a value. Most games have no draws: there an effect is the action itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import below, uniform
from plyground.kernels.slots import action_key, draw_of, draw_reward, effect_of, legal, play, seat, state_key
from plyground.kernels.table import (
    ANY_STATE,
    FREE,
    NOTHING,
    Doubles,
    Entries,
    Ints,
    Pending,
    Rule,
    Scratch,
    Words,
    correct,
    find,
    place_of,
)

Records = NDArray[np.void]
Rngs = NDArray[np.uint64]


@njit
def value_of(entries: Entries, key: Words) -> float:
    """What is stored for a key, or 0."""
    entry = find(entries, key)
    return 0.0 if entry == FREE else float(entries.values[entry])


@njit
def estimate(entries: Entries, rule: Rule, key: Words, anywhere: Words, state_value: float) -> float:
    """What an action is worth, as far as the table knows: a mean of its own value and of a guess from others."""
    entry, visits, value, guess = find(entries, key), 0.0, 0.0, 0.0
    if entry != FREE:
        visits, value = float(entries.visits[entry]), float(entries.values[entry])
    if rule.prior > 0.0:
        guess = state_value + value_of(entries, anywhere)
    return (visits * value + rule.prior * guess) / (visits + rule.prior) if visits + rule.prior > 0.0 else 0.0


@njit
def consider(
    state: State, record: NDArray[np.uint8], entries: Entries, rule: Rule, rng: Rngs, work: State, scratch: Scratch
) -> tuple[int, float]:
    """The action that looks best in a state, or with chance epsilon any; and the highest value of all."""
    count, key, word = legal(state, scratch.actions, work), scratch.key, len(scratch.key) - 1
    scratch.looks[0] += 1
    state_key(state, seat(state), record, key, scratch.notes)
    anywhere = scratch.anywhere
    key[word] = NOTHING
    state_value = value_of(entries, key) if rule.prior > 0.0 else 0.0
    best, chosen, ties, highest = -np.inf, -1, 0, -np.inf
    for k in range(count):
        action = scratch.actions[k]
        effect, draw = effect_of(action), draw_of(action)
        if scratch.seen[0, effect] != scratch.looks[0]:
            scratch.seen[0, effect] = scratch.looks[0]
            scratch.rewards[0, effect], scratch.words[effect] = action_key(state, effect, scratch.notes)
            key[word] = anywhere[word] = scratch.words[effect]
            scratch.values[effect] = state_value
            if key[word] != NOTHING:
                scratch.values[effect] = estimate(entries, rule, key, anywhere, state_value)
            highest = max(highest, scratch.values[effect])
        score = scratch.rewards[0, effect]
        if draw >= 0:
            if scratch.seen[1, draw] != scratch.looks[0]:
                scratch.seen[1, draw] = scratch.looks[0]
                scratch.rewards[1, draw] = draw_reward(state, draw)
            score += rule.draw_weight * scratch.rewards[1, draw]
        score = rule.score_weight * score + rule.value_weight * scratch.values[effect]
        if score > best:
            best, ties = score, 0
        if score == best:
            ties += 1
            chosen = action if below(rng, ties) == 0 else chosen
    if rule.epsilon > 0.0 and uniform(rng) < rule.epsilon:
        chosen = scratch.actions[below(rng, count)]
    return chosen, highest


@njit(cache=True, nogil=True)
def act_all(
    states: Records,  # [N]
    records: NDArray[np.uint8],  # [N, bytes] the same as bytes
    rows: NDArray[np.int64],  # [R] the games to act in
    rngs: Rngs,  # [N]
    entries: Entries,  # with room for 3 R more
    rule: Rule,
    learns: bool,  # otherwise nothing but the actions is written
    pending: Pending,
    actions: Ints,  # [N] out
    played: NDArray[np.int64],  # [NUM_ACTIONS] how often each effect was chosen
    sums: Doubles,  # [3] corrections, how far values were from their targets, targets
    work: Records,
    scratch: Scratch,
) -> None:
    """In each of these games choose an action, and correct the value of the one before it.

    One kernel for those who learn and those who only play: compiling it takes long enough.
    """
    for k in range(len(rows)):
        row = int(rows[k])
        state, rng = states[row], rngs[row : row + 1]
        who = seat(state)
        action, highest = consider(state, records[row], entries, rule, rng, work[0], scratch)
        actions[row] = action
        if not learns:
            continue
        effect = effect_of(action)
        if pending.waiting[row, who]:
            behind = scratch.values[effect] if rule.sarsa else highest
            judge(entries, rule, pending, row, who, pending.gammas[row, who] * behind, sums)
        scratch.key[len(scratch.key) - 1] = scratch.words[effect]
        pending.keys[row, who, :] = scratch.key
        pending.rewards[row, who] = rule.reward_weight * scratch.rewards[0, effect]
        pending.waiting[row, who] = True
        ahead = scratch.ahead[0]
        scratch.ahead[0], scratch.rng[0] = state, rng[0]
        play(ahead, action, scratch.rng, work[0])
        pending.gammas[row, who] = 1.0 if seat(ahead) == who else rule.gamma
        played[effect] += 1


@njit
def judge(entries: Entries, rule: Rule, pending: Pending, row: int, who: int, behind: float, sums: Doubles) -> None:
    """Correct the value of a seat's last action by its reward and what lies behind it."""
    pending.waiting[row, who] = False
    key, word = pending.keys[row, who], pending.keys.shape[2] - 1
    described = key[word]
    if described == NOTHING:
        return
    target = min(max(pending.rewards[row, who] + behind, -rule.limit), rule.limit)
    sums[0] += 1.0
    sums[1] += abs(correct(entries, key, target, rule.alpha))
    sums[2] += target
    if rule.prior > 0.0:
        key[word] = NOTHING
        surprise = correct(entries, key, target, rule.alpha)
        key[:word], key[word] = ANY_STATE, described
        correct(entries, key, surprise, rule.alpha)


@njit(cache=True, nogil=True)
def end_games(
    rows: NDArray[np.int64],  # [R] games that are over
    outcomes: NDArray[np.int8],  # [R] how they ended; RUNNING: they were stopped
    entries: Entries,  # with room for 3 R SEATS more
    rule: Rule,
    pending: Pending,
    sums: Doubles,
) -> None:
    """Judge the last actions by the result. A game that was stopped says nothing about them."""
    for k in range(len(rows)):
        row = int(rows[k])
        for who in range(pending.waiting.shape[1]):
            if pending.waiting[row, who] and outcomes[k] != RUNNING:
                judge(entries, rule, pending, row, who, value_for(outcomes[k], who % 2), sums)
            pending.waiting[row, who] = False


@njit(cache=True, nogil=True)
def fill_places(entries: Entries) -> None:
    """Say in empty places where all entries stand."""
    for entry in range(entries.size[0]):
        entries.places[place_of(entries, entries.keys[entry])] = entry


@njit(cache=True, nogil=True)
def find_all(entries: Entries, keys: Words, found: NDArray[np.int64]) -> None:
    """[N] the entries of keys [N, W]; FREE where there is none."""
    for k in range(len(keys)):
        found[k] = find(entries, keys[k])
