"""What several files of tests here share: a trained run, and lines as people type them."""

from __future__ import annotations

import functools
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tyro

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


@pytest.fixture
def answer(command, run: Path) -> Callable[[str], str]:
    """Runs a line that means another, and returns that one as the error names it."""

    def meant(typed: str) -> str:
        code, out, err = command(*shlex.split(typed))
        assert (code, out) == (2, "")
        assert err.endswith("\n")
        return err[:-1].rpartition(": plyground ")[2]

    return meant


@pytest.fixture
def accept(command, run: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[int, str, str]]:
    """Runs a line until it would begin to train, collect, play or measure."""
    parse = tyro.cli
    monkeypatch.setattr("plyground.cli.training._train_new", lambda *_, **__: True)
    monkeypatch.setattr("plyground.cli.seeds.train_seeds", lambda *_: None)
    monkeypatch.setattr("plyground.cli.pipeline._run_stage", lambda *_: True)
    monkeypatch.setattr("plyground.cli.teach.collect_into", lambda *_: True)
    monkeypatch.setattr("plyground.cli.runs._evaluate_run", lambda *_: {"against": {}})
    monkeypatch.setattr("plyground.backend.device.choose", lambda _: ("cpu", ""))  # also for --device cuda

    def only_parse(function: Callable[..., None], **how: Any) -> None:
        def nothing(*_: Any, **__: Any) -> None:
            """Whatever the command does."""

        begins = function.__name__ in ("train", "collect", "evaluate")
        parse(function if begins else functools.wraps(function)(nothing), **how)

    monkeypatch.setattr(tyro, "cli", only_parse)
    return lambda line: command(*shlex.split(line))
