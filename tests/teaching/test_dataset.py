"""Dataset files: crash-safe, compressed on request, damage is located."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from collected import FOUR, collected
from plyground.teaching import dataset
from plyground.teaching.dataset import Writer, read_dataset
from plyground.teaching.lines import Lines

pytestmark = pytest.mark.compiled


def test_an_interrupt_before_the_first_line_is_no_dead_end(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    Writer(path, {})
    assert path.read_bytes() == b""
    assert collected(FOUR, path) == collected(FOUR, tmp_path / "b.ndjson")


@pytest.mark.parametrize("content", ["[]", '{"settings": [], "progress": {}}', '{"settings": 1}', "{"])
def test_a_progress_file_that_says_nothing_is_one_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.ndjson").write_text("mine")
    (tmp_path / "a.ndjson.progress.json").write_text(content)
    with pytest.raises(pg.InvalidValue, match="cannot be continued"):
        collected(FOUR, tmp_path / "a.ndjson")


def test_a_compressed_file_is_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.ndjson", tmp_path / "a.ndjson.gz"
    assert collected(FOUR, packed) == collected(FOUR, plain)
    assert packed.stat().st_size < plain.stat().st_size / 3


def test_damaged_compressed_files_say_where(tmp_path: Path, connect_four: pg.Game) -> None:
    path = tmp_path / "a.ndjson.gz"
    collected(FOUR, path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(pg.InvalidValue, match=r"line \d+: the compressed file is cut or damaged here"):
        list(read_dataset(path, Lines(connect_four)))
    (tmp_path / "b.ndjson.gz").write_text("no gzip")
    with pytest.raises(pg.InvalidValue, match="line 1: the compressed file is cut or damaged"):
        list(read_dataset(tmp_path / "b.ndjson.gz", Lines(connect_four)))


def test_several_processes_read_the_same_records_in_order(
    tmp_path: Path, connect_four: pg.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lines = tmp_path / "a.ndjson", Lines(connect_four)
    collected(FOUR, path)
    alone = list(read_dataset(path, lines))
    monkeypatch.setattr(dataset, "LARGE", 0)
    monkeypatch.setattr(dataset, "CHUNK", 50)
    together = list(read_dataset(path, lines, processes=2))
    assert len(together) > 1
    assert b"".join(found.tobytes() for found, _ in together) == b"".join(found.tobytes() for found, _ in alone)
