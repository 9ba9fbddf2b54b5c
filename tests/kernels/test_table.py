"""The hash table of values, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from plyground.games.rng import mix
from plyground.kernels.table import SEED, Entries, find, hashed, update


def _empty(room: int, words: int, places: int) -> Entries:
    return Entries(
        np.zeros((room, words), np.uint64),
        np.zeros(room, np.float32),
        np.zeros(room, np.uint32),
        np.full(places, -1, np.int32),
        np.zeros(1, np.int64),
    )


@pytest.mark.parametrize("averages", [True, False])
def test_it_knows_what_a_dictionary_knows(averages: bool) -> None:
    """Crowded, so that most keys meet others on the way to their place."""
    rng, entries = np.random.default_rng(4), _empty(100, 2, 128)
    keys, twin = rng.integers(0, 5, (100, 2)).astype(np.uint64) * np.uint64(2**61), {}
    for _ in range(3000):
        key, target = keys[rng.integers(len(keys))], float(rng.normal())
        value, visits = twin.get(tuple(key), (0.0, 0))
        error = update(entries, key, target, 0.1, averages)
        assert error == pytest.approx(target - value, abs=1e-5)
        rate = max(0.1, 1 / (visits + 1)) if averages else 0.1
        twin[tuple(key)] = value + rate * (target - value), visits + 1
    assert entries.size[0] == len(twin)
    for key, (value, visits) in twin.items():
        entry = find(entries, np.array(key, np.uint64))
        assert entries.values[entry] == pytest.approx(value, abs=1e-5)
        assert entries.visits[entry] == visits
    assert find(entries, np.array([7, 7], np.uint64)) == -1


def test_visits_are_counted_as_far_as_their_type_goes() -> None:
    entries, key = _empty(8, 2, 16), np.array([3, 4], np.uint64)
    update(entries, key, 1.0, 0.1, True)
    entries.visits[0] = 2**32 - 2
    for _ in range(3):
        update(entries, key, 1.0, 0.0, True)
    assert entries.visits[0] == 2**32 - 1
    assert entries.values[0] == 1.0


def test_two_keys_with_the_same_hash_are_two_entries() -> None:
    one = np.array([3, 4], np.uint64)
    with np.errstate(over="ignore"):
        other = np.array([5, mix(SEED ^ np.uint64(3)) ^ np.uint64(4) ^ mix(SEED ^ np.uint64(5))], np.uint64)
    assert hashed(one) == hashed(other)
    entries = _empty(8, 2, 16)
    update(entries, one, 1.0, 0.1, True)
    assert find(entries, other) == -1
    update(entries, other, -1.0, 0.1, True)
    assert [entries.values[find(entries, key)] for key in (one, other)] == [1.0, -1.0]
    assert entries.size[0] == 2
