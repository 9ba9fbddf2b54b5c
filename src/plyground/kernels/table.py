"""A hash table from keys to action values, and the arrays that tabular learning works on.

Entries are stored in the order in which they were added. `places` finds them by open addressing with linear probing: a
key's hash is the first place to try. Keys are compared in full, so two keys with the same hash are two entries. Nothing
grows here: `tables.py` reserves room before entries are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.rng import mix

Words = NDArray[np.uint64]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
FREE = -1  # in `places`
NOTES = 200  # room for what `state_key` writes for `action_key`
NOTHING = np.uint64(0)  # as an action's word: the entry is the value of the state, for any action
ANY_STATE = np.uint64(0xFFFFFFFFFFFFFFFF)  # as a state's words: the advantage of an action in any state
MOST_VISITS = np.uint32(2**32 - 1)  # they are counted no further
SEED = np.uint64(0x9E3779B97F4A7C15)
TURNS = 256  # of one seat in one game that Monte Carlo returns reach back to


class Entries(NamedTuple):
    """The arrays of a table. `values` and `visits` may be shorter than `keys`: a key beyond them is unknown."""

    keys: Words  # [room, W]
    values: NDArray[np.float32]  # [room]
    visits: NDArray[np.uint32]  # [room] number of updates of each value
    places: NDArray[np.int32]  # [a power of two, larger than room] an entry's number, or FREE
    size: NDArray[np.int64]  # [1] number of entries


class Rule(NamedTuple):
    """Parameters of the choice of actions and of the updates."""

    sarsa: bool  # bootstrap from the action that is played next, not from the best one
    learning_rate: float
    averages: bool  # the first targets of an entry are averaged: its rate is at least 1 / visits
    gamma: float  # applied when other seats have moved in between
    epsilon: float  # probability of a random action
    score_weight: float  # of an action's reward, in the choice
    value_weight: float  # of its value, in the choice
    draw_weight: float  # of its draw's reward beside its own, in the choice
    reward_weight: float  # of an action's reward, in the TD target
    prior: float  # visits for which the guess (state value + action's advantage) counts beside an entry's own value
    full: float  # rewards are log(1 + score) / full; 0: they are the scores
    limit: float  # TD targets are clipped to [-limit, limit]


class Acting(NamedTuple):
    """The games in which actions are chosen."""

    states: NDArray[np.void]  # [N]
    records: NDArray[np.uint8]  # [N, bytes] the heads of the states as bytes
    rows: NDArray[np.int64]  # [R] the games to act in
    rngs: Words  # [N]
    actions: Ints  # [N] out: the chosen actions, in `rows`
    values: Doubles  # [N] out: the highest value of any action there


class Pending(NamedTuple):
    """Actions of each seat whose values are not updated yet, the oldest first. With room for one (T is 1) that happens
    at the seat's next turn, by the value that it has then; with more at the end of the game, by Monte Carlo returns."""

    keys: Words  # [games, seats, T, W]
    rewards: Doubles  # [games, seats, T]
    discounts: Doubles  # [games, seats, T] of what follows: gamma, or 1 where the same turn goes on
    waiting: NDArray[np.bool_]  # [games, seats, T] whether there is one


class Updates(NamedTuple):
    """What learning writes beside the entries."""

    pending: Pending
    played: NDArray[np.int64]  # [NUM_ACTIONS] how often each effect was chosen
    sums: Doubles  # [3] number of updates, sum of absolute TD errors, sum of TD targets


class Scratch(NamedTuple):
    """Working memory for one state. The numbers of an effect or a draw are valid where `seen` equals `stamp`."""

    actions: Ints  # [MAX_LEGAL]
    stamp: NDArray[np.int64]  # [1] number of states seen so far
    seen: NDArray[np.int64]  # [2, NUM_ACTIONS] the last look at an effect, at a draw
    rewards: Doubles  # [2, NUM_ACTIONS] of effects, of draws
    words: Words  # [NUM_ACTIONS] the last word of an effect's key
    values: Doubles  # [NUM_ACTIONS] of effects
    key: Words  # [W] of the state, then room for an action's word
    anywhere: Words  # [W] ANY_STATE in place of the state
    notes: NDArray[np.float32]  # [NOTES] what `state_key` writes for `action_key`
    ahead: NDArray[np.void]  # [1] a state one action later
    rng: Words  # [1] a copy of the game's generator, for playing ahead
    work: NDArray[np.void]  # [1] the game's working memory


@njit
def hashed(key: Words) -> np.uint64:
    """64 bits of a key [W]."""
    found = SEED
    for k in range(len(key)):
        found = mix(found ^ key[k])
    return found


@njit
def place_of(entries: Entries, key: Words) -> np.int64:
    """The index into `places` at which a key is or, if it is new, would be."""
    keys, places = entries.keys, entries.places
    last = len(places) - 1
    place = np.int64(hashed(key) & np.uint64(last))
    while places[place] != FREE:
        entry, k = places[place], 0
        while k < len(key) and keys[entry, k] == key[k]:
            k += 1
        if k == len(key):
            break
        place = (place + 1) & last
    return place


@njit
def find(entries: Entries, key: Words) -> np.int64:
    """The number of a key's entry; FREE if it has none."""
    entry = np.int64(entries.places[place_of(entries, key)])
    return entry if entry < len(entries.values) else np.int64(FREE)


@njit
def find_or_add(entries: Entries, key: Words) -> np.int64:
    """The number of a key's entry; a new one has value 0 and no visits."""
    place = place_of(entries, key)
    if entries.places[place] == FREE:
        entry = entries.size[0]
        entries.places[place] = entry
        for k in range(len(key)):
            entries.keys[entry, k] = key[k]
        entries.values[entry], entries.visits[entry] = 0.0, 0
        entries.size[0] += 1
    return np.int64(entries.places[place])


@njit
def update(entries: Entries, key: Words, target: float, learning_rate: float, averages: bool) -> float:
    """Move a key's value towards a target by a share of the error, which is returned.

    If it `averages`, the share is at least 1 / visits: a new value begins at its first target, not at 0.
    """
    entry = find_or_add(entries, key)
    if entries.visits[entry] < MOST_VISITS:
        entries.visits[entry] += np.uint32(1)
    error = target - np.float64(entries.values[entry])
    rate = max(learning_rate, 1.0 / entries.visits[entry]) if averages else learning_rate
    entries.values[entry] += rate * error
    return error
