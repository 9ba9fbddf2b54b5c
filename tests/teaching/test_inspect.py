"""Statistics of a dataset."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import plyground as pg
from plyground.teaching.collect import Collect, collect
from plyground.teaching.inspect import inspect

pytestmark = pytest.mark.compiled

FOUR = Collect(game="connect_four", games=12, opening_plies=4, threads=1)


def run(config: Collect, path: Path) -> list[dict[str, Any]]:
    """The lines of a file, but for their times."""
    collect(config, path, lambda *_: None)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    found = [json.loads(line) for line in content.splitlines()]
    return [{name: value for name, value in line.items() if name != "ts"} for line in found]


def test_inspect_says_what_there_is(tmp_path: Path, connect_four: pg.Game) -> None:
    path = tmp_path / "a.ndjson"
    lines = run(FOUR, path)
    with path.open("ab") as file:
        file.write(json.dumps({"position": ""}).encode())
    found = inspect(path, connect_four, "skip")
    assert found["size"].startswith(f"{len(lines):,} positions of 12 games")
    assert found["rejected lines"] == "1"
    assert found["duplicates"].startswith("0 (0.00%)")
    assert "_WINS" in found["results"]
    assert set(found) >= {"openings", "phases", "entropy of policies"}
    rejected = json.loads((tmp_path / "a.ndjson.rejected").read_text())
    assert rejected["line"] == len(lines) + 1
    assert "is missing" in rejected["reason"]
    with pytest.raises(pg.InvalidValue, match=rf"line {len(lines) + 1}: the field 'side' is missing"):
        inspect(path, connect_four, "stop")
