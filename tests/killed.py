"""Work that a test kills from outside; a module of its own, so that another process finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plyground.cli.training import LEARNERS
from plyground.learners.loop import train
from plyground.runs.directory import Run, newest_whole, open_run, read_config
from plyground.runs.settings import build


def go_on(path: Path, config: dict[str, Any] | None = None) -> tuple[Any, Run]:
    """A run where its newest checkpoint left it, with the settings of then or with others."""
    run = open_run(path)
    checkpoint = newest_whole(path)
    settings, learner_of = LEARNERS[read_config(path)["learner"]]
    learner = learner_of(build(settings, config or checkpoint.state()["config"], "the checkpoint"))
    run.rewind(checkpoint)
    learner.restore(checkpoint)
    return learner, run


def work(path: str) -> None:
    learner, run = go_on(Path(path))
    train(learner, run, lambda record: None)
