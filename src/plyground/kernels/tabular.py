"""Template: Q-learning, SARSA and Monte Carlo returns with a table, many games at once.

A value belongs to a key, which a game's table key computes from a state and from what an action does there. An action's
value is updated at its player's next turn, where the bootstrap value is known, or at the end of the game by the result;
with Monte Carlo returns all values are updated then.

What an action does is its *effect*; what it takes besides (a card) is its *draw*. Actions that differ only in their
draw share an effect, hence a key and a value. Most games have no draws: there an effect is the action itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import below, uniform
from plyground.kernels.arrays import int32
from plyground.kernels.no_refcounts import inner, uncounted_loop
from plyground.kernels.slots import action_key, draw_of, draw_reward, effect_of, legal, play, seat, state_key
from plyground.kernels.table import (
    ANY_STATE,
    FREE,
    NOTHING,
    Acting,
    Entries,
    Pending,
    Rule,
    Scratch,
    Updates,
    Words,
    find,
    place_of,
    update,
)


@inner
def value_of(entries: Entries, key: Words) -> float:
    """The value stored for a key, or 0."""
    entry = find(entries, key)
    return 0.0 if entry == FREE else float(entries.values[entry])


@inner
def action_value(entries: Entries, rule: Rule, key: Words, anywhere: Words, state_value: float) -> float:
    """An action's value: the mean of its own entry and of a guess, weighted by visits and `prior`."""
    entry, visits, value, guess = find(entries, key), 0.0, 0.0, 0.0
    if entry != FREE:
        visits, value = float(entries.visits[entry]), float(entries.values[entry])
    if rule.prior > 0.0:
        guess = state_value + value_of(entries, anywhere)
    return (visits * value + rule.prior * guess) / (visits + rule.prior) if visits + rule.prior > 0.0 else 0.0


@inner
def reward_of(score: float, rule: Rule) -> float:
    """A score as a reward. The logarithm keeps the order of scores."""
    return np.log1p(score) / rule.full if rule.full > 0.0 else score


@inner
def choose(
    state: State, record: NDArray[np.uint8], entries: Entries, rule: Rule, rng: Words, scratch: Scratch
) -> tuple[int, float]:
    """The epsilon-greedy action of a state, and the highest value of all its actions."""
    count, key, word = legal(state, scratch.actions, scratch.work[0]), scratch.key, len(scratch.key) - 1
    scratch.stamp[0] += 1
    state_key(state, seat(state), record, key, scratch.notes)
    anywhere = scratch.anywhere
    key[word] = NOTHING
    state_value = value_of(entries, key) if rule.prior > 0.0 else 0.0
    best, chosen, ties, highest = -np.inf, -1, 0, -np.inf
    for k in range(count):
        action = scratch.actions[k]
        effect, draw = effect_of(action), draw_of(action)
        if scratch.seen[0, effect] != scratch.stamp[0]:
            scratch.seen[0, effect] = scratch.stamp[0]
            done, scratch.words[effect] = action_key(state, effect, scratch.notes)
            scratch.rewards[0, effect] = reward_of(done, rule)
            key[word] = anywhere[word] = scratch.words[effect]
            scratch.values[effect] = state_value
            if key[word] != NOTHING:
                scratch.values[effect] = action_value(entries, rule, key, anywhere, state_value)
            highest = max(highest, scratch.values[effect])
        score = scratch.rewards[0, effect]
        if draw >= 0:
            if scratch.seen[1, draw] != scratch.stamp[0]:
                scratch.seen[1, draw] = scratch.stamp[0]
                scratch.rewards[1, draw] = reward_of(draw_reward(state, draw), rule)
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


@uncounted_loop
def act_all(games: Acting, entries: Entries, rule: Rule, learns: bool, updates: Updates, scratch: Scratch) -> None:
    """Choose an action in each of the games; if `learns`, also update the value of the seat's action before it.

    `entries` has room for 3 R more. Without `learns` only actions and values are written: one kernel serves agents and
    learners, since it takes seconds to compile.
    """
    rows, states, records, rngs, actions = games.rows, games.states, games.records, games.rngs, games.actions
    for k in range(len(rows)):
        row = int(rows[k])
        state, rng = states[row], rngs[row : row + 1]
        action, highest = choose(state, records[row], entries, rule, rng, scratch)
        actions[row], games.values[row] = action, highest
        if learns:
            who, pending = seat(state), updates.pending
            if pending.waiting[row, who, 0] and pending.waiting.shape[2] == 1:
                next_value = scratch.values[effect_of(action)] if rule.sarsa else highest
                td_update(entries, rule, updates, row, who, 0, pending.discounts[row, who, 0] * next_value)
            remember(state, action, rng, rule, updates, row, scratch)


@inner
def remember(state: State, action: int, rng: Words, rule: Rule, updates: Updates, row: int, scratch: Scratch) -> None:
    """Make an action a pending one of the seat to move; `scratch` is as `choose` left it."""
    who, effect, pending = seat(state), effect_of(action), updates.pending
    place = room_in(pending, row, who)
    scratch.key[len(scratch.key) - 1] = scratch.words[effect]
    for k in range(len(scratch.key)):
        pending.keys[row, who, place, k] = scratch.key[k]
    pending.rewards[row, who, place] = rule.reward_weight * scratch.rewards[0, effect]
    pending.waiting[row, who, place] = True
    scratch.ahead[0], scratch.rng[0] = state, rng[0]
    play(scratch.ahead[0], int32(action), scratch.rng, scratch.work[0])
    pending.discounts[row, who, place] = 1.0 if seat(scratch.ahead[0]) == who else rule.gamma
    updates.played[effect] += 1


@inner
def room_in(pending: Pending, row: int, who: int) -> int:
    """The place of a seat's next pending action; where all are taken, the oldest is forgotten."""
    turns, place = pending.waiting.shape[2], 0
    while place < turns and pending.waiting[row, who, place]:
        place += 1
    if place == turns:
        place -= 1
        for turn in range(place):
            pending.rewards[row, who, turn] = pending.rewards[row, who, turn + 1]
            pending.discounts[row, who, turn] = pending.discounts[row, who, turn + 1]
            for k in range(pending.keys.shape[3]):
                pending.keys[row, who, turn, k] = pending.keys[row, who, turn + 1, k]
    return place


@inner
def td_update(entries: Entries, rule: Rule, updates: Updates, row: int, who: int, turn: int, bootstrap: float) -> None:
    """Update the value of a seat's pending action; the target is its reward plus `bootstrap`."""
    pending, sums = updates.pending, updates.sums
    pending.waiting[row, who, turn] = False
    key, word = pending.keys[row, who, turn], pending.keys.shape[3] - 1
    described = key[word]
    if described == NOTHING:
        return
    target = min(max(pending.rewards[row, who, turn] + bootstrap, -rule.limit), rule.limit)
    sums[0] += 1.0
    sums[1] += abs(update(entries, key, target, rule.learning_rate, rule.averages))
    sums[2] += target
    if rule.prior > 0.0:
        key[word] = NOTHING
        advantage = update(entries, key, target, rule.learning_rate, rule.averages)
        key[:word], key[word] = ANY_STATE, described
        update(entries, key, advantage, rule.learning_rate, rule.averages)


@uncounted_loop
def end_games(
    rows: NDArray[np.int64],  # [R] games that are over
    outcomes: NDArray[np.int8],  # [R] their outcomes; RUNNING: they were stopped
    entries: Entries,  # with room for three more for each action that waits in them
    rule: Rule,
    updates: Updates,
) -> None:
    """Update the values of the pending actions, the last one by the result and those before it by their returns; a game
    that was stopped has no result."""
    rewards, discounts, waiting = updates.pending.rewards, updates.pending.discounts, updates.pending.waiting
    for k in range(len(rows)):
        row = int(rows[k])
        for who in range(waiting.shape[1]):
            follows = 0.0 if outcomes[k] == RUNNING else float(value_for(outcomes[k], who % 2))
            for turn in range(waiting.shape[2] - 1, -1, -1):
                if waiting[row, who, turn] and outcomes[k] != RUNNING:
                    td_update(entries, rule, updates, row, who, turn, follows)
                    if turn > 0:
                        follows = discounts[row, who, turn - 1] * (rewards[row, who, turn] + follows)
                waiting[row, who, turn] = False


@uncounted_loop
def fill_places(entries: Entries) -> None:
    """Enter all entries into `places`, which are FREE."""
    for entry in range(entries.size[0]):
        entries.places[place_of(entries, entries.keys[entry])] = entry


@uncounted_loop
def find_all(entries: Entries, keys: Words, found: NDArray[np.int64]) -> None:
    """[N] the entries of keys [N, W]; FREE where there is none."""
    for k in range(len(keys)):
        found[k] = find(entries, keys[k])
