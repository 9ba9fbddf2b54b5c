"""The commands that learn from a teacher, as a person uses them."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from conftest import ROOT
from plyground.report import table as table_report
from plyground.report.run import advice, save_curves
from plyground.runs.directory import read_config, read_metrics, steps_of

pytestmark = pytest.mark.compiled
ROW = ["--game", str(ROOT / "examples" / "three_in_a_row.py")]


def test_from_a_teacher_to_a_report_and_on(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = command(
        "teach", "collect", *ROW, "--games", "60", "--opening-plies", "3", "--threads", "1", "--out", "data/x.ndjson.gz"
    )
    assert code == 0, err
    assert "positions of 60 games" in out
    assert "positions a second by minimax:depth=2" in out
    code, out, _ = command("teach", "inspect", *ROW, "data/x.ndjson.gz")
    assert code == 0
    assert "entropy of policies" in out
    small = ["--network", "16", "--epochs", "2", "--threads", "1"]
    code, out, err = command("teach", "imitate", *ROW, "--data", "data/x.ndjson.gz", *small)
    assert code == 0, err
    assert "epoch 2/2" in out
    run = Path("runs/three_in_a_row-imitation")
    assert [each["epoch"] for each in read_metrics(run)] == [0, 1, 2]
    code, out, _ = command("teach", "verify", str(run), "--games", "2")
    assert code == 0
    assert "| after imitation | random |" in out
    assert (run / "verify.md").read_text() in out + "\n"
    Path("empty.ndjson").touch()
    code, _, err = command("teach", "verify", str(run), "--data", "empty.ndjson")
    assert code == 2
    assert "empty.ndjson holds no examples" in err
    code, _, err = command("runs", "tensorboard", str(run))
    assert code == 0, err
    few = ["--data", "data/x.ndjson.gz", "--network", "16", "--outputs", "3", "--threads", "1", "--out", "runs/few"]
    code, _, err = command("teach", "imitate", *ROW, *few)
    assert code == 2
    assert "only 3 outputs" in err
    assert not Path("runs/few").exists(), "nothing could go on with it"
    code, out, _ = command("runs")
    assert "imitate" in out
    code, out, _ = command("evaluate", str(run), "--games", "4", "--json")
    assert code == 0
    code, out, _ = command("resume", str(run))
    assert code == 0, "a run that is finished has nothing to do"
    assert f"plyground resume {run} --epochs N" in out
    code, _, err = command("resume", str(run), "--epochs", "2")
    assert (code, "has done 2 epochs: its end is later, not 2" in err) == (2, True)
    code, _, err = command("resume", str(run), "--cycles", "9")
    assert (code, "known: epochs" in err) == (2, True)
    code, out, err = command("resume", str(run), "--epochs", "3")
    assert (code, "epoch 3/3" in out) == (0, True), err
    assert read_config(run)["epochs"] == 3
    held = (run / "held_out.safetensors").read_bytes()
    data = gzip.decompress(Path("data/x.ndjson.gz").read_bytes())
    first = data.splitlines(keepends=True)[0]
    Path("data/x.ndjson.gz").write_bytes(gzip.compress(data + first.replace(b'"game_id":', b'"game_id": 1', 1)))
    before = sorted(path.name for path in run.iterdir())
    code, _, err = command("resume", str(run), "--epochs", "4")
    assert code == 2, err
    assert (run / "held_out.safetensors").read_bytes() == held, "what was refused has changed nothing"
    assert sorted(path.name for path in run.iterdir()) == before
    Path("data/x.ndjson.gz").write_bytes(gzip.compress(data))
    patience = ["--network", "16", "--epochs", "9", "--patience", "1", "--lr", "0", "--threads", "1", "--out", "runs/p"]
    code, out, err = command("teach", "imitate", *ROW, "--data", "data/x.ndjson.gz", *patience)
    assert (code, "epoch 1/9" in out, "epoch 2/9" in out) == (0, True, False), err
    code, out, err = command("resume", "runs/p", "--epochs", "10")
    assert (code, "epoch 2/10" in out) == (0, True), err
    tuned = ["--network", "16", "--dueling", "--init", str(run), "--cycles", "1", "--games-per-cycle", "8"]
    tuned += ["--concurrency", "4", "--memory", "80", "--warm-up", "16", "--batch", "8", "--evaluation-games", "2"]
    tuned += ["--shaping", "0.5", "--imitation-bonus", "0.1", "--yardsticks", "random", "--threads", "1"]
    code, _, err = command("train", "dqn", *ROW, *tuned, "--out", "runs/tuned")
    assert code == 0, err
    assert steps_of(Path("runs/tuned"))
    code, out, err = command("teach", "verify", "runs/tuned", "--games", "2")
    assert code == 0, err
    assert "| after fine-tuning | after imitation |" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["collect", "--game", "nothing"], "no game"),
        (["collect", "--game", "paco_sako"], "nobody can teach paco_sako"),
        (["collect", "--teacher", "wndow", "--game", "sequence"], "did you mean 'window'"),
        (["collect", "--games", "0"], "games is a number of at least 1"),
        (["collect", "--depth", "99"], "looks 1 to 40 plies"),
        (["collect", "--tau", "-1"], "tau is a number of at least 0"),
        (["collect", "--game", "connect_four", "--out", "."], "cannot write .: it is a folder"),
        (["inspect", "nothing.ndjson"], "cannot read nothing.ndjson"),
        (["inspect", "."], "cannot read .: it is a folder"),
        (["inspect", "/dev/null/foo"], "cannot read /dev/null/foo: Not a directory"),
        (["imitate", "--data", ".", "--threads", "1"], "cannot read .: it is a folder"),
        (["imitate"], "needs a dataset"),
        (["imitate", "--data", "nothing.ndjson", "--threads", "1"], "cannot read nothing.ndjson"),
        (["imitate", "--data", "x", "--network", "nothing"], "no network"),
        (["imitate", "--data", "x", "--bad-lines", "eat"], "bad-lines"),
        (["verify", "nowhere"], "is no run"),
        (["verify", "nowhere", "--games", "3"], "games is even"),
        (["dance"], "dance"),
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
    code, _, err = command("teach", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_epochs_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command) -> None:
    (tmp_path / "config.toml").write_text('learner = "imitate"\n')
    records = [
        {"event": "epoch", "step": k, "seconds": k / 2, "loss": 2.0 - k, "kl": 1.0 - k / 2, "match@1": 0.5 + k / 4}
        for k in range(2)
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    drawn: list[Figure] = []
    with monkeypatch.context() as patch:
        patch.setattr(table_report, "save_figure", lambda _, figure: drawn.append(figure))
        save_curves(tmp_path / "x.png", [tmp_path])
    left, right = drawn[0].axes
    assert [np.array(line.get_ydata()).tolist() for line in left.lines] == [[0.5, 0.75]]
    assert [np.array(line.get_ydata()).tolist() for line in right.lines] == [[2.0, 1.0], [1.0, 0.5]]
    for out in ("/nope/x.png", str(tmp_path / "x.nothing")):
        code, _, err = command("plot", str(tmp_path), "--out", out)
        assert code == 2
        assert f"cannot write {out}" in err


def test_a_table_is_not_advised_to_have_a_wider_network() -> None:
    weak = {"random": {"score": 0.5}}
    assert "wider network" in advice({"network": "16"}, [], weak)[0]
    assert "a higher alpha, or another key" in advice({}, [], weak)[0]


def test_the_bootstrap_profile_says_what_it_needs(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = command("train", "dqn", "--profile", "chess_dqn_imitation_bootstrap", "--threads", "1")
    assert code == 2
    assert "'runs/chess-imitation' is no run to begin with" in err
    assert "plyground teach imitate" in err


KILLED = """
import os, signal, sys
from plyground import cli
from plyground.runs.directory import Run
Run.save = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
cli.main()
"""


@pytest.mark.parametrize("word", ["imitate", "dqn"])
def test_killed_before_the_first_checkpoint_it_begins_anew(command, tmp_path: Path, monkeypatch, word: str) -> None:
    monkeypatch.chdir(tmp_path)
    few = [*ROW, "--network", "8", "--threads", "1", "--out", "run"]
    if word == "imitate":
        collect = ["--games", "20", "--opening-plies", "3", "--threads", "1", "--out", "x.ndjson"]
        assert command("teach", "collect", *ROW, *collect)[0] == 0
        arguments = ["teach", "imitate", *few, "--data", "x.ndjson", "--epochs", "1"]
    else:
        few += ["--concurrency", "4", "--memory", "80", "--warm-up", "16", "--batch", "8", "--games-per-cycle", "8"]
        arguments = ["train", "dqn", *few, "--cycles", "1", "--evaluation-games", "2", "--yardsticks", "random"]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (Path("run") / "config.toml").exists()
    assert not steps_of(Path("run"))
    code, _, err = command("resume", "run")
    assert code == 2
    assert "run has no checkpoint yet; if nothing works on it, begin it again with --out run" in err
    code, out, err = command(*arguments)
    assert code == 0, err
    assert "run was begun before, but stopped before its first checkpoint: begun anew." in out
    code, _, err = command(*arguments)
    assert code == 2
    assert "run exists already" in err


def test_bad_data_leaves_no_run_behind(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.ndjson").write_text('{"fen": 1}\n')
    code, _, err = command("teach", "imitate", "--data", "x.ndjson", "--threads", "1", "--out", "run")
    assert code == 2
    assert "x.ndjson, line 1: the field 'side' is missing" in err
    assert not Path("run").exists()
    assert Path("x.ndjson.rejected").exists()
