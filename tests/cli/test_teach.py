"""The commands about teachers, and learning from their datasets, as a person uses them."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, TINY
from plyground.learners.config import DQN
from plyground.learners.defaults import resolve
from plyground.runs.directory import newest_whole, read_config, steps_of
from plyground.runs.settings import build, profile, to_toml
from run_pages import blocks_of
from runs_on_disk import read_records

pytestmark = pytest.mark.compiled
ROW = str(ROOT / "examples" / "three_in_a_row.py")
DATA = "x.ndjson.gz"
SMALL = ["--data", DATA, "--network", "16", "--threads", "1"]


def run(folder: Path, *arguments: str) -> str:
    """What a command prints, in a process of its own."""
    line = [sys.executable, "-m", "plyground", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, and a run that has learned from it for two epochs."""
    path = tmp_path_factory.mktemp("taught")
    few = ["--games", "60", "--opening-plies", "3", "--threads", "1"]
    out = run(path, "teach", "collect", ROW, *few, "--out", DATA)
    assert "positions of 60 games" in out
    assert "positions a second by minimax:depth=2" in out
    out = run(path, "train", "imitation", ROW, *SMALL, "--epochs", "2", "--out", "run")
    assert "epoch 2/2" in out
    assert "teach verify run" in out
    return path


@pytest.fixture
def taught(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the current folder."""
    shutil.copytree(folder, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return Path("run")


def test_a_dataset_is_described(taught: Path, command) -> None:
    for given in ([ROW, DATA], [DATA, "--game", ROW]):
        code, out, _ = command("teach", "inspect", *given)
        assert code == 0
        assert "entropy of policies" in out


def test_a_dataset_is_packed_unless_its_name_says_otherwise(taught: Path, command) -> None:
    code, out, err = command("teach", "collect", ROW, "--games", "60", "--opening-plies", "3", "--threads", "1")
    assert (code, "data/teacher.packed: " in out) == (0, True), err
    forms = ["data/teacher.packed", "a.ndjson", "b.csv", "c.packed"]
    for source, target in itertools.pairwise(forms):
        code, out, err = command("teach", "convert", source, target, "--game", ROW)
        assert (code, f"{target}: " in out, "positions" in out) == (0, True, True), err
    assert Path("c.packed").read_bytes() == Path(forms[0]).read_bytes()
    described = {form: command("teach", "inspect", form, "--game", ROW)[1].splitlines()[5:] for form in forms[1:]}
    assert len({tuple(lines) for lines in described.values()}) == 1
    few = ["--network", "16", "--threads", "1", "--epochs", "1"]
    for form in forms:
        code, out, err = command("train", "imitation", ROW, "--data", form, *few, "--out", f"of-{Path(form).name}")
        assert code == 0, err
    weights = [newest_whole(Path(f"of-{Path(form).name}")).path for form in forms]
    assert len({(path / "network.safetensors").read_bytes() for path in weights}) == 1, "all forms teach the same"


def test_an_imitation_is_a_run_like_any_other(taught: Path, command) -> None:
    assert [each["epoch"] for each in read_records(taught) if each["event"] == "epoch"] == [0, 1, 2]
    report = (taught / "report.md").read_text()
    assert report.startswith("# run: imitation on three_in_a_row.py")
    assert "2 epochs of " in report
    assert "match@1" in report
    assert (taught / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "imitation" in command("runs", "--folder", ".")[1]
    assert command("runs", "tensorboard", "run")[0] == 0
    code, out, _ = command("evaluate", "run", "random", "--games", "4", "--json")
    assert (code, json.loads(out)["against"]["random"]["games"]) == (0, 4)


def test_what_was_learned_is_verified(taught: Path, command) -> None:
    code, out, _ = command("teach", "verify", "run", "--games", "2")
    assert code == 0
    assert "| after imitation | random |" in out
    assert (taught / "verify.md").read_text() in out + "\n"
    Path("empty.ndjson").touch()
    code, _, err = command("teach", "verify", "run", "--data", "empty.ndjson")
    assert code == 2
    assert "empty.ndjson holds no examples" in err


def test_a_run_that_cannot_begin_leaves_nothing(taught: Path, command) -> None:
    before = sorted(path.name for path in Path().iterdir())
    code, _, err = command("train", "imitation", ROW, *SMALL, "--outputs", "3", "--out", "runs/few")
    assert code == 2
    assert "only 3 outputs" in err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_finished_imitation_is_resumed_with_a_later_end(taught: Path, command) -> None:
    code, out, err = command("resume", "run")
    assert code == 0, err
    assert "plyground resume run --epochs 4" in out
    for limit, message in (
        (["--epochs", "2"], "has done 2 epochs: its end is later, not 2"),
        (["--cycles", "9"], "is set by epochs, not by cycles"),
    ):
        code, _, err = command("resume", "run", *limit)
        assert (code, message in err) == (2, True), err
    code, out, err = command("resume", "run", "--epochs", "3")
    assert (code, "epoch 3/3" in out) == (0, True), err
    assert read_config(taught)["epochs"] == 3


def test_other_data_are_refused_and_change_nothing(taught: Path, command) -> None:
    data = gzip.decompress(Path(DATA).read_bytes())
    first = data.splitlines(keepends=True)[0]
    Path(DATA).write_bytes(gzip.compress(data + first.replace(b'"game_id":', b'"game_id": 1', 1)))
    before = {path.name: path.read_bytes() for path in taught.iterdir() if path.is_file()}
    code, _, err = command("resume", "run", "--epochs", "4")
    assert code == 2, err
    assert {path.name: path.read_bytes() for path in taught.iterdir() if path.is_file()} == before


def test_patience_ends_a_run_and_a_later_end_continues_it(taught: Path, command) -> None:
    more = ["--epochs", "9", "--patience", "1", "--learning-rate", "0", "--out", "p"]
    code, out, err = command("train", "imitation", ROW, *SMALL, *more)
    assert (code, "epoch 1/9" in out, "epoch 2/9" in out) == (0, True, False), err
    code, out, err = command("resume", "p", "--epochs", "10")
    assert (code, "epoch 2/10" in out) == (0, True), err


def test_a_network_is_tuned_and_compared(taught: Path, command) -> None:
    tuned = ["--network", "16", "--dueling", "--init", "run", "--cycles", "1", "--games-per-cycle", "8"]
    tuned += ["--num-envs", "4", "--buffer-size", "80", "--learning-starts", "16", "--batch-size", "8"]
    tuned += ["--eval-games", "2", "--eval-opponents", "random", "--threads", "1"]
    tuned += ["--shaping-coef", "0.5", "--imitation-coef", "0.1"]
    code, _, err = command("train", "dqn", ROW, *tuned, "--out", "tuned")
    assert code == 0, err
    assert steps_of(Path("tuned"))
    code, out, err = command("teach", "verify", "tuned", "--games", "2")
    assert code == 0, err
    assert "| after fine-tuning | after imitation |" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["teach", "collect", "--game", "nothing"], "no game"),
        (["teach", "collect", TINY[0]], "has no teacher"),
        (["teach", "collect", "--teacher", "wndow", "--game", "sequence"], "did you mean 'window'"),
        (["teach", "collect", "--games", "0"], "games is a number of at least 1"),
        (["teach", "collect", "--depth", "99"], "looks 1 to 40 plies"),
        (["teach", "collect", "--temperature", "-1"], "temperature is a number of at least 0"),
        (["teach", "collect", "--game", "connect_four", "--out", "."], "cannot write .: it is a folder"),
        (["teach", "inspect", "nothing.ndjson"], "cannot read nothing.ndjson"),
        (["teach", "inspect", "."], "cannot read .: it is a folder"),
        (["teach", "inspect", "/dev/null/foo"], "cannot read /dev/null/foo: Not a directory"),
        (["train", "imitation", "--data", ".", "--threads", "1"], "cannot read .: it is a folder"),
        (["train", "imitation"], "needs a dataset"),
        (["train", "imitation", "--data", "nothing.ndjson", "--threads", "1"], "cannot read nothing.ndjson"),
        (["train", "imitation", "--data", "x", "--network", "nothing"], "no network"),
        (["train", "imitation", "--data", "x", "--bad-lines", "eat"], "bad-lines"),
        (["teach", "verify", "nowhere"], "no run 'nowhere'; see "),
        (["teach", "verify", "nowhere", "--games", "3"], "games is even"),
        (["teach", "dance"], "dance"),
    ],
)
def test_bad_input_is_one_clear_error(
    command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = command(*arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_bootstrap_profile_says_what_it_needs(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = command("train", "--profile", "chess_dqn_imitation_bootstrap", "--threads", "1")
    assert code == 2
    assert "no imitation run in runs has game=chess dueling=False encoder=flat839-v1 network=512-256-128" in err
    assert "plyground train imitation" in err
    assert not list(tmp_path.iterdir())


def test_latest_is_the_newest_imitation_run_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = profile("chess_dqn_imitation_bootstrap")
    fits = {name: table[name] for name in ("game", "network", "outputs")} | {"encoder": "flat839-v1", "dueling": False}
    made = {
        "old": {"learner": "imitation", **fits},
        "chess_dqn_original-1/imitation": {"learner": "imitation", **fits},
        "another_network": {"learner": "imitation", **fits, "network": "64"},
        "another_learner": {"learner": "dqn", **fits},
    }
    for when, (name, config) in enumerate(made.items()):
        run = Path("runs") / name
        run.mkdir(parents=True)
        (run / "config.toml").write_text(to_toml(config))
        (run / "best.json").write_text("{}")
        os.utime(run / "config.toml", (when, when))
    Path("runs/damaged").mkdir()
    Path("runs/damaged/config.toml").write_text("=")
    Path("runs/damaged/best.json").write_text("{}")
    said: list[str] = []
    config = resolve(build(DQN, {n: v for n, v in table.items() if n not in ("learner", "verbose")}, ""), said.append)
    assert config.init == "runs/chess_dqn_original-1/imitation"
    assert said == [f"begins with {config.init}, the newest imitation run of this network"]


@pytest.mark.slow
def test_the_first_lines_of_the_chess_page_run_one_after_another_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "documents" / "chess_dqn.md").read_text(encoding="utf-8")
    outs = list[str]()
    for line in blocks_of(page, "sh")[0].splitlines()[:3]:
        code, out, err = command(*shlex.split(line.partition(" #")[0])[1:])
        assert code == 0, err
        outs.append(out)
    assert f"begins with {Path('runs/chess_dqn_original-1/imitation')}" in outs[-1]
