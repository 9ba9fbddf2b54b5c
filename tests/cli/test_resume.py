"""What is done with a run afterwards: it is resumed, listed, packed and inspected, as a person does it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from killed import go_on
from plyground.cli.running import set_limits, settings_of
from plyground.cluster import connect
from plyground.learners.training import train
from plyground.runs import trust
from plyground.runs.directory import open_run, read_checkpoint, read_config, steps_of
from resumed import after_steps, contents, silent
from runs_on_disk import read_records
from short_run import ROW


def test_changed_rules_are_said_by_evaluate_and_refused_by_resume(trained: Path, steady_path: Path, command) -> None:
    """The run is copied beside a copy of its game, whose rules are then edited."""
    run, game = steady_path / "run", steady_path / "three_in_a_row.py"
    shutil.copytree(trained, run)
    config = (run / "config.toml").read_text()
    (run / "config.toml").write_text(config.replace(ROW, str(game)))
    game.write_text("# a comment is no change\n" + Path(ROW).read_text())
    code, _, err = command("evaluate", str(run), "random", "--games", "2", "--trust")
    assert code == 0
    assert "changed" not in err
    assert command("resume", str(run))[0] == 0
    game.write_text(Path(ROW).read_text().replace('state["outcome"] = DRAW', 'state["outcome"] = SECOND_WINS'))
    code, _, err = command("evaluate", str(run), "random", "--games", "2")
    assert code == 0
    assert err.count("the rules of three_in_a_row.py have changed since this checkpoint was made") == 1
    code, _, err = command("resume", str(run))
    assert code == 2
    assert "the rules of three_in_a_row.py have changed" in err
    assert "--force resumes it" in err
    code, _, err = command("resume", str(run), "--cycles", "3", "--force")
    assert code == 0, err
    assert "have changed" in err
    code, _, err = command("resume", str(run), "--cycles", "4")
    assert code == 0
    assert "changed" not in err, "new checkpoints carry the new fingerprints"


def test_metrics_for_tensorboard(trained: Path, tmp_path: Path, command) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = shutil.copytree(trained, tmp_path / "run")
    for _ in range(2):  # again replaces what was there
        code, out, _ = command("runs", "tensorboard", str(run))
        assert code == 0
        assert "tensorboard --logdir" in out
    found = EventAccumulator(str(run / "tensorboard")).Reload()
    losses = found.Scalars("cycle/loss")
    wanted = [record for record in read_records(trained) if record["event"] == "cycle"]
    assert [each.step for each in losses] == [record["step"] for record in wanted]
    assert [each.value for each in losses] == pytest.approx([record["loss"] for record in wanted])
    assert len(found.Scalars("evaluation/eval_opponents/random/score")) == 2


def test_metrics_for_tensorboard_while_a_run_goes_on(trained: Path, tmp_path: Path, command) -> None:
    """After a resume, the events are those of the whole run, as an export writes them."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = tmp_path / "run"
    shutil.copytree(trained, run)

    def steps() -> list[int]:
        return [
            event.step
            for event in accumulator.EventAccumulator(str(run / "tensorboard")).Reload().Scalars("cycle/plies")
        ]

    code, out, _ = command("resume", str(run), "--cycles", "3", "--tensorboard", "--trust")
    assert code == 0
    assert f"tensorboard --logdir {run / 'tensorboard'}" in out
    written = steps()
    assert len(written) == 3
    assert command("runs", "tensorboard", str(run))[0] == 0
    assert steps() == written


def files_of(run: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != "lock"}


def test_a_hand_edited_config_is_refused(trained: Path, tmp_path: Path, command) -> None:
    command("runs", "pack", str(trained), str(tmp_path / "x.zip"))
    command("runs", "unpack", str(tmp_path / "x.zip"), str(tmp_path / "run"))
    config = tmp_path / "run" / "config.toml"
    text = config.read_text()
    for edit, message in (
        (text.replace("batch_size = 16", "batch_size = 17"), "batch_size: 17 instead of 16"),
        (text.replace("batch_size = 16", "bach_size = 16"), "did you mean 'batch_size'"),
        (text.replace("batch_size = 16", 'batch_size = "x"'), "of type int"),
        (text.replace("batch_size = 16", "batch_size ="), "is not TOML"),
        (text.replace('network = "16"', 'network = "32"'), "network: "),
        (text.replace('learner = "dqn"', 'learner = "x"'), "no learner"),
        (re.sub("buffer_size = .*", "buffer_size = 2147483648", text), "buffer_size: 2147483648 instead of"),
        (text.replace('init = ""', f'init = "{"x" * 5000}"'), "init: 'xxx"),
        (text.replace('init = ""', 'init = "x\\u0000y"'), "holds a NUL character"),
    ):
        assert edit != text
        config.write_text(edit)
        before = files_of(tmp_path / "run")
        code, _, err = command("resume", str(tmp_path / "run"))
        assert code == 2, edit
        assert message in err
        assert files_of(tmp_path / "run") == before, "a refused resume changes nothing"


def test_a_finished_run_is_trained_longer(trained: Path, tmp_path: Path, command) -> None:
    """In one go, or stopped on the way: the same, bit by bit."""
    whole, parts = (shutil.copytree(trained, tmp_path / name) for name in ("whole", "parts"))
    for limit, message in (
        (["--cycles", "2"], "has done 2 cycles: its end is later, not 2"),
        (["--epochs", "3"], "is set by cycles or seconds, not by epochs"),
        (["--cycles", "-1"], "cycles is a number of at least 0"),
    ):
        code, _, err = command("resume", str(whole), *limit)
        assert (code, message in err) == (2, True), err
    assert (whole / "config.toml").read_text() == (trained / "config.toml").read_text()
    code, out, _ = command("resume", str(whole))
    assert "This run is finished." in out
    assert f"plyground resume {whole} --cycles 4" in out
    code, out, err = command("resume", str(whole), "--cycles", "4")
    assert (code, "cycle 4/4" in out) == (0, True), err
    assert read_config(whole) == read_config(trained) | {"cycles": 4}
    notes = [record["text"] for record in read_records(whole) if record["event"] == "note"]
    assert notes.count("the end of the run has changed: cycles: 4 instead of 2") == 1

    with open_run(parts) as run:
        set_limits(run, {"cycles": 4})  # as if it had been killed just then
    learner, run = go_on(parts, settings_of(parts, {}))
    with run:
        assert not train(learner, run, silent, after_steps(learner, 7))
    code, out, err = command("resume", str(parts))
    assert code == 0, err
    assert contents(whole) == contents(parts)


def test_an_end_that_changes_nothing_is_refused(trained: Path, tmp_path: Path, command) -> None:
    ended = shutil.copytree(trained, tmp_path / "ended")
    config, text = ended / "config.toml", (ended / "config.toml").read_text()
    state = next(ended.glob(f"checkpoints/{max(steps_of(ended))}"))
    done = read_checkpoint(state).state()["parts"]["state"]["seconds"]
    with open_run(ended) as run:
        set_limits(run, {"cycles": 0, "seconds": done / 2})  # as if a clock had ended it
    code, _, err = command("resume", str(ended), "--cycles", "9")
    assert (code, "was ended by its seconds, and still is: give --seconds a later end" in err) == (2, True), err
    assert "cycles = 9" not in config.read_text()
    config.write_text(text.replace('learner = "dqn"', 'learner = "dqn"\nepochs = 3'))
    code, _, err = command("resume", str(ended), "--epochs", "3")
    assert (code, "is set by cycles or seconds, not by epochs" in err) == (2, True), err


KILLED = """
import os, signal, sys
from plyground.cli import app
from plyground.runs.directory import Run
Run.save = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
app.main()
"""


@pytest.mark.parametrize("word", ["imitation", "dqn"])
def test_killed_before_the_first_checkpoint_it_begins_anew(command, tmp_path: Path, monkeypatch, word: str) -> None:
    monkeypatch.chdir(tmp_path)
    few = [ROW, "--network", "8", "--threads", "1", "--out", "run"]
    if word == "imitation":
        collect = ["--games", "20", "--opening-plies", "3", "--threads", "1", "--out", "x.ndjson"]
        assert command("teach", "collect", ROW, *collect)[0] == 0
        arguments = ["train", "imitation", *few, "--data", "x.ndjson", "--epochs", "1"]
    else:
        few += [
            "--num-envs",
            "4",
            "--buffer-size",
            "80",
            "--learning-starts",
            "16",
            "--batch-size",
            "8",
            "--games-per-cycle",
            "8",
        ]
        arguments = ["train", "dqn", *few, "--cycles", "1", "--eval-games", "2", "--eval-opponents", "random"]
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


def test_runs_are_listed_packed_and_inspected(trained: Path, tmp_path: Path, command) -> None:
    code, out, _ = command("runs", "--folder", str(trained.parent), "--json")
    (listed,) = json.loads(out)
    assert (code, listed["run"], listed["learner"], listed["done"], listed["limit"]) == (0, trained.name, "dqn", 2, 2)
    assert 0.0 <= listed["scores"]["random"]["score"] <= 1.0
    code, _, err = command("runs", "inspect", str(trained), "--json")
    assert (code, "--json is for the list of runs" in err) == (2, True)
    code, out, _ = command("runs", "--folder", str(trained.parent))
    assert code == 0
    assert "short" in out
    assert "2/2" in out
    assert command("runs", "pack", str(trained), str(tmp_path / "x.zip"))[0] == 0
    assert command("runs", "pack", str(trained), str(tmp_path / "y.zip"), "--without-replay")[0] == 0
    assert (tmp_path / "y.zip").stat().st_size < (tmp_path / "x.zip").stat().st_size
    assert command("runs", "unpack", str(tmp_path / "x.zip"), str(tmp_path / "again"))[0] == 0
    code, out, _ = command("runs", "inspect", str(tmp_path / "again"))
    assert code == 0
    for words in ("reward variance", "distinct", "action diversity", "commonest actions", "quality"):
        assert words in out
    assert re.search(r"commonest actions.*[0-8] \(\d+\.\d%\)", out)
    assert "quality: mean of decided" in out
    assert "actions: their numbers, from 0" in out
    assert "dqn on three_in_a_row.py. Network 16 (" in out
    assert f"Checkpoints: {', '.join(map(str, steps_of(trained)))}; the best is" in out
    assert command("resume", str(tmp_path / "again"))[0] == 0, "a finished run has nothing left to do"
    assert command("runs", "unpack", str(tmp_path / "y.zip"), str(tmp_path / "light"))[0] == 0
    code, _, err = command("resume", str(tmp_path / "light"))
    assert code == 2
    assert "has no replay.safetensors: " in err


def test_the_list_shows_whole_names_and_what_is_wrong(
    trained: Path,
    tmp_path: Path,
    command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, out, _ = command("runs", "--folder", str(tmp_path / "nothing"))
    assert (code, out) == (0, f"no runs in {tmp_path / 'nothing'}\n")
    long = "a-name-that-says-what-was-tried-with-which-network-and-which-seed-0"
    for name, file, text in (
        (long, "config.toml", None),
        ("no-toml", "config.toml", "cycles ="),
        ("no-json", "metrics.jsonl", "{\n"),
        ("odd-json", "metrics.jsonl", "[3]\n"),
    ):
        shutil.copytree(trained, tmp_path / name)
        if text:
            (tmp_path / name / file).write_text(text)
    code, out, _ = command("runs", "--folder", str(tmp_path))
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "2/2" in lines[long]
    assert "random" in lines[long]
    assert "is not TOML" in lines["no-toml"]
    assert "metrics.jsonl cannot be read" in lines["no-json"]
    assert "is a table of names and values, not [3]" in lines["odd-json"]
    for columns in ("80", "60"):
        monkeypatch.setattr(
            "plyground.cli.terminal.console", Console(force_terminal=True, width=int(columns), highlight=False)
        )
        assert long in command("runs", "--folder", str(tmp_path))[1]


# ---- a cluster that a run names ----


def test_the_cluster_that_a_foreign_run_names_is_not_asked_before_it_is_trusted(
    tmp_path: Path, command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by `resume` nor by `train --profile`; `--on` is the person's own word."""
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(connect, "_answer", lambda *question: asked.append(question) or "UNAVAILABLE")
    monkeypatch.setattr(trust, "_REMEMBERED", set())
    (tmp_path / "private").mkdir(mode=0o700)
    monkeypatch.setattr(trust, "cache_folder", lambda: tmp_path / "private")
    run, few = tmp_path / "run", ["--network", "16+value", "--games-per-cycle", "8", "--num-envs", "4"]
    few += ["--rollout-length", "5", "--batch-size", "4", "--eval-games", "2", "--eval-opponents", "random"]
    code, _, err = command("train", "ppo", ROW, *few, "--threads", "1", "--cycles", "1", "--out", str(run))
    assert code == 0, err
    config = (run / "config.toml").read_text()
    (run / "config.toml").write_text(f'{config}\n[cluster]\non = "ray://127.0.0.1:7"\nactors = 1\n')
    again, new = ["resume", str(run), "--cycles", "2"], ["train", "--profile", str(run), "--out", str(tmp_path / "new")]
    for words in (again, new, ["train", "--profile", str(run / "config.toml"), "--out", str(tmp_path / "new")]):
        code, _, err = command(*words)
        assert (code, asked) == (2, []), err
        assert "would join the cluster ray://127.0.0.1:7, which receives your token: if you trust its author" in err
    for words in (again, new):
        code, _, err = command(*words, "--on", "127.0.0.1:8")
        assert (code, "no cluster answers at 127.0.0.1:8" in err) == (2, True), err
        assert {address for address, _ in asked} == {"127.0.0.1:8"}
    assert command(*again)[0] == 2
    assert {address for address, _ in asked} == {"127.0.0.1:8"}, "its own word was not remembered for the run's"
    for more in (["--trust"], []):
        asked.clear()
        code, _, err = command(*again, *more)
        assert (code, "no cluster answers at ray://127.0.0.1:7" in err, bool(asked)) == (2, True, True), err
