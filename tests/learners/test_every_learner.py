"""Every learner on every game: it learns something, and plays nothing illegal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.training import LEARNERS
from plyground.errors import Error
from plyground.runs.directory import create, newest_whole

COMMON: dict[str, Any] = {"concurrency": 8, "max_steps": 20, "games_per_cycle": 1000, "yardsticks": ("random",)}
NETWORK: dict[str, Any] = {"threads": 1, "entropy_floor": 0.0}
OWN: dict[str, dict[str, Any]] = {
    "dqn": {"network": "16", "memory": 2000, "warm_up": 64, "batch": 16, **NETWORK},
    "reinforce": {"network": "16+value", "rollout": 20, **NETWORK},
    "a2c": {"network": "16+value", "rollout": 2, **NETWORK},
    "ppo": {"network": "16+value", "rollout": 4, "batch": 16, **NETWORK},
    "tabular": {},
}


def knowledge(learner: Any) -> list[bytes]:
    """What it has learned so far, to compare."""
    group = learner.groups()["table" if "table" in learner.groups() else "network"]
    return [np.ascontiguousarray(values).tobytes() for values in group.values()]


@pytest.mark.parametrize("word", LEARNERS)
def test_fifty_updates(word: str, game: pg.Game) -> None:
    settings, learner_of = LEARNERS[word]
    config = settings(game=str(game), **COMMON, **OWN[word])
    if word == "tabular" and game.rules.hidden and "sequence" not in str(game):
        with pytest.raises(Error, match="hides something from its players"):
            config.resolved()
        return
    learner = learner_of(config.resolved())
    before, steps = knowledge(learner), 0
    while learner.updates < 50 and steps < 2000:
        learner.advance()
        steps += 1
    assert learner.updates >= 50
    assert knowledge(learner) != before
    assert learner.illegal_moves == 0  # and no step has raised


@pytest.mark.parametrize("word", ["dqn", "reinforce", "ppo"])
def test_the_learning_rate_after_a_resume_is_that_of_a_run_that_never_stopped(word: str, tmp_path: Path) -> None:
    """In the second half of a run, where it falls; also between two rollouts."""
    settings, learner_of = LEARNERS[word]
    own = {**COMMON, "games_per_cycle": 100, "cycles": 1, **OWN[word], "entropy_floor": 0.0}
    through: Any = learner_of(settings(game=str(ROOT / "examples" / "three_in_a_row.py"), **own).resolved())
    rates: set[float] = set()
    with create(tmp_path / "run", {}) as run:
        while through.tally.games < 90:
            through.advance()
            if through.step % 7 == 0:
                through.save(run)
                again: Any = learner_of(through.config)
                again.restore(newest_whole(run.path))
                (now,) = {through.learning_rate, again.learning_rate}
                rates.add(now)
    assert len(rates) > 2
    assert min(rates) < 0.5 * through.config.learning_rate == 0.5 * max(rates)
