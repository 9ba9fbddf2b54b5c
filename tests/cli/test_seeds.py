"""Training of several seeds, as a person uses it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT
from plyground.runs.directory import read_config, steps_of

ROW = str(ROOT / "examples" / "three_in_a_row.py")
TRAIN = ["train", "tabular", ROW, "--cycles", "1", "--games-per-cycle", "30", "--num-envs", "8", "--eval-games", "4"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seeds 3 and 4, trained by a process of its own."""
    path = tmp_path_factory.mktemp("runs") / "group"
    begun = [sys.executable, "-m", "plyground", *TRAIN, "--seed", "3", "--seeds", "2", "--out", str(path)]
    done = subprocess.run(begun, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for words in ("seed 4 (2 of 2)", "# group (2 seeds): tabular on three_in_a_row.py", "lowest", "evaluate"):
        assert words in done.stdout, words
    return path


@pytest.fixture
def group(trained: Path, tmp_path: Path) -> Path:
    """A copy of them, to change."""
    return shutil.copytree(trained, tmp_path / "group")


def test_each_seed_is_a_run_and_all_have_a_report(trained: Path, command) -> None:
    assert [read_config(trained / f"seed-{seed}")["seed"] for seed in (3, 4)] == [3, 4]
    assert (trained / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "95% interval" in (trained / "report.md").read_text()
    if sys.platform != "win32":
        assert {(trained / name).stat().st_mode & 0o777 for name in ("curves.png", "report.md")} == {0o600}
    assert "group/seed-4" in command("runs", "--folder", str(trained.parent))[1]


def test_a_group_is_evaluated_with_mean_and_interval(trained: Path, command) -> None:
    code, out, _ = command("evaluate", str(trained), "random", "--games", "10", "--json")
    found = json.loads(out)
    assert code == 0
    scores = [one["against"]["random"]["score"] for one in found["runs"]]
    assert len(scores) == 2
    assert found["mean"]["random"]["score"] == pytest.approx(sum(scores) / 2)
    assert found["mean"]["random"]["lowest"] == min(scores)
    code, out, _ = command("evaluate", str(trained / "seed-3"), str(trained / "seed-4"), "random", "--games", "10")
    assert code == 0
    assert "Student's interval" in out


def test_a_group_is_drawn_and_reported(group: Path, tmp_path: Path, command) -> None:
    assert command("plot", str(group), "--out", str(tmp_path / "x.png"))[0] == 0
    code, out, _ = command("report", str(group))
    assert code == 0
    assert out.strip() == (group / "report.md").read_text().strip()
    code, out, _ = command("report", str(group), "--games", "20")
    assert code == 0
    assert "measured during the runs, without --games 20" in out
    assert f"plyground evaluate {group} --games 20" in out
    (group / "seed-3" / "report.md").unlink()
    code, out, err = command("report", str(group / "seed-3"), "--games", "4")
    assert "plyground: measuring the best version: 4 games against each of " in err
    assert code == 0
    assert "wins, draws, losses of 4" in out
    assert (group / "seed-3" / "report.md").exists()


def test_the_same_command_goes_on_where_it_stopped(group: Path, command) -> None:
    before = (group / "seed-3" / "metrics.jsonl").read_bytes()
    (group / "seed-4" / "report.md").unlink()  # as if it had been stopped
    code, out, _ = command(*TRAIN, "--seed", "3", "--seeds", "3", "--out", str(group))
    assert code == 0
    assert "seed 3 (1 of 3) is finished" in out
    assert "# group (3 seeds)" in out
    assert (group / "seed-3" / "metrics.jsonl").read_bytes() == before
    assert steps_of(group / "seed-5")


def test_a_group_is_trained_longer(group: Path, command) -> None:
    code, out, _ = command("resume", str(group), "--cycles", "2")
    assert code == 0
    assert out.count("cycle 2/2: ") == 2, "one line for each cycle"
    assert "# group (2 seeds)" in out
    code, out, _ = command("resume", str(group))
    assert code == 0
    assert "cycle" not in out, "all seeds are finished"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seeds", "0"], "seeds is from 1 to 1000, not 0"),
        (["--parallel", "2"], "--parallel 2 is about several seeds"),
        (["--seeds", "2", "--parallel", "3"], "at most all of them: not of --seeds 2"),
        (["--seeds", "2", "--seed", "3", "--alpha", "0.5", "--out", "{group}"], "alpha: 0.5 instead of 0.1"),
        (["--seeds", "2", "--out", "{group}/seed-3"], "is one run: the runs of several seeds need another --out"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(trained: Path, command, words: list[str], message: str) -> None:
    code, _, err = command(*TRAIN, *(word.format(group=trained) for word in words))
    assert code == 2
    assert message in err


def test_runs_of_different_games_have_no_mean_and_are_drawn_in_rows(group: Path, tmp_path: Path, command) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("config.toml", "metrics.jsonl"):
        (other / name).write_text((group / "seed-3" / name).read_text().replace(ROW, "chess"))
    code, _, err = command("evaluate", str(group), str(other))
    assert code == 2
    assert f"these runs have learned {ROW} and chess: evaluate the runs of one game" in err
    small, tall = tmp_path / "small.svg", tmp_path / "tall.svg"
    assert command("plot", str(group), "--out", str(small))[0] == 0
    assert command("plot", str(group), str(other), "--out", str(tall))[0] == 0
    heights = [float(path.read_text().split('height="')[1].partition("pt")[0]) for path in (small, tall)]
    assert heights[1] == 2 * heights[0]


@pytest.mark.slow
def test_seeds_are_trained_side_by_side_and_ctrl_c_saves_them_all(tmp_path: Path) -> None:
    folder = tmp_path / "group"
    words = [*TRAIN[:3], "--seconds", "600", "--games-per-cycle", "30", "--eval-games", "4", "--num-envs", "8"]
    begun = [sys.executable, "-m", "plyground", *words, "--seeds", "3", "--parallel", "2", "--out", str(folder)]
    with subprocess.Popen(begun, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not all(steps_of(folder / f"seed-{seed}") for seed in (0, 1)):
            assert process.poll() is None
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    assert "seed 0: Stopped and saved" in out
    assert "seed 1: Stopped and saved" in out
    assert "Not all seeds are finished. Continue with:" in out
    assert not (folder / "seed-2").exists()
