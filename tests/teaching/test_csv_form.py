"""Datasets as CSV and back."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import plyground as pg
from plyground.errors import Error
from plyground.teaching.collect import Collect, collect
from plyground.teaching.csv_form import convert
from plyground.teaching.dataset import read_all
from plyground.teaching.lines import Lines

FEW = Collect(game="connect_four", games=4, depth=1, max_plies=8, threads=1)


@pytest.fixture
def lines() -> Lines:
    return Lines(pg.load("connect_four"))


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_dataset_comes_back_byte_for_byte(tmp_path: Path, lines: Lines, packed: str) -> None:
    collect(FEW, tmp_path / "a.ndjson", lambda *_: None)
    count = convert(tmp_path / "a.ndjson", tmp_path / f"b.csv{packed}", lines)
    assert convert(tmp_path / f"b.csv{packed}", tmp_path / "c.ndjson", lines) == count
    assert (tmp_path / "c.ndjson").read_bytes() == (tmp_path / "a.ndjson").read_bytes()
    assert len(read_all(tmp_path / "c.ndjson", lines)) == count > 10
    opened = gzip.open if packed else open
    with opened(tmp_path / f"b.csv{packed}", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == lines.fields
    assert float(rows[0]["value"]) <= 1
    assert rows[0]["top_k"].split()[0] == rows[0]["best_action"]


def test_faults_are_named_with_their_line(tmp_path: Path, lines: Lines) -> None:
    collect(FEW, tmp_path / "a.ndjson", lambda *_: None)
    convert(tmp_path / "a.ndjson", tmp_path / "b.csv", lines)
    with pytest.raises(Error, match=r"b.csv exists already"):
        convert(tmp_path / "a.ndjson", tmp_path / "b.csv", lines)
    with pytest.raises(Error, match="have the same form"):
        convert(tmp_path / "a.ndjson", tmp_path / "d.ndjson", lines)
    head, first, *rest = (tmp_path / "b.csv").read_text().splitlines()
    (tmp_path / "odd.csv").write_text("\n".join([head, first, rest[0].replace(":", ";"), *rest[1:]]))
    with pytest.raises(Error, match=r"odd.csv, line 3: "):
        convert(tmp_path / "odd.csv", tmp_path / "d.ndjson", lines)
    (tmp_path / "few.csv").write_text("position,side\n")
    with pytest.raises(Error, match="has no column best_action"):
        convert(tmp_path / "few.csv", tmp_path / "d.ndjson", lines)
    (tmp_path / "odd.ndjson").write_text('{"side": 3}\n')
    with pytest.raises(Error, match=r"odd.ndjson, line 1 is no line of a dataset"):
        convert(tmp_path / "odd.ndjson", tmp_path / "d.csv", lines)
    assert not (tmp_path / "d.ndjson").exists()
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(Error, match="cannot read"):
        convert(tmp_path / "none.ndjson", tmp_path / "e.csv", lines)
