"""Runs on a cluster of two nodes on this machine: the same as in one process, and whatever dies is replaced."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cluster_runs import cluster_learner, config_of, plain
from plyground.cluster.actors import RayActors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import connect
from plyground.cluster.learner import ClusterLearner
from plyground.cluster.run import on_cluster
from plyground.errors import Error
from plyground.learners.training import train
from plyground.runs.directory import create
from resumed import after_steps, contents, silent

pytestmark = pytest.mark.once
STEPS = 60
TWO = ClusterConfig(on="ray", actors=2, streams=3, max_staleness=12, deterministic=True, block_rows=8)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with connect("ray:nodes=2,cpus=1") as found:
        yield found


def trained(run: str, path: Path, learner: ClusterLearner, stop: Callable[[], bool], emit: Any = silent) -> Any:
    """What a run leaves; times and places aside."""
    name, config = config_of(run)
    with create(path, {"learner": name, **asdict(config)}) as held:
        train(learner, held, emit, stop)
    found = contents(path)
    for record in found["metrics"]:
        for each in ("positions_per_second", "seconds_waited", "actors"):
            record.pop(each, None)
    found["metrics"] = [record for record in found["metrics"] if record["event"] != "note"]
    return found


@pytest.mark.parametrize("run", ["alphazero, everything", pytest.param("ppo", marks=pytest.mark.cluster)])
def test_two_actors_on_two_nodes_leave_what_one_process_leaves_bit_by_bit(
    cluster: Any, run: str, tmp_path: Path
) -> None:
    """Even if an actor is killed meanwhile."""
    local = cluster_learner(run)
    alone = trained(run, tmp_path / "alone", local, after_steps(local, STEPS))
    notes: list[str] = []

    def emit(event: Any) -> None:
        if event["event"] == "note":
            notes.append(event["text"])

    with on_cluster(*config_of(run), TWO) as learner:
        learner.actors.wait_until_ready(2)
        killed: list[int] = []

        def stop() -> bool:
            actors = learner.actors.actors
            if learner.state.step == STEPS // 2 and not killed:
                assert len({actor.node for actor in actors}) == 2
                killed.append(actors[0].pid)
                os.kill(killed[0], signal.SIGKILL)
            return learner.state.step >= STEPS

        both = trained(run, tmp_path / "both", learner, stop, emit)
    assert alone.keys() == both.keys()
    for each, values in alone.items():
        assert values == both[each], each
    assert any(f"(process {killed[0]}) died and is replaced" in note for note in notes), notes


@pytest.mark.cluster
def test_actors_that_cannot_begin_end_the_run_with_one_sentence(cluster: Any) -> None:
    name, config = config_of("ppo")
    actors = RayActors(cluster.ray, 1, name, {**plain(config), "game": "nowhere.py"}, 8)
    with pytest.raises(Error, match=r"^3 actors in a row died before they were ready: .*no file 'nowhere.py'"):
        actors.wait_until_ready()
    actors.close()
