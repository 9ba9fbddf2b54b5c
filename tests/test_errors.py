"""What people are told to type works where they are; without the extras, all but learning works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from plyground import errors

BARE = """
import sys

class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("torch", "safetensors", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing)
from plyground.cli import app
for line in sys.stdin.read().splitlines():
    sys.argv = ["plyground", *line.split()]
    try:
        app.main()
        print("went well")
    except SystemExit as end:
        print("exit code", end.code)
"""


def test_one_thing_is_told_in_the_singular() -> None:
    assert errors.counted(1, "loss") == "1 loss"
    assert errors.counted(0, "loss") == "0 losses"
    assert [errors.counted(number, "ply") for number in (1, 2, 1200)] == ["1 ply", "2 plies", "1,200 plies"]
    assert errors.counted(3, "more move") == "3 more moves"
    assert errors.counted(2, "inaccuracy") == "2 inaccuracies"


def without_extras(*commands: str) -> subprocess.CompletedProcess[str]:
    """Run commands where nothing of the extra `learn` is installed."""
    return subprocess.run(
        [sys.executable, "-c", BARE], input="\n".join(commands), capture_output=True, text=True, check=False
    )


def test_all_but_learning_works_without_the_extras() -> None:
    commands = [
        "games",
        "play connect_four --seed 1",  # nothing is typed: it says good-bye
        "match random greedy --games 2",
        "solve 4453",
        "grade random --positions 5 --games 2",
        "ladder random greedy --games 2",
        "bench rules --seconds 0.02 --batch 8",
        "perft connect_four --depth 2",
    ]
    done = without_extras(*commands)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("went well") == len(commands), done.stderr
    assert "Good-bye" in done.stdout


def test_what_needs_the_extras_says_how_to_install_them() -> None:
    run = ROOT / "src" / "plyground" / "trained" / "connect_four"
    commands = ["train dqn", f"match run:{run} random", "grade random --positions 5 --picture x.png"]
    commands += ["play connect_four trained"]  # before the first board
    done = without_extras(*commands)
    assert done.stdout.count("exit code 2") == len(commands)
    missing = [line.partition("this needs ")[2] for line in done.stderr.splitlines()]
    assert [line.split(",")[0] for line in missing] == ["torch", "torch", "matplotlib", "torch"]
    assert "to move" not in done.stdout
    how = "in Plyground's folder: pip install -c constraints.txt -e '.[{}]'"
    for line, extra in zip(missing, ("learn", "learn", "pictures", "learn"), strict=True):
        assert how.format(extra) in line
    assert (ROOT / "constraints.txt").is_file()


TRAIN_WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import plyground as pg
for use in (lambda: pg.train("dqn", "connect_four"), lambda: pg.agent("trained", "connect_four")):
    try:
        use()
    except pg.Error as error:
        print(error)
"""


def test_python_says_it_too() -> None:
    done = subprocess.run([sys.executable, "-c", TRAIN_WITHOUT_TORCH], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"this needs torch, which is not installed; {errors.install('learn')}"] * 2


def test_commands_are_shown_as_they_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "plyground"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bin/plyground", "train", "dqn"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert errors.command("resume", Path("runs/a b")) == "bin/plyground resume 'runs/a b'"
    monkeypatch.setenv("PATH", str(program.parent))
    assert errors.command("resume", Path("runs/x-1")) == "plyground resume runs/x-1"
    monkeypatch.setattr(sys, "argv", [str(ROOT / "src" / "plyground" / "__main__.py"), "games"])
    monkeypatch.setattr(sys, "orig_argv", [".venv/bin/python", "-m", "plyground", "games"])
    assert errors.command("play") == ".venv/bin/python -m plyground play"
    monkeypatch.setattr(sys, "argv", ["my_script.py"])
    assert errors.command("play") == "plyground play"
