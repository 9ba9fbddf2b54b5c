"""Dataset files: one content in every form, crash-safe, compressed on request, damage is located."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from collected import FOUR, collected, lines_of
from plyground.teaching import dataset
from plyground.teaching.config import Collect
from plyground.teaching.dataset import Writer, convert, form_of, read_all, read_dataset, rejected_lines
from plyground.teaching.lines import Lines

pytestmark = pytest.mark.compiled
CHESS = Collect(games=8, depth=1, quiescence=1, threads=1, opening_plies=60, seed=4)
SOME: dict[str, Any] = {"games": 2, "max_plies": 20, "depth": 1, "threads": 1}


@pytest.mark.parametrize("config", [CHESS, *(Collect(game=game, **SOME) for game in ("sequence", "paco_sako"))])
def test_a_dataset_is_the_same_in_every_form(tmp_path: Path, config: Collect) -> None:
    lines, first = Lines(pg.load(config.game)), tmp_path / "a.packed"
    told = collected(config, first, lambda *_: None)
    if config is CHESS:
        assert len(told) > 200
        assert any(len(line["move"]) == 5 for line in told), "promotions, whose numbers others share"
    names, shown = ["b.ndjson", "c.csv", "d.packed", "e.csv.gz", "f.ndjson.gz", "g.packed"], list[tuple[int, int]]()
    for before, name in zip(["a.packed", *names], names, strict=False):
        assert convert(tmp_path / before, tmp_path / name, lines, lambda *done: shown.append(done)) == len(told)
    assert shown[-1] == (len(told), len(told)), "progress is shown"
    for name in ("d.packed", "g.packed"):
        assert (tmp_path / name).read_bytes() == first.read_bytes()
    assert gzip.decompress((tmp_path / "f.ndjson.gz").read_bytes()) == (tmp_path / "b.ndjson").read_bytes()
    assert collected(config, tmp_path / "h.ndjson") == lines_of(tmp_path / "b.ndjson") == told
    for name in names:
        assert read_all(tmp_path / name, lines).tobytes() == read_all(first, lines).tobytes(), name


def test_what_cannot_be_converted_is_one_sentence(tmp_path: Path, connect_four: pg.Game) -> None:
    lines = Lines(connect_four)
    collected(FOUR, tmp_path / "a.packed")
    (tmp_path / "b.ndjson").write_bytes(b'{"side": 3}\n')
    for source, target, message in (
        ("a.packed", "b.ndjson", "b.ndjson exists already"),
        ("a.packed", "c.packed", "have the same form, packed: name the target"),
        ("b.ndjson", "c.csv", "b.ndjson, line 1 is no line of a dataset"),
        ("b.ndjson", "c.packed", "b.ndjson, line 1: the field 'position' is missing"),
        ("none.ndjson", "c.packed", "cannot read .*none.ndjson"),
        ("none.ndjson", "c.csv", "cannot read .*none.ndjson"),
    ):
        with pytest.raises(pg.InvalidValue, match=message):
            convert(tmp_path / source, tmp_path / target, lines)
        assert not list(tmp_path.glob("c.*"))


def test_the_name_or_the_content_says_the_form(tmp_path: Path) -> None:
    names = {"packed": "a a.packed", "ndjson": "a.ndjson a.jsonl.gz a.gz", "csv": "a.csv a.csv.gz"}
    assert all(form_of(tmp_path / name) == form for form, each in names.items() for name in each.split())
    (tmp_path / "a").write_text("{}\n")
    assert form_of(tmp_path / "a") == "ndjson", "an earlier version has written it"


@pytest.mark.parametrize("name", ["a.packed", "a.ndjson"])
def test_an_interrupt_before_the_first_line_is_no_dead_end(tmp_path: Path, connect_four: pg.Game, name: str) -> None:
    Writer(tmp_path / name, Lines(connect_four), {})
    assert (tmp_path / name).read_bytes() == b""
    with pytest.raises(pg.InvalidValue, match="holds no examples"):
        read_all(tmp_path / name, Lines(connect_four))
    assert collected(FOUR, tmp_path / name) == collected(FOUR, tmp_path / "b.ndjson")


def test_compressed_files_are_compressed_and_damage_is_located(tmp_path: Path, connect_four: pg.Game) -> None:
    plain, packed = tmp_path / "a.ndjson", tmp_path / "a.ndjson.gz"
    assert collected(FOUR, packed) == collected(FOUR, plain)
    assert packed.stat().st_size < plain.stat().st_size / 3
    packed.write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(pg.InvalidValue, match=r"line \d+: the compressed file is cut or damaged here"):
        list(read_dataset(packed, Lines(connect_four)))
    (tmp_path / "b.ndjson.gz").write_text("no gzip")
    with pytest.raises(pg.InvalidValue, match="line 1: the compressed file is cut or damaged"):
        list(read_dataset(tmp_path / "b.ndjson.gz", Lines(connect_four)))
    assert rejected_lines(tmp_path / "b.ndjson.gz") == 1


def test_several_processes_read_the_same_records_in_order(
    tmp_path: Path, connect_four: pg.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lines = tmp_path / "a.ndjson", Lines(connect_four)
    collected(FOUR, path)
    alone = read_all(path, lines)
    monkeypatch.setattr(dataset, "LARGE", 0)
    monkeypatch.setattr(dataset, "CHUNK", 50)
    together = list(read_dataset(path, lines, processes=2))
    assert len(together) > 1
    assert np.concatenate(together).tobytes() == alone.tobytes()
