"""Work that a test kills from outside; a module of its own, so that another process finds it."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path
from typing import Any

from plyground.learners import LEARNERS
from plyground.learners.training import save, train
from plyground.runs.directory import Run, newest_whole, read_config, steps_of
from plyground.runs.settings import build
from resumed import begin, resume, silent
from runs_on_disk import read_records


def go_on(path: Path, config: dict[str, Any] | None = None) -> tuple[Any, Run]:
    """A run where its newest checkpoint left it, with its saved settings or with others."""
    entry = LEARNERS[read_config(path)["learner"]]
    return resume(path, build(entry.config, config or newest_whole(path).state()["config"], "the checkpoint"))


def work(path: str) -> None:
    learner, run = go_on(Path(path))
    train(learner, run, silent)


def kill_again_and_again(path: Path, config: Any, kills: int) -> None:
    """Kill a run at random moments: nothing that was saved is lost, and every cycle is recorded once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["killed"])
    learner, run = begin(path, config)
    with run:
        save(learner, run)
    chance, seen, metrics = random.Random(5), 0, path / "metrics.jsonl"
    for kill in range(kills):
        size = metrics.stat().st_size
        process = context.Process(target=work, args=(str(path),))
        process.start()
        while process.is_alive() and metrics.stat().st_size == size:  # it has begun
            time.sleep(0.01)
        while process.is_alive() and kill % 3 == 0 and steps_of(path)[-1] <= seen:  # now and then it gets ahead
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.join()
        checkpoint = newest_whole(path)
        assert checkpoint.step >= seen, "nothing that was saved is lost"
        learner, run = go_on(path)
        with run:
            records = [r for r in read_records(path) if r["event"] == "cycle"]
            assert [r["cycle"] for r in records] == list(range(1, learner.state.cycle + 1)), "each cycle once"
        seen = checkpoint.step
    assert seen > 0
