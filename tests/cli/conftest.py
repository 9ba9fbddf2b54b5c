"""What several files of tests here share: a trained run, and one that is only named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from short_run import train_command


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run, trained by a process of its own; tests copy it before they change it."""
    path = tmp_path_factory.mktemp("runs") / "short"
    done = subprocess.run(train_command(path, 2, "-v"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path / "printed").write_text(done.stdout)
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in runs/, beside which commands are typed."""
    monkeypatch.chdir(tmp_path)
    path = Path("runs") / "x"
    (path / "checkpoints" / "12").mkdir(parents=True)
    (path / "config.toml").write_text('learner = "dqn"\ngame = "chess"\n')
    return path
