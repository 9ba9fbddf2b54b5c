"""The run directory: each checkpoint is complete or absent, whatever happens."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from forged import rewrite
from plyground.errors import Error
from plyground.learners import LEARNERS
from plyground.models.table import of_config
from plyground.runs import directory, files
from plyground.runs.directory import create, find_checkpoint, newest_whole, open_run, steps_of
from plyground.runs.fingerprints import of_model
from runs_groups import IDENTITY, groups
from runs_on_disk import read_records


@pytest.fixture
def run(tmp_path: Path):
    with create(
        tmp_path / "run", {"learner": "dqn", "seed": 3, "words": ["a", 'b "c"'], "versions": {"torch": "2"}}
    ) as it:
        yield it


def test_a_checkpoint_comes_back_as_it_was(run) -> None:
    run.log({"event": "x", "step": 0, "loss": float("nan"), "n": np.int64(3)})
    saved = run.save(10, IDENTITY, groups(), {"big": 2**100, "x": 0.1})
    again = find_checkpoint(run.path, "last")
    assert again.step == saved.step == 10
    assert again.state() == {"big": 2**100, "x": 0.1, "metrics_bytes": (run.path / "metrics.jsonl").stat().st_size}
    assert again.tensors("replay")["rngs"].tolist() == [2**64 - 1]
    assert (again.tensors("network")["weight"] == groups()["network"]["weight"]).all()
    assert directory.read_config(run.path) == {
        "learner": "dqn", "seed": 3, "words": ["a", 'b "c"'], "versions": {"torch": "2"},
    }  # fmt: skip
    assert read_records(run.path) == [{"event": "x", "step": 0, "loss": None, "n": 3}]


def test_metrics_after_the_checkpoint_are_forgotten(run) -> None:
    run.log({"event": "x", "step": 1})
    checkpoint = run.save(1, IDENTITY, groups(), {})
    run.log({"event": "x", "step": 2})
    run.rewind(checkpoint)
    run.log({"event": "x", "step": 3})
    assert [record["step"] for record in read_records(run.path)] == [1, 3]


def test_a_line_cut_short_is_left_out(run) -> None:
    run.log({"event": "x", "step": 1})
    with (run.path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 2')
    assert [record["step"] for record in read_records(run.path)] == [1]


def test_retention_keeps_the_best_the_last_and_every_kth(run) -> None:
    for step in range(0, 100, 10):
        run.save(step, IDENTITY, groups(), {})
        run.prune(keep_last=2, keep_every=4, best=min(step, 30))
    assert steps_of(run.path) == [0, 30, 40, 80, 90]


@pytest.mark.parametrize("name", ["network.safetensors", "replay.safetensors", "state.json"])
def test_a_checkpoint_cut_in_half_is_refused_and_the_one_before_named(run, name: str) -> None:
    run.save(1, IDENTITY, groups(), {})
    run.save(2, IDENTITY, groups(), {})
    damaged = run.path / "checkpoints" / "2" / name
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    with pytest.raises(Error, match=r"bytes; \d+ were written; checkpoint 1 is intact"):
        newest_whole(run.path)


def test_a_flipped_bit_is_noticed(run) -> None:
    run.save(1, IDENTITY, groups(), {})
    path = run.path / "checkpoints" / "1" / "network.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(Error, match="checksum differs"):
        newest_whole(run.path)


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
@pytest.mark.parametrize("there", [False, True])
def test_a_run_is_its_owners_alone_but_for_a_folder_that_was_there(tmp_path: Path, there: bool) -> None:
    path, before = tmp_path / "runs" / "a", os.umask(0)
    try:
        if there:
            path.mkdir(mode=0o755, parents=True)
            path.parent.chmod(0o755)
        with create(path, {"game": "connect_four"}) as run:
            run.log({"event": "cycle", "step": 1})
            run.save(1, IDENTITY, groups(1.0), {})
            run.write("games/1.txt", "1. e4")
    finally:
        os.umask(before)
    modes = {each: each.stat().st_mode & 0o777 for each in (path.parent, path, *path.rglob("*"))}
    kept = {path.parent, path} if there else set[Path]()
    assert len(modes) > 8
    for each, mode in modes.items():
        assert mode == (0o755 if each in kept else 0o700 if each.is_dir() else 0o600), each


def test_values_that_are_not_finite_are_never_saved(run) -> None:
    with pytest.raises(Error, match="weight holds values that are not finite"):
        run.save(1, IDENTITY, groups(float("nan")), {})
    assert steps_of(run.path) == []


def test_a_checkpoint_with_a_nan_is_refused(run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(directory, "_check_finite", lambda *_: None)
        run.save(1, IDENTITY, groups(float("nan")), {})
    with pytest.raises(Error, match="not finite"):
        find_checkpoint(run.path, "last").tensors("network")


def test_another_game_encoder_or_network_is_refused_by_name(run) -> None:
    checkpoint = run.save(1, IDENTITY, groups(), {})
    checkpoint.check(IDENTITY)
    with pytest.raises(Error, match="game: 'connect_four' instead of 'chess'; network: '84-8-7' instead of '9'"):
        checkpoint.check({**IDENTITY, "game": "chess", "network": "9"})


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_full_disk_leaves_the_checkpoint_before(run, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    run.save(1, IDENTITY, groups(), {})
    written, real = [0], files.write_synced

    def failing(path: Path, content: bytes) -> None:
        real(path, content[: len(content) // 2] if written[0] == after else content)
        written[0] += 1
        if written[0] > after:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_synced", failing)
    with pytest.raises(
        Error, match=r"cannot save checkpoint 2 .* No space left on device; earlier checkpoints are complete"
    ):
        run.save(2, IDENTITY, groups(), {})
    assert newest_whole(run.path).step == 1
    assert sorted(path.name for path in (run.path / "checkpoints").iterdir()) == ["1"]


def test_two_processes_cannot_hold_one_run(run) -> None:
    with pytest.raises(Error, match="another process works on"):
        open_run(run.path)
    code = f"from pathlib import Path; from plyground.runs.directory import open_run; open_run(Path({str(run.path)!r}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "another process works on" in other.stderr
    run.close()
    with open_run(run.path):
        pass


def test_what_a_killed_process_left_is_swept_away(run) -> None:
    run.save(1, IDENTITY, groups(), {})
    run.close()
    partial = run.path / "checkpoints" / ".2.partial"
    partial.mkdir()
    (partial / "network.safetensors").write_bytes(b"half")
    with open_run(run.path):
        assert not partial.exists()
    assert newest_whole(run.path).step == 1


def test_a_run_is_never_written_over(run) -> None:
    with pytest.raises(Error, match="another process works on"):
        create(run.path, {})
    run.save(0, IDENTITY, groups(), {})
    with pytest.raises(Error, match="exists already"):
        create(run.path, {})
    run.close()
    with pytest.raises(Error, match="exists already"):
        create(run.path, {})
    assert directory.read_config(run.path)["seed"] == 3


def test_a_run_that_never_got_to_a_checkpoint_is_begun_anew(run) -> None:
    run.log({"event": "x", "step": 0})
    run.close()
    (run.path / "examples.bin").touch()
    (run.path / ".config.toml.partial").touch()
    (run.path / "checkpoints" / ".0.partial").mkdir()
    with create(run.path, {"seed": 4}) as again:
        again.log({"event": "x", "step": 1})
    assert directory.read_config(run.path) == {"seed": 4}
    assert [record["step"] for record in read_records(run.path)] == [1]


@pytest.mark.parametrize(
    "names", [["config.toml"], ["config.toml", "checkpoints/"], ["checkpoints/", "notes.txt"], ["checkpoints/best/"]]
)
def test_what_is_not_ours_is_never_written_over(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).mkdir(parents=True) if name.endswith("/") else (tmp_path / name).touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Error, match="exists already"):
        create(tmp_path, {})
    assert sorted(tmp_path.rglob("*")) == before


EXAMPLE = ROOT / "examples" / "three_in_a_row.py"
CODE = {"rules": "1", "encoder": "2", "network": "3"}


def test_changed_code_is_said_in_words(run) -> None:
    checkpoint = run.save(1, IDENTITY, groups(), {}, CODE)
    assert find_checkpoint(run.path, "last").fingerprints == CODE
    assert checkpoint.changes(CODE) == []
    assert checkpoint.notice(CODE) == ""
    checkpoint.check_unchanged(CODE)
    found = checkpoint.changes({"rules": "7", "encoder": "8", "network": "9"})
    assert found == [
        "the rules of connect_four have changed since this checkpoint was made",
        "the encoder planes-v1 of connect_four has changed since this checkpoint was made",
        "the code of the network has changed since this checkpoint was made",
    ]
    edited = {**CODE, "encoder": "8"}
    assert checkpoint.notice(edited) == f"{checkpoint.path}: {found[1]}"
    with pytest.raises(Error, match=r"the encoder planes-v1 of connect_four has changed .*; --force resumes"):
        checkpoint.check_unchanged(edited)


def test_a_run_stamps_its_checkpoints_with_the_code_of_its_start(tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    path.write_text(EXAMPLE.read_text())
    game = pg.load(path)
    table = {**asdict(LEARNERS["tabular"].config()), "game": game.full, "key": "exact-v1"}
    with create(tmp_path / "run", table) as run:
        first = run.save(1, IDENTITY, groups(), {})
        assert first.fingerprints == of_model(of_config(table, game))
        path.write_text(EXAMPLE.read_text().replace('["outcome"] = DRAW', '["outcome"] = FIRST_WINS'))
        assert run.save(2, IDENTITY, groups(), {}).fingerprints == first.fingerprints, "this process runs the old rules"
    with open_run(run.path) as again, pytest.raises(Error, match="the rules of connect_four have changed"):
        first.check_unchanged(again.fingerprints)


def test_a_checkpoint_without_fingerprints_says_so_and_is_not_refused(run) -> None:
    checkpoint = run.save(1, IDENTITY, groups(), {})
    assert checkpoint.changes(CODE) == []
    assert "no fingerprint of rules, encoder, network" in checkpoint.notice(CODE)
    checkpoint.check_unchanged(CODE)


def test_current_code_without_source_is_unknown_not_changed(run) -> None:
    checkpoint = run.save(1, IDENTITY, groups(), {}, CODE)
    assert checkpoint.changes({**CODE, "rules": ""}) == []
    assert "no fingerprint of rules" in checkpoint.notice({**CODE, "rules": ""})


def test_an_older_format_is_refused_by_number(run) -> None:
    run.save(1, IDENTITY, groups(), {})
    path = run.path / "checkpoints" / "1" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 1}))
    with pytest.raises(Error, match="has format 1; this version of Plyground reads format 2"):
        newest_whole(run.path)


def test_hidden_files_and_folders_are_ignored_and_never_removed(run) -> None:
    run.save(1, IDENTITY, groups(), {})
    run.close()
    places = [run.path / "checkpoints" / name for name in (".DS_Store", ".git/", ".7/", "²/", "٣/", "notes.txt")]
    for place in places:
        place.mkdir() if place.name in (".git", ".7", "²", "٣") else place.touch()
    with open_run(run.path) as again:
        again.save(2, IDENTITY, groups(), {})
        again.prune(keep_last=1, keep_every=0, best=2)
    assert steps_of(run.path) == [2]
    assert all(place.exists() for place in places)


FILES = {"state.json": {"size": 1, "sha256": ""}}
MANIFEST = {"format": 2, "number": 0, "identity": IDENTITY, "fingerprints": {}, "files": FILES}
WRONG_MANIFESTS = [
    *("{", "[]", "3", '{"format": 99}', '{"format": 2}', "[" * 5000),
    *(json.dumps(MANIFEST | {name: value}) for name in MANIFEST for value in (None, 3.5, "x", [1], {"a": 1})),
    *(
        json.dumps(MANIFEST | {"files": {name: FILES["state.json"]}})
        for name in ("../x", "/x", "a/b", "", ".x", "a\\b")
    ),
]


@pytest.mark.parametrize("content", WRONG_MANIFESTS)
def test_a_broken_manifest_is_one_error(run, content: str) -> None:
    run.save(1, IDENTITY, groups(), {})
    run.save(2, IDENTITY, groups(), {})
    (run.path / "checkpoints" / "2" / "manifest.json").write_text(content)
    with pytest.raises(Error, match="checkpoint 1 is intact"):
        newest_whole(run.path)


@pytest.mark.parametrize("content", ["[]", "3", "{", '{"step": "1"}', '{"eval_opponents": [1]}', '{"step": 1.5}'])
def test_a_broken_best_json_is_one_error(run, content: str) -> None:
    run.save(1, IDENTITY, groups(), {})
    (run.path / "best.json").write_text(content)
    with pytest.raises(Error, match=r"best\.json cannot be read"):
        find_checkpoint(run.path, "best")


@pytest.mark.parametrize("content", ["[]", "{", "{}", '{"metrics_bytes": "1"}', '{"metrics_bytes": 1, "parts": []}'])
def test_a_state_of_another_type_is_one_error(run, content: str) -> None:
    run.save(1, IDENTITY, groups(), {})
    rewrite(run.path / "checkpoints" / "1" / "state.json", content.encode())
    with pytest.raises(Error, match=r"state\.json cannot be read"):
        find_checkpoint(run.path, "last").state()


def test_a_tensor_of_a_type_that_arrays_have_not_is_one_error(run) -> None:
    run.save(1, IDENTITY, groups(), {})
    header = json.dumps({"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(4)
    rewrite(run.path / "checkpoints" / "1" / "network.safetensors", content)
    with pytest.raises(Error, match=r"network\.safetensors cannot be read"):
        find_checkpoint(run.path, "last").tensors("network")


@pytest.mark.parametrize(
    "line",
    ["3", "[]", "{}", '{"event": 3, "step": 1}', '{"event": "cycle", "step": 1}', '{"event": "epoch", "step": 1}'],
)
def test_a_line_of_metrics_without_its_keys_is_named(run, line: str) -> None:
    run.log({"event": "x", "step": 0})
    with (run.path / "metrics.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(Error, match=r"line 2 of .*metrics\.jsonl cannot be read"):
        read_records(run.path)


def test_metrics_that_are_shorter_than_at_the_checkpoint_are_not_filled_up(run) -> None:
    run.log({"event": "x", "step": 0})
    checkpoint = run.save(1, IDENTITY, groups(), {})
    (run.path / "metrics.jsonl").write_bytes(b"")
    with pytest.raises(Error, match=r"metrics\.jsonl has 0 bytes"):
        run.rewind(checkpoint)
    rewrite(checkpoint.path / "state.json", b'{"metrics_bytes": -1}')
    with pytest.raises(Error, match=r"metrics\.jsonl has 0 bytes; .* was made when it had -1"):
        run.rewind(find_checkpoint(run.path, "last"))


SWAPPED = ["best.json", "metrics.jsonl", "lock", "checkpoints/1", "checkpoints/1/manifest.json", "config.toml"]
SWAPPED += ["checkpoints/1/state.json", "checkpoints/1/network.safetensors", "checkpoints"]


@pytest.mark.parametrize("name", SWAPPED)
def test_a_folder_in_place_of_a_file_and_the_reverse_are_one_error(run, name: str) -> None:
    run.save(1, IDENTITY, groups(), {})
    run.write("best.json", json.dumps({"step": 1}))
    run.close()
    place = run.path / name
    if place.is_dir():
        shutil.rmtree(place)
        place.touch()
    else:
        place.unlink(missing_ok=True)
        place.mkdir()

    def use() -> None:
        with open_run(run.path) as again:
            again.rewind(newest_whole(run.path))
        find_checkpoint(run.path, "best")

    with pytest.raises(Error):
        use()


def test_a_link_in_a_checkpoint_is_not_followed(run, tmp_path: Path) -> None:
    run.save(1, IDENTITY, groups(), {})
    file = run.path / "checkpoints" / "1" / "state.json"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Error, match="is not a plain file"):
        newest_whole(run.path)


@pytest.mark.parametrize("which", ["²", "٣", "-1", "1" * 5000, "1_0", " 1", "01"])
def test_a_step_is_a_plain_number(run, which: str) -> None:
    run.save(1, IDENTITY, groups(), {})
    with pytest.raises(Error, match="has no checkpoint"):
        find_checkpoint(run.path, which)


def test_a_full_disk_at_the_start_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes, shared: bool = False) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_synced", full)
    with pytest.raises(Error, match=r"cannot create .*run: No space left on device"):
        create(tmp_path / "run", {})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_while_metrics_are_written_is_one_error(tmp_path: Path) -> None:
    run = create(tmp_path / "run", {})
    run._metrics.close()
    run._metrics = Path("/dev/full").open("wb")  # noqa: SIM115  (the run closes it)
    with pytest.raises(Error, match=r"cannot write .*metrics\.jsonl: No space left on device"):
        run.log({"event": "cycle", "step": 1})
    with pytest.raises(Error, match=r"cannot write .*metrics\.jsonl: No space left on device"):
        run.close()
    open_run(run.path).close()  # nobody holds it any more


def test_a_path_that_is_no_run_is_answered_with_the_nearest_run_or_with_how_to_list_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("runs/mine", "folder", "runs/group/seed-3", "runs/group/seed-10"):
        Path(name).mkdir(parents=True)
    for file in ("runs/mine/config.toml", "runs/group/seed-3/config.toml", "runs/group/seed-10/config.toml"):
        Path(file).write_text("")
    several = "runs/group holds the runs of several seeds; name one of them: runs/group/seed-3"
    for name, message in (
        ("minee", "no run 'minee'; did you mean 'mine'? see plyground runs"),
        ("nope", "no run 'nope'; see plyground runs"),
        ("folder", "'folder' is no run directory: it has no config.toml"),
        ("mine", "no run 'mine'; did you mean 'runs/mine'? see plyground runs"),
        ("group", "no run 'group'; did you mean 'runs/group'? see plyground runs"),
        ("runs/group", several),
    ):
        assert str(directory.no_run(Path(name))) == message


@pytest.mark.parametrize("name", ["x" * 5000, "x/" * 3000])
def test_a_path_that_is_too_long_is_one_error(name: str) -> None:
    with pytest.raises(Error, match="no run 'x"):
        directory.read_config(Path(name))


def test_checkpoints_by_name(run) -> None:
    with pytest.raises(Error, match="no checkpoint yet"):
        find_checkpoint(run.path, "best")
    for step in (1, 2):
        run.save(step, IDENTITY, groups(), {})
    run.write("best.json", json.dumps({"step": 1}))
    assert [find_checkpoint(run.path, word).step for word in ("best", "last", "2")] == [1, 2, 2]
    with pytest.raises(Error, match="it has: best, last, 1, 2"):
        find_checkpoint(run.path, "7")
