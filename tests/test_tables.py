"""The table itself, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.games.rng import mix
from plyground.kernels.table import SEED, Entries, find, hashed, update
from plyground.tables import ROOM, Table

ROW = str(ROOT / "examples" / "three_in_a_row.py")


def _empty(room: int, words: int, places: int) -> Entries:
    return Entries(
        np.zeros((room, words), np.uint64),
        np.zeros(room, np.float32),
        np.zeros(room, np.uint32),
        np.full(places, -1, np.int32),
        np.zeros(1, np.int64),
    )


def test_it_knows_what_a_dictionary_knows() -> None:
    """Crowded, so that most keys meet others on the way to their place."""
    rng, entries = np.random.default_rng(4), _empty(100, 2, 128)
    keys, twin = rng.integers(0, 5, (100, 2)).astype(np.uint64) * np.uint64(2**61), {}
    for _ in range(3000):
        key, target = keys[rng.integers(len(keys))], float(rng.normal())
        value, visits = twin.get(tuple(key), (0.0, 0))
        error = update(entries, key, target, 0.1)
        assert error == pytest.approx(target - value, abs=1e-5)
        twin[tuple(key)] = value + max(0.1, 1 / (visits + 1)) * (target - value), visits + 1
    assert entries.size[0] == len(twin)
    for key, (value, visits) in twin.items():
        entry = find(entries, np.array(key, np.uint64))
        assert entries.values[entry] == pytest.approx(value, abs=1e-5)
        assert entries.visits[entry] == visits
    assert find(entries, np.array([7, 7], np.uint64)) == -1


def test_two_keys_with_the_same_hash_are_two_entries() -> None:
    one = np.array([3, 4], np.uint64)
    with np.errstate(over="ignore"):
        other = np.array([5, mix(SEED ^ np.uint64(3)) ^ np.uint64(4) ^ mix(SEED ^ np.uint64(5))], np.uint64)
    assert hashed(one) == hashed(other)
    entries = _empty(8, 2, 16)
    update(entries, one, 1.0, 0.1)
    assert find(entries, other) == -1
    update(entries, other, -1.0, 0.1)
    assert [entries.values[find(entries, key)] for key in (one, other)] == [1.0, -1.0]
    assert entries.size[0] == 2


def test_it_grows_and_keeps_what_it_knows() -> None:
    table, rng = Table(pg.load(ROW)), np.random.default_rng(1)
    keys = np.unique(rng.integers(0, 2**63, (5 * ROOM, table.key.words)).astype(np.uint64), axis=0)
    for start in range(0, len(keys), 1000):
        part = keys[start : start + 1000]
        table.reserve(len(part))
        for k, key in enumerate(part):
            update(table.entries, key, float(start + k), 0.5)
    found = np.zeros(len(keys), np.int64)
    table.kernels.find_all(table.entries, keys, found)
    assert (table.entries.values[found] == np.arange(len(keys))).all()
    assert len(table) == len(keys)
    again = Table(pg.load(ROW))
    again.restore({name: array.copy() for name, array in table.arrays().items()})
    again.kernels.find_all(again.entries, keys, found)
    assert (again.entries.values[found] == np.arange(len(keys))).all()
    assert table.bytes < 80 * len(table) * 2


def test_an_empty_table_is_saved_and_loaded() -> None:
    table = Table(pg.load(ROW))
    table.restore(table.arrays())
    assert len(table) == 0
