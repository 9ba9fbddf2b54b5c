"""Statistics of a dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plyground as pg
from collected import FOUR, collected
from plyground.teaching.inspect import inspect

pytestmark = pytest.mark.compiled


def test_inspect_says_what_there_is(tmp_path: Path, connect_four: pg.Game) -> None:
    path = tmp_path / "a.ndjson"
    lines = collected(FOUR, path)
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
