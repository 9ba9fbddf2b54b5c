"""A run as one file; a slim run: the best network in half precision, and nothing that only training needs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from plyground.errors import Error
from plyground.runs.directory import best_of, create, find_checkpoint, read_config
from plyground.runs.pack import pack, slim, unpack
from runs_groups import IDENTITY, groups


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with create(tmp_path / "run", {"seed": 1}) as run:
        run.log({"step": 1})
        run.save(1, IDENTITY, groups(), {"x": 1})
        return run.path


def files_of(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_unpacking_gives_what_was_packed(run: Path, tmp_path: Path) -> None:
    pack(run, tmp_path / "run.zip")
    assert unpack(tmp_path / "run.zip", tmp_path / "again") == [1]
    assert files_of(tmp_path / "again") == files_of(run)


def test_without_its_replay_buffer_a_run_has_its_network_and_says_what_is_missing(run: Path, tmp_path: Path) -> None:
    pack(run, tmp_path / "small.zip", replay=False)
    unpack(tmp_path / "small.zip", tmp_path / "small")
    checkpoint = find_checkpoint(tmp_path / "small", "last")
    assert checkpoint.tensors("network")
    with pytest.raises(Error, match="packed without its replay buffer"):
        checkpoint.tensors("replay")


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "..\\evil", "C:evil"])
def test_a_file_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("config.toml", "seed = 1")
        archive.writestr(name, "boo")
    with pytest.raises(Error, match="outside the run"):
        unpack(tmp_path / "bad.zip", tmp_path / "inner" / "run")
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "inner" / "run").exists()


def test_bad_files_are_one_error(run: Path, tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(Error, match="is not a packed run"):
        unpack(tmp_path / "text.zip", tmp_path / "x")
    with pytest.raises(Error, match="no file"):
        unpack(tmp_path / "none.zip", tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(Error, match=r"no config\.toml"):
        unpack(tmp_path / "other.zip", tmp_path / "x")
    assert not (tmp_path / "x").exists()
    pack(run, tmp_path / "run.zip")
    with pytest.raises(Error, match="exists already"):
        pack(run, tmp_path / "run.zip")
    with pytest.raises(Error, match="exists already"):
        unpack(tmp_path / "run.zip", run)


def test_a_slim_run_has_config_best_network_and_fingerprints(tmp_path: Path) -> None:
    with create(tmp_path / "run", {"learner": "dqn", "seed": 7}) as run:
        run.save(1, IDENTITY, groups(0.25), {"x": 1}, {"rules": "abc"})
        run.save(2, IDENTITY, groups(0.5), {"x": 2}, {"rules": "abc"})
        run.write("best.json", json.dumps({"step": 1}))
    slim(tmp_path / "run", tmp_path / "slim")
    checkpoint = find_checkpoint(tmp_path / "slim", "best")
    assert (checkpoint.step, checkpoint.identity, checkpoint.fingerprints) == (1, IDENTITY, {"rules": "abc"})
    weight = checkpoint.tensors("network")["weight"]
    assert weight.dtype == np.float16
    assert (weight == 0.25).all()
    assert set(checkpoint.manifest["files"]) == {"network.safetensors", "state.json"}
    assert read_config(tmp_path / "slim") == {"learner": "dqn", "seed": 7}
    assert best_of(tmp_path / "slim") == {"step": 1}
    assert {path.name for path in (tmp_path / "slim").iterdir()} == {"checkpoints", "config.toml", "best.json"}
