"""Datasets as CSV: whatever is wrong with a file is one sentence, and nothing is left behind."""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import plyground as pg
from collected import FOUR, collected
from plyground.errors import Error
from plyground.teaching.dataset import convert, read_all
from plyground.teaching.lines import Lines

LINES = Lines(pg.load("connect_four"))
HEAD = b"position,side,best_action,teacher_policy,top_k,valid_actions,value,move,game_id,ply,ts\n"
BOARD = "......./......./......./......./...o.../...x..."
ROW = f"{BOARD},●,3,3:1.0,3,0 1 2 3 4 5 6,0.5,4,g,2,now\n".encode()


def test_columns_are_the_fields_of_a_line(tmp_path: Path) -> None:
    collected(FOUR, tmp_path / "a.ndjson")
    convert(tmp_path / "a.ndjson", tmp_path / "b.csv", LINES)
    with (tmp_path / "b.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert tuple(first) == LINES.fields
    assert first["top_k"].split()[0] == first["best_action"]


@pytest.mark.parametrize("target", ["out.ndjson", "out.packed"])
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\n", ""),
        (HEAD + b"\xff\n", "line 1"),
        (b"x" * 200_000, ""),
        (HEAD + b"x" * 200_000, "line 1"),
        (b"position,side\n", "has no column best_action"),
        (HEAD + b"1,2,3\n", "line 2"),
        (HEAD + ROW + ROW.replace(b":", b";"), "line 3"),
        (HEAD + ROW.replace(b",3,3:", b"," + b"9" * 5000 + b",3:"), "line 2"),
        (HEAD + ROW.replace(b":1.0", b":nan"), "line 2"),
        (HEAD + ROW.replace(b"0.5", b"1e999"), "line 2"),
        (HEAD + b"\x00\n", "line"),
    ],
)
def test_what_is_no_csv_is_one_sentence(tmp_path: Path, content: bytes, packed: str, message: str, target: str) -> None:
    source = tmp_path / f"bad.csv{packed}"
    source.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(Error, match=rf"bad\.csv.*{message}") as found:
        convert(source, tmp_path / target, LINES)
    assert len(str(found.value)) < 500
    assert {path.name for path in tmp_path.iterdir()} <= {source.name, f"{source.name}.rejected"}


def test_a_row_that_is_wrong_is_left_out_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(HEAD + ROW + b"1,2,3\n" + ROW)
    assert len(read_all(tmp_path / "a.csv", LINES, "skip")) == 2
    assert b'"line": 3' in (tmp_path / "a.csv.rejected").read_bytes()


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-20], lambda data: data[:20] + b"xx" + data[22:], lambda data: b"x"]
)
def test_a_damaged_archive_is_one_sentence(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    source = tmp_path / "bad.csv.gz"
    source.write_bytes(damage(gzip.compress(HEAD + random.Random(0).randbytes(9).hex().encode() * 999)))
    with pytest.raises(Error, match=r"bad\.csv\.gz"):
        convert(source, tmp_path / "out.ndjson", LINES)


@pytest.mark.parametrize("odd", ["[" * 5000, r'"\ud800"', '"' + "x" * 10_000, "1" * 5000])
def test_an_odd_line_of_a_dataset_is_one_sentence(tmp_path: Path, odd: str) -> None:
    source = tmp_path / "bad.ndjson"
    whole = dict.fromkeys(LINES.fields, '""') | {"teacher_policy": "{}", "position": odd}
    source.write_text("{" + ", ".join(f'"{name}": {value}' for name, value in whole.items()) + "}\n")
    with pytest.raises(Error, match=r"bad\.ndjson, line 1 is no line of a dataset") as found:
        convert(source, tmp_path / "out.csv", LINES)
    assert len(str(found.value)) < 500
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
