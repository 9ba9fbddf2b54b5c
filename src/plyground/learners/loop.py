"""The loop that every run is: advance, and at a cycle's end look, evaluate and save."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from plyground.agents.agent import make
from plyground.errors import IllegalAction
from plyground.learners import evaluation
from plyground.learners.learner import Broken, Learner
from plyground.runs.directory import Run

Report = Callable[[Mapping[str, Any]], None]
TELL_EVERY = 0.25  # seconds between two looks of whoever watches


def train(learner: Learner[Any], run: Run, report: Report, stop: Callable[[], bool] = lambda: False) -> bool:
    """Play and learn to the end, or until `stop`; either way everything is saved. Says whether it finished."""
    if learner.step == 0:
        learner.save(run)  # before the first update
    told = time.perf_counter()
    while not learner.finished and not stop():
        begun = time.perf_counter()
        learner.clock.start()
        try:
            learner.advance()
        except Broken as error:
            learner.roll_back(run, error)
        except IllegalAction:
            learner.illegal_moves += 1  # one is too many: the run ends, and its metrics say why
            run.log({**learner.place(), "event": "illegal", "illegal_moves": learner.illegal_moves})
            raise
        learner.seconds += time.perf_counter() - begun
        _flush(learner, run, report)
        if learner.cycle_is_full:
            _close_cycle(learner, run, report)
        if time.perf_counter() - told > TELL_EVERY:
            learner.adapt()
            told = time.perf_counter()
            report({"event": "tick", "learner": learner})
    learner.save(run)
    return learner.finished


def _flush(learner: Learner[Any], run: Run, report: Report) -> None:
    for event in learner.events:
        run.log(event)
        report(event)
    learner.events.clear()


def _close_cycle(learner: Learner[Any], run: Run, report: Report) -> None:
    """The cycle's record, and where it is due an evaluation and a checkpoint."""
    records = [learner.end_cycle()]
    if learner.cycle % learner.config.checkpoint_interval == 0 or learner.finished:
        records.append(learner.evaluate())
        _write_games(learner, run)
    for record in records:
        run.log(record)
        report(record)
    if len(records) > 1:
        learner.save(run)


def _write_games(learner: Learner[Any], run: Run) -> None:
    config, agent = learner.config, learner.agent()
    limit, word = config.max_steps or None, config.yardsticks[-1] if config.yardsticks else "random"
    opponent = make(word, learner.game)
    text = evaluation.notation(learner.game, agent, opponent, word, 2, learner.step, limit)
    text += evaluation.notation(learner.game, agent, agent, "the learner", 1, learner.step, limit)
    run.write(f"games/{learner.step}.txt", text)
