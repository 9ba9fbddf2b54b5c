"""A learner whose games are played elsewhere: checkpoints, counts and metrics."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cluster_runs import RUNS, cluster_learner, config_of
from plyground.cluster.learner import results_of
from plyground.learners import training
from plyground.learners.state import Diverged
from plyground.learners.training import train
from plyground.runs.directory import create, newest_whole, open_run
from resumed import after_steps, contents, silent

pytestmark = pytest.mark.once


@pytest.mark.parametrize("run", RUNS)
def test_a_stopped_run_continues_exactly(run: str, tmp_path: Path) -> None:
    """As every run of one machine does; in deterministic mode."""
    name, config = config_of(run)

    def begin(path: Path) -> Any:
        return create(path, {"learner": name, **asdict(config)})

    learner = cluster_learner(run)
    with begin(tmp_path / "whole") as held:
        train(learner, held, silent, after_steps(learner, 60))
    learner = cluster_learner(run)
    with begin(tmp_path / "parts") as held:
        train(learner, held, silent, after_steps(learner, 30))
    again = cluster_learner(run)
    with open_run(tmp_path / "parts") as held:
        training.load(again, held)
        held.rewind(newest_whole(tmp_path / "parts"))
        train(again, held, silent, after_steps(again, 30))
    assert again.state.updates > 0
    whole, parts = (contents(tmp_path / each) for each in ("whole", "parts"))
    for each in (whole, parts):
        for record in each["metrics"]:
            for timed in ("positions_per_second", "seconds_waited", "staleness", "bytes_per_position"):
                record.pop(timed, None)
    assert whole.keys() == parts.keys()
    for each, values in whole.items():
        assert values == parts[each], each


def test_a_checkpoint_of_a_cluster_continues_on_one_machine_and_back(tmp_path: Path) -> None:
    name, config = config_of("alphazero")
    learner = cluster_learner("alphazero", deterministic=False)
    with create(tmp_path / "run", {"learner": name, **asdict(config)}) as held:
        train(learner, held, silent, after_steps(learner, 30))
        alone = type(learner.learner)(config)
        training.load(alone, held)
        assert len(alone.replay) == len(learner.learner.replay)
        train(alone, held, silent, after_steps(alone, 20))
        again = cluster_learner("alphazero", deterministic=False)
        training.load(again, held)
        train(again, held, silent, after_steps(again, 20))
    assert again.state.step == 70


def test_games_are_counted_and_metrics_say_what_the_cluster_did(tmp_path: Path) -> None:
    name, config = config_of("ppo")
    learner, events = cluster_learner("ppo"), list[Any]()
    with create(tmp_path / "run", {"learner": name, **asdict(config)}) as held:
        train(learner, held, events.append, lambda: learner.state.cycle >= 2)
    cycle = next(event for event in events if event["event"] == "cycle")
    assert cycle["games"] >= config.games_per_cycle
    assert cycle["actors"] == 1
    assert cycle["positions_per_second"] > 0
    assert 0 < cycle["staleness"] <= 2
    assert 10 < cycle["bytes_per_position"] < 100
    assert learner.cycle.cluster().startswith("actors: 1 · ")
    assert results_of(learner.learner).games < config.games_per_cycle


def test_a_run_that_diverges_goes_back_to_its_checkpoint_and_on(tmp_path: Path) -> None:
    name, config = config_of("ppo")
    learner = cluster_learner("ppo")
    with create(tmp_path / "run", {"learner": name, **asdict(config)}) as held:
        train(learner, held, silent, after_steps(learner, 30))
        while learner.state.step < 47:
            learner.state.step += learner.iterate() is not None
        training.roll_back(learner, held, Diverged("the loss is nan"))
        assert (learner.state.step, learner.state.rollbacks) == (30, 1)
        train(learner, held, silent, after_steps(learner, 20))
    assert learner.state.step == 50
