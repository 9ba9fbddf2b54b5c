"""Datasets as CSV and back."""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import plyground as pg
from plyground.errors import Error
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
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


HEAD = "position,side,best_action,teacher_policy,top_k,valid_actions,value,ply,ts"


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\n",
        HEAD.encode() + b"\n\xff\n",
        b"x" * 200_000,
        HEAD.encode() + b"\n" + b"x" * 200_000,
        HEAD.encode() + b"\n1,2,3\n",
        HEAD.encode() + b"\n44,first," + b"9" * 5000 + b",3:1,3,3,0,0,0\n",
        HEAD.encode() + b"\n44,first,3,3:nan,3,3,1e999,0,0\n",
        HEAD.encode() + b"\n\x00\n",
    ],
)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_what_is_no_csv_is_one_sentence(tmp_path: Path, lines: Lines, content: bytes, packed: str) -> None:
    source = tmp_path / f"bad.csv{packed}"
    source.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(Error, match=r"bad\.csv") as found:
        convert(source, tmp_path / "out.ndjson", lines)
    assert len(str(found.value)) < 500
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-20], lambda data: data[:20] + b"xx" + data[22:], lambda data: b"x"]
)
def test_a_damaged_archive_is_one_sentence(tmp_path: Path, lines: Lines, damage: Callable[[bytes], bytes]) -> None:
    source = tmp_path / "bad.csv.gz"
    source.write_bytes(
        damage(gzip.compress(HEAD.encode() + b"\n" + random.Random(0).randbytes(9).hex().encode() * 999))
    )
    with pytest.raises(Error, match=r"bad\.csv\.gz"):
        convert(source, tmp_path / "out.ndjson", lines)


@pytest.mark.parametrize("odd", ["[" * 5000, r'"\ud800"', '"' + "x" * 10_000, "1" * 5000])
def test_an_odd_line_of_a_dataset_is_one_sentence(tmp_path: Path, lines: Lines, odd: str) -> None:
    source = tmp_path / "bad.ndjson"
    whole = dict.fromkeys(lines.fields, '""') | {"teacher_policy": "{}", "position": odd}
    source.write_text("{" + ", ".join(f'"{name}": {value}' for name, value in whole.items()) + "}\n")
    with pytest.raises(Error, match=r"bad\.ndjson, line 1 is no line of a dataset") as found:
        convert(source, tmp_path / "out.csv", lines)
    assert len(str(found.value)) < 500
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
