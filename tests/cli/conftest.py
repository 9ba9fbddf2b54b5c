"""A run that several files of tests here look at."""

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
