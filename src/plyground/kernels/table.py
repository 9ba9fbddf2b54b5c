"""A table of values: exact keys, found by their hash, and what is known of each.

Entries stand in the order in which they came. `places` says where, by open addressing: a key's hash names the place to
look at first, then the next ones until one is free. A key is compared in full, so two keys with the same hash are two
entries. Room is made outside (`tables.py`): whoever adds entries has looked that they fit.
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
NOTES = 200  # room for what a key notes about a state
NOTHING = np.uint64(0)  # as an action's word: the entry is the value of the state, whatever is played
ANY_STATE = np.uint64(0xFFFFFFFFFFFFFFFF)  # as a state's words: the advantage of an action, wherever it is played
SEED = np.uint64(0x9E3779B97F4A7C15)


class Entries(NamedTuple):
    """The arrays of a table. `values` and `visits` may be shorter than `keys`: a key beyond them is unknown."""

    keys: Words  # [room, W]
    values: NDArray[np.float32]  # [room]
    visits: NDArray[np.uint32]  # [room] how often each value was corrected
    places: NDArray[np.int32]  # [a power of two, larger than room] an entry's number, or FREE
    size: NDArray[np.int64]  # [1] how many entries there are


class Rule(NamedTuple):
    """How actions are chosen and values corrected."""

    sarsa: bool  # follow the action that is played next, not the best one
    alpha: float
    gamma: float  # for each time that the others have moved in between
    epsilon: float  # chance of a random action
    score_weight: float  # of what an action does at once, in a choice
    value_weight: float  # of its value
    draw_weight: float  # of what it draws, beside what it does
    reward_weight: float  # of what an action does at once, in its value
    prior: (
        float  # visits for which a guess counts beside an entry's own value: the state's value, the action's advantage
    )
    limit: float  # a target is never further from 0


class Pending(NamedTuple):
    """The last action of each seat, which is still to be judged."""

    keys: Words  # [games, seats, W]
    rewards: Doubles  # [games, seats]
    gammas: Doubles  # [games, seats] what the value behind it counts: gamma, or 1 where the same turn went on
    waiting: NDArray[np.bool_]  # [games, seats] whether there is one


class Scratch(NamedTuple):
    """Working memory for one state. The numbers of an effect or a draw hold where `seen` says so."""

    actions: Ints  # [MAX_LEGAL]
    looks: NDArray[np.int64]  # [1] states looked at
    seen: NDArray[np.int64]  # [2, NUM_ACTIONS] the last look at an effect, at a draw
    rewards: Doubles  # [2, NUM_ACTIONS] of effects, of draws
    words: Words  # [NUM_ACTIONS] the last word of an effect's key
    values: Doubles  # [NUM_ACTIONS] of effects
    key: Words  # [W] what is known of the state, then room for an action's word
    anywhere: Words  # [W] ANY_STATE in place of the state
    notes: NDArray[np.float32]  # [NOTES] what `state_key` leaves for `action_key`
    ahead: NDArray[np.void]  # [1] a state one action later
    rng: Words  # [1] chance that nobody else notices


@njit
def hashed(key: Words) -> np.uint64:
    """64 bits of a key [W]."""
    found = SEED
    for k in range(len(key)):
        found = mix(found ^ key[k])
    return found


@njit
def place_of(entries: Entries, key: Words) -> np.int64:
    """Where among the places a key stands or, if it is new, would stand."""
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
    """The number of a key's entry; FREE where nothing is known of it."""
    entry = np.int64(entries.places[place_of(entries, key)])
    return entry if entry < len(entries.values) else np.int64(FREE)


@njit
def find_or_add(entries: Entries, key: Words) -> np.int64:
    """The number of a key's entry, which is made if there is none."""
    place = place_of(entries, key)
    if entries.places[place] == FREE:
        entry = entries.size[0]
        entries.places[place] = entry
        entries.keys[entry, :] = key
        entries.values[entry], entries.visits[entry] = 0.0, 0
        entries.size[0] += 1
    return np.int64(entries.places[place])


@njit
def correct(entries: Entries, key: Words, target: float, alpha: float) -> float:
    """Move a key's value towards a target; returns how far away it was.

    The first visits are averaged, so that a new value begins at its first target; later ones count `alpha`.
    """
    entry = find_or_add(entries, key)
    entries.visits[entry] += np.uint32(1)
    error = target - np.float64(entries.values[entry])
    entries.values[entry] += max(alpha, 1.0 / entries.visits[entry]) * error
    return error
