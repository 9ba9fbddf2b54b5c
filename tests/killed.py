"""Work that a test kills from outside; a module of its own, so that another process finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plyground.learners import LEARNERS
from plyground.learners.training import train
from plyground.runs.directory import Run, newest_whole, read_config
from plyground.runs.settings import build
from resumed import resume, silent


def go_on(path: Path, config: dict[str, Any] | None = None) -> tuple[Any, Run]:
    """A run where its newest checkpoint left it, with its saved settings or with others."""
    entry = LEARNERS[read_config(path)["learner"]]
    return resume(path, build(entry.config, config or newest_whole(path).state()["config"], "the checkpoint"))


def work(path: str) -> None:
    learner, run = go_on(Path(path))
    train(learner, run, silent)
