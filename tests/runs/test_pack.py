"""A run as one file; a slim run: the best network in half precision, and nothing that only training needs."""

from __future__ import annotations

import json
import re
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plyground as pg
from plyground.agents.registry import load_run
from plyground.backend.view import View
from plyground.errors import Error
from plyground.models.network import NetworkModel
from plyground.networks import training_mode, without_norm
from plyground.runs.directory import best_of, create, find_checkpoint, read_config
from plyground.runs.learned import load_model
from plyground.runs.pack import pack, slim, unpack
from runs_groups import IDENTITY, groups


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with create(tmp_path / "run", {"seed": 1}) as run:
        run.log({"event": "x", "step": 1})
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


def packed(path: Path, **changes: object) -> Path:
    """An archive with one odd entry beside its config; `changes` are fields of that entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.toml", "seed = 1")
        entry = zipfile.ZipInfo("odd.bin")
        entry.external_attr = int(str(changes.pop("mode", stat.S_IFREG | 0o644))) << 16
        archive.writestr(entry, b"odd content")
        for name, value in changes.items():
            setattr(entry, name, value)  # in the central directory, which is what readers read
    return path


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"flag_bits": 1}, "is encrypted"),
        ({"compress_type": 97}, "is packed by method 97"),
        ({"file_size": 2**32 - 2}, "would grow 390,451,572 times"),
        ({"file_size": 2**50, "compress_size": 2**49}, r"2 files of 1,125,899,906,842,632 bytes; there is room for"),
        ({"mode": stat.S_IFLNK | 0o777}, "is no plain file"),
        ({"mode": stat.S_IFIFO | 0o644}, "is no plain file"),
        ({"CRC": 7}, "is not a packed run, or damaged: Bad CRC-32"),
        ({"filename": "config.toml"}, "'config.toml' twice"),
        ({"filename": "config.toml/x"}, "'config.toml' both as a file and as a folder"),
        ({"filename": "x" * 400}, "cannot unpack|is not a packed run"),
        ({"filename": "x" * 60_000}, "cannot unpack|is not a packed run"),
        ({"filename": "x/" * 30_000 + ".."}, "would be written outside the run"),
        ({"filename": "x/" * 30_000 + "x"}, "which lies 30,000 folders deep"),
        ({"filename": "x/" * 1_000 + "x"}, "which lies 1,000 folders deep"),
        ({"filename": ""}, "'', which has an empty name"),
        ({"filename": "."}, "'.', which has an empty name"),
    ],
)
def test_an_archive_that_is_not_ours_is_refused_with_a_sentence(tmp_path: Path, changes: dict, why: str) -> None:
    archive = packed(tmp_path / "odd.zip", **changes)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Error, match=why) as refused:
        unpack(archive, tmp_path / "new" / "run")
    assert len(str(refused.value)) < 600
    assert [path for path in sorted(tmp_path.rglob("*")) if path.name != "new"] == before


def test_hidden_files_are_neither_packed_nor_unpacked(run: Path, tmp_path: Path) -> None:
    (run / "checkpoints" / ".DS_Store").touch()
    (run / "link").symlink_to("/etc/hostname")
    pack(run, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip", "a") as archive:
        assert not [name for name in archive.namelist() if ".DS_Store" in name or "link" in name]
        archive.writestr("checkpoints/.DS_Store", "")
        archive.writestr("checkpoints/.9/manifest.json", "")
        archive.writestr("checkpoints/..a/manifest.json", "")
    assert unpack(tmp_path / "run.zip", tmp_path / "again") == [1]
    assert not list((tmp_path / "again").rglob(".*"))


def test_a_file_of_zeros_is_packed_and_unpacked(run: Path, tmp_path: Path) -> None:
    """The limit on the ratio refuses nothing that `pack` writes."""
    (run / "zeros").write_bytes(bytes(2**25))
    pack(run, tmp_path / "run.zip")
    unpack(tmp_path / "run.zip", tmp_path / "again")


@given(st.data())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_archive_is_one_error_or_a_run(run: Path, tmp_path_factory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    if not (run.parent / "run.zip").exists():
        pack(run, run.parent / "run.zip")
    content = bytearray((run.parent / "run.zip").read_bytes())
    marks = [found.start() for found in re.finditer(rb"PK[\x01\x03\x05][\x02\x04\x06]", content)]  # of headers
    for _ in range(data.draw(st.integers(1, 3))):
        anywhere, header = st.integers(0, len(content) - 1), st.sampled_from(marks)
        place = data.draw(anywhere | st.tuples(header, st.integers(4, 60)).map(sum))
        content[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    (folder / "run.zip").write_bytes(content[: data.draw(st.integers(0, 4 * len(content)))])
    try:
        unpack(folder / "run.zip", folder / "again")
    except Error as error:
        assert len(str(error)) < 600  # noqa: PT017 (or it is no error)
        assert [path.name for path in folder.iterdir()] == ["run.zip"]


def test_a_slim_run_has_config_fingerprints_and_the_best_network_with_its_normalisation_folded(tmp_path: Path) -> None:
    torch.manual_seed(0)
    view = View(pg.load("connect_four"), "planes-v1")
    model = NetworkModel.make(view, "b1c4-norm-slim+value")
    with training_mode(model.network), torch.no_grad():
        model.network(torch.randn(64, 2, 6, 7))
        model.network.stem.norm.bias.add_(torch.randn(4))  # type: ignore
    config = {"learner": "dqn", "game": "connect_four", "encoder": "planes-v1", "outputs": 7, "dueling": False}
    with create(tmp_path / "run", {**config, "network": model.word}) as run:
        run.save(1, model.identity, {"network": model.state()}, {"x": 1}, {"rules": "abc"})
        run.save(2, model.identity, {"network": NetworkModel.make(view, model.word).state()}, {}, {"rules": "abc"})
        run.write("best.json", json.dumps({"step": 1}))
    again = load_model(tmp_path / "run")
    assert all((values == model.state()[name]).all() for name, values in again.state().items())
    slim(tmp_path / "run", tmp_path / "slim")
    checkpoint = find_checkpoint(tmp_path / "slim", "best")
    assert read_config(tmp_path / "slim") == {**config, "network": "b1c4-slim+value"}
    assert (checkpoint.step, checkpoint.fingerprints, best_of(tmp_path / "slim")) == (1, {"rules": "abc"}, {"step": 1})
    assert checkpoint.identity == {**model.identity, "network": "2x6x7-b1c4-slim+value-7"}
    assert set(checkpoint.manifest["files"]) == {"network.safetensors", "state.json"}
    assert {path.name for path in (tmp_path / "slim").iterdir()} == {"checkpoints", "config.toml", "best.json"}
    found, expected = checkpoint.tensors("network"), without_norm(model.network).state_dict()
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert found[name].dtype == np.float16
        np.testing.assert_allclose(found[name], values.numpy(), rtol=1e-3, atol=1e-3)
    states = pg.Batch("connect_four", 20, seed=1).states
    rngs = np.zeros(20, np.uint64)
    moves = [load_run(str(tmp_path / name)).act(states, rngs) for name in ("run", "slim")]
    assert (moves[0] == moves[1]).all()
