"""Tables grow, and are saved and restored."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.kernels.table import update
from plyground.tables import ROOM, Table

ROW = str(ROOT / "examples" / "three_in_a_row.py")


def test_it_grows_and_keeps_what_it_knows() -> None:
    table, rng = Table(pg.load(ROW)), np.random.default_rng(1)
    keys = np.unique(rng.integers(0, 2**63, (5 * ROOM, table.key.words)).astype(np.uint64), axis=0)
    for start in range(0, len(keys), 1000):
        part = keys[start : start + 1000]
        table.reserve(len(part))
        for k, key in enumerate(part):
            update(table.entries, key, float(start + k), 0.5, True)
    found = np.zeros(len(keys), np.int64)
    table.kernels.find_all(table.entries, keys, found)
    assert (table.entries.values[found] == np.arange(len(keys))).all()
    assert len(table) == len(keys)
    again = Table(pg.load(ROW))
    again.load_state({name: array.copy() for name, array in table.state().items()})
    again.kernels.find_all(again.entries, keys, found)
    assert (again.entries.values[found] == np.arange(len(keys))).all()
    assert table.bytes < 80 * len(table) * 2


def test_an_entry_without_a_visit_is_refused() -> None:
    table = Table(pg.load(ROW))
    keys = np.arange(2 * table.key.words, dtype=np.uint64).reshape(2, -1)
    state = {"keys": keys, "values": np.zeros(2, np.float32), "visits": np.array([1, 0], np.uint32)}
    with pytest.raises(pg.InvalidValue, match="entry 1 of the table has no visit"):
        table.load_state(state)


def test_an_empty_table_is_saved_and_loaded() -> None:
    table = Table(pg.load(ROW))
    table.load_state(table.state())
    assert len(table) == 0
