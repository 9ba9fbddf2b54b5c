"""The wheel: built by `python -m build`'s steps, complete, and able to play in an environment without PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from plyground.games import GAMES

pytestmark = pytest.mark.slow


def run(*words: str | Path, cwd: Path, typed: str = "") -> str:
    """What a program prints that does not see this source folder."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words], input=typed, capture_output=True, text=True, check=False, cwd=cwd, env=alone
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the source folder."""
    folder = tmp_path_factory.mktemp("wheel")
    tracked = run("git", "ls-files", cwd=ROOT).splitlines()
    for name in tracked:
        if name.startswith("src/") or "/" not in name:
            (folder / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "copy" / name).write_bytes((ROOT / name).read_bytes())
    run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, folder / "copy", cwd=folder
    )
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    tracked = run("git", "ls-files", "src/plyground", cwd=ROOT).splitlines()
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {name.removeprefix("src/") for name in tracked} <= held
    assert not [name for name in held if name.startswith("tests")]


def test_the_wheel_plays_every_game_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    python = tmp_path / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    plyground = tmp_path / "empty" / "bin" / "plyground"
    found = run(plyground, "doctor", cwd=tmp_path)
    assert all(name in found for name in GAMES)
    assert "not installed: torch" in found
    for name in GAMES:
        assert '"games": 4' in run(
            plyground, "match", name, "random", "level:2", "--games", "4", "--json", cwd=tmp_path
        )
    assert "bestmove" in run(plyground, "uci", cwd=tmp_path, typed="isready\ngo nodes 100\n")
