"""The commands around tables, as a person uses them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from conftest import ROOT
from forged import change_tensors
from plyground.cli import runs
from plyground.models import ntuple_explained
from plyground.runs import trust
from plyground.runs.directory import read_config, steps_of
from runs_on_disk import add_cycle, new_run, read_records

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SHORT = ["--cycles", "2", "--games-per-cycle", "60", "--num-envs", "8", "--eval-games", "4"]
SHORT += ["--eval-opponents", "random", "--opening-plies", "2"]
CTRL_C = """
import os, signal
from plyground.cli import app
from plyground.arena import match
real, calls = match._act, []
def pressed(*arguments):
    calls.append(1)
    if len(calls) == 7:
        os.kill(os.getpid(), signal.SIGINT)
    return real(*arguments)
match._act = pressed
app.main()
"""


@pytest.fixture
def trained(tmp_path: Path, command) -> Path:
    path = tmp_path / "run"
    code, out, err = command("train", "tabular", ROW, *SHORT, "-v", "--method", "sarsa", "--out", str(path))
    assert code == 0, err
    for words in ("cycle 2/2", "td_error", "Table of", "exact-v1", f"play {ROW} run:{path}"):
        assert words in out, words
    return path


def test_a_run_is_resumed_inspected_and_played(trained: Path, command) -> None:
    assert read_config(trained)["key"] == "exact-v1"
    assert (trained / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert command("resume", str(trained))[0] == 0, "a finished run has nothing left to do"
    code, out, _ = command("runs", "inspect", str(trained))
    assert code == 0
    assert "visited once" in out
    code, out, _ = command("evaluate", str(trained), "random", "--games", "4", "--json")
    assert code == 0
    assert json.loads(out)["against"]["random"]["games"] == 4
    last = steps_of(trained)[-1]
    code, out, _ = command("match", ROW, f"run:{trained},learn=true", "random", "--games", "10", "--json")
    assert code == 0
    assert steps_of(trained)[-1] == last + 1


def test_ctrl_c_in_a_match_keeps_what_was_learned(trained: Path) -> None:
    last, arguments = steps_of(trained)[-1], ["match", ROW, f"run:{trained},learn=true", "random"]
    done = subprocess.run([sys.executable, "-c", CTRL_C, *arguments], capture_output=True, check=False)
    assert done.returncode == 130, done.stderr
    assert steps_of(trained)[-1] == last + 1
    assert "games of a match" in read_records(trained)[-1]["text"]


def test_leaving_a_game_keeps_what_was_learned(trained: Path, command, monkeypatch: pytest.MonkeyPatch) -> None:
    last, cells = steps_of(trained)[-1], [column + row for row in "123" for column in "abc"]

    def typed(*_: object, **__: object) -> str:
        if len(cells) < 7:  # the agent has been asked twice, at least
            raise KeyboardInterrupt
        return cells.pop(0)

    monkeypatch.setattr("rich.console.Console.input", typed)
    code, out, err = command("play", ROW, f"run:{trained},learn=true", "--side", "second", "--seed", "1")
    assert code == 0, err
    assert "Good-bye" in out
    assert steps_of(trained)[-1] == last + 1


def test_a_table_in_words(trained: Path, command) -> None:
    code, out, _ = command("table", str(trained), "--top", "3", "--checkpoint", "last")
    assert code == 0
    assert "most visited" in out
    assert "visited once" in out
    code, out, _ = command("table", str(trained), "--top", "3", "--checkpoint", "last", "--json")
    found = json.loads(out)
    visits = [row["visits"] for row in found["most visited"]]
    assert len(visits) == 3
    assert visits == sorted(visits, reverse=True)
    assert found["entries"] > 3
    row = found["most visited"][0]
    assert len(row["state"]) == 9, "a board"
    assert len(row["action"]) == 2, "a cell"


@pytest.fixture
def tuples(tmp_path: Path, command) -> Path:
    """A short run of n-tuples."""
    path = tmp_path / "tuples"
    words = ["--tuples", "4", "--length", "3", "--eval-opponents", "random", "--eval-games", "4", "--threads", "1"]
    code, _, err = command("train", "td", ROW, "--cycles", "1", "--games-per-cycle", "2000", *words, "--out", str(path))
    assert code == 0, err
    return path


def test_patterns_on_the_board(tuples: Path, tmp_path: Path, command) -> None:
    picture = tmp_path / "x.png"
    code, out, err = command("table", str(tuples), "--top", "2", "--picture", str(picture))
    assert code == 0, err
    assert out.count("adds +") + out.count("adds -") == 4
    assert re.search(r"3( · |\[.\]){3}", out), "a row of the board"
    assert "second to move, values for first" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    first, second = json.loads(command("table", str(tuples), "--json")[1])
    assert first["title"] == "first to move, values for first"
    weights = [abs(each["weight"]) * each["share"] ** 0.5 for each in second["patterns"]]
    assert weights
    assert {len(each["cells"]) for each in second["patterns"]} == {3}
    assert set(second["patterns"][0]["cells"].values()) <= {"empty", "first disc", "second disc"}


def test_why_a_run_of_tuples_likes_a_move(tuples: Path, command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ntuple_explained, "LEAST_CELLS", 3)
    monkeypatch.setattr(ntuple_explained, "AGREEING", 0.0)
    monkeypatch.setattr(ntuple_explained, "OUTLYING", 0.1)
    for agent in (f"run:{tuples}", f"minimax:model={tuples},nodes=200"):
        code, out, err = command("analyse", ROW, "--agent", agent, "--position", "xo.......")
        assert code == 0, err
        assert re.search(r"Why [abc][123]: the network's value after it without a marked cell\n3 .*\n2 .*\n1.*", out)
        marked, told = (
            re.findall(r"\[[●○ ]\]", out),
            re.findall(r"[abc][123] \(\w+ disc\): \d\.\d\d \w+ without it", out),
        )
        assert len(marked) == len(told) > 0
        found = json.loads(command("analyse", ROW, "--agent", agent, "--position", "xo.......", "--json")[1])
        assert len(found["moves"][0]["reasons"]) == len(told)
    assert command("analyse", ROW, "--agent", f"run:{tuples}", "--time", "1")[0] == 2


def test_without_a_reason_nothing_is_said(tuples: Path, command) -> None:
    code, out, _ = command("analyse", ROW, "--agent", f"run:{tuples}")
    assert (code, "Why" in out) == (0, False)


def test_six_pictures_of_one_run_and_curves_of_two(trained: Path, tmp_path: Path, command) -> None:
    for paths in ([str(trained)], [str(trained), str(trained)]):
        code, _, err = command("plot", *paths, "--out", str(tmp_path / "x.png"))
        assert code == 0, err
        assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_a_table_has_none_to_show(trained: Path, tmp_path: Path, command) -> None:
    (tmp_path / "config.toml").write_text('learner = "dqn"\ngame = "sequence"\n')
    code, _, err = command("table", str(tmp_path))
    assert (code, "was trained by dqn, not with a table" in err) == (2, True)
    assert command("table", str(trained), "--top", "0")[0] == 2
    assert command("table", str(trained), "--picture", str(tmp_path / "x.png"))[0] == 2


# ---- runs of somebody else ----


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who has trained and trusted nothing yet; compiled games are kept elsewhere."""
    monkeypatch.setattr(trust, "_REMEMBERED", set())
    monkeypatch.setattr(trust, "cache_folder", lambda: private_folder(tmp_path))


def private_folder(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir(mode=0o700, exist_ok=True)
    return tmp_path / "private"


def test_code_and_programs_of_a_foreign_run_wait_for_trust(trained: Path, tmp_path: Path, command, stranger) -> None:
    again = tmp_path / "again"
    assert command("runs", "pack", str(trained), str(tmp_path / "run.zip"))[0] == 0
    assert command("runs", "unpack", str(tmp_path / "run.zip"), str(again))[0] == 0
    (again / "evil.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'evil')!r}).touch()\n")
    config = again / "config.toml"
    config.write_text(config.read_text().replace(ROW, "evil.py"))
    for words in (["evaluate"], ["resume"], ["table"], ["train", "--profile"]):
        code, _, err = command(*words, str(again))
        assert (code, "would run the game file" in err) == (2, True), err
    for words in (["match", "connect_four", f"run:{again}", "random"], ["play", "connect_four", f"run:{again}"]):
        assert command(*words)[0] == 2
    code, out, err = command("runs", "inspect", str(again))
    assert (code, "visited once" in out) == (0, True), err
    assert not (tmp_path / "evil").exists(), "nothing was imported"
    (again / "evil.py").write_text(Path(ROW).read_text())
    assert command("table", str(again))[0] == 2, "another content needs trust of its own"
    assert "Error" not in command("table", str(again), "--trust")[2]
    config.write_text(config.read_text().replace('opponents = ["1 self"]', 'opponents = ["1 uci:/evil"]'))
    code, _, err = command("resume", str(again), "--cycles", "3", "--force")
    assert (code, "would run the program uci:/evil" in err) == (2, True), err


def test_forged_positions_of_a_foreign_run_reach_no_compiled_code(trained: Path, command, stranger) -> None:
    trust.remember(trust.named(trained, {}, Path(ROW)))  # a game file that this user knows
    last = trained / "checkpoints" / str(steps_of(trained)[-1])
    whole = {path.name: path.read_bytes() for path in last.iterdir()}
    change_tensors(last / "replay.safetensors", lambda old: {"games.states": np.full_like(old["games.states"], 255)})
    learning = "match", ROW, f"run:{trained},learn=true", "random", "--games", "2"
    for words in (("resume", str(trained), "--cycles", "3"), learning):
        code, _, err = command(*words)
        assert (code, "unchecked: if it is your own, `plyground resume" in err) == (2, True), err
    for name, content in whole.items():
        (last / name).write_bytes(content)
    assert command("evaluate", str(trained), "random", "--games", "2")[0] == 0, "anybody's can be played"
    assert command("resume", str(trained), "--cycles", "3")[0] == 2
    assert command("resume", str(trained), "--cycles", "3", "--mine")[0] == 0
    assert command("resume", str(trained), "--cycles", "4")[0] == 0, "the new checkpoint is this user's own"


@pytest.mark.parametrize("name", ["[red]", "[bold]:smile:\\[b"])
def test_paths_are_shown_as_they_are(trained: Path, tmp_path: Path, command, name: str) -> None:
    (tmp_path / "[").mkdir()
    odd = trained.rename(tmp_path / "[" / name)  # "[/[red]" would close a style that was never opened
    for words in (["runs", "inspect"], ["evaluate"], ["table"]):
        code, out, err = command(*words, str(odd), *(["random", "--games", "2"] if words == ["evaluate"] else []))
        assert code == 0, err
    assert name in command("runs", "inspect", str(odd))[1].replace("\n", "")
    code, out, err = command("match", ROW, f"run:{odd}", "random", "--games", "2")
    assert code == 0, err
    assert name in out.replace("\n", "")
    assert name in command("runs", "--folder", str(tmp_path / "["))[1]


SCORES = ("random 82%", "greedy 14%", "minimax:depth=3 5%")


def show_list(folder: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], str]:
    """The lines of the list of runs in a terminal of that width, and what stands below it."""
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, color_system=None, width=width, highlight=False, markup=False)
    monkeypatch.setattr("plyground.cli.terminal.console", terminal)
    runs.runs(folder=folder)
    table, _, below = shown.getvalue().partition("Best step:")
    return table.splitlines(), below


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Runs with the long names that seeds have, and one that cannot be read."""
    for seed in range(2):
        run = new_run(tmp_path, f"connect_four-ppo-1/seed-{seed}")
        scores = {each.split()[0]: {"score": int(each.split()[1][:-1]) / 100, "low": 0, "high": 1} for each in SCORES}
        add_cycle(run, 1)
        (run / "best.json").write_text(json.dumps({"step": 123_456, "eval_opponents": scores}))
    (new_run(tmp_path, "damaged") / "best.json").write_text("[]")
    return tmp_path


@pytest.mark.parametrize(("width", "is_table"), [(200, True), (80, False), (40, False)])
def test_the_list_of_runs_fits_the_terminal_and_breaks_no_score(
    listed: Path, monkeypatch: pytest.MonkeyPatch, width: int, is_table: bool
) -> None:
    lines, below = show_list(listed, width, monkeypatch)
    text = "\n".join(lines)
    assert (lines[0].split()[-1] == "scores") == is_table, text
    assert all(len(line) <= width for line in lines if "cycles" not in line and "best.json" not in line), text
    assert all(text.count(score) == 2 for score in SCORES), text
    assert all(fact in text for fact in ("best.json", "ppo", "connect_four", "123456")), text
    assert all(f"connect_four-ppo-1/seed-{seed}" in text for seed in range(2)), text
    assert "the last that did not lose its match against the best before it" in below


@pytest.mark.parametrize("line", ["report", "table", "evaluate", "resume"])
def test_a_command_without_a_run_is_answered_with_an_example(command, run: Path, line: str) -> None:
    code, _, err = command(line)
    assert (code, err.count("\n"), f"plyground {line} runs/x" in err) == (2, 1, True), err


@pytest.mark.parametrize(
    "line", ["report {}", "table {}", "evaluate {}", "runs diff {} x", "runs inspect {}", "watch run:{}", "play run:{}"]
)
def test_a_misspelt_run_is_answered_with_the_nearest_one(command, run: Path, line: str) -> None:
    run.rename("runs/mine")
    code, _, err = command(*line.format("minee").split())
    assert (code, err) == (2, "plyground: no run 'minee'; did you mean 'mine'? see plyground runs\n")


@pytest.mark.parametrize("words", [["evaluate"], ["resume"], ["table"], ["runs", "inspect"], ["plot"]])
def test_a_path_that_is_too_long_is_one_error(command, words: list[str]) -> None:
    for path in ("x" * 5000, "x/" * 3000):
        code, _, err = command(*words, path)
        assert (code, err.count("\n")) == (2, 1), err


def test_an_agent_or_game_with_a_path_that_is_too_long_is_one_error(command) -> None:
    for words in (["match", "connect_four", f"run:{'x' * 5000}", "random"], ["games", "x" * 5000 + ".py"]):
        code, _, err = command(*words)
        assert (code, err.count("\n")) == (2, 1), err
