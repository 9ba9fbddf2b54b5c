"""Actors and nodes that die during a run."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster_runs import cluster_learner, config_of, plain, same, trained
from plyground.cluster.actors import RayActors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import connect
from plyground.cluster.run import on_cluster
from plyground.errors import Error
from plyground.learners.training import train
from plyground.runs.directory import create
from resumed import after_steps

pytestmark = pytest.mark.once
TWO = ClusterConfig(on="ray:nodes=2,cpus=1", actors=2, streams=3, max_staleness=12, deterministic=True, block_rows=8)


@pytest.mark.cluster
def test_actors_that_cannot_begin_end_the_run_with_one_sentence() -> None:
    name, config = config_of("ppo")
    with connect("ray:cpus=1") as cluster:
        actors = RayActors(cluster.ray, 1, name, {**plain(config), "game": "nowhere.py"}, 8)
        with pytest.raises(Error, match=r"^3 actors in a row died before they were ready: no game file 'nowhere.py'"):
            actors.wait_until_ready()
        actors.close()


@pytest.mark.slow
def test_actors_that_are_killed_twenty_times_change_nothing(tmp_path: Path) -> None:
    """At random moments: blocks are played again, to the same bytes; not even unfinished games are lost."""
    run, steps, rng = "alphazero, everything", 1500, random.Random(5)
    local = cluster_learner(run)
    alone = trained(run, tmp_path / "alone", local, after_steps(local, steps))
    notes: list[str] = []
    killed: list[int] = []
    with on_cluster(*config_of(run), TWO) as learner:
        group: Any = learner.actors
        due = [0.0]

        def stop() -> bool:
            alive = [actor.pid for actor in group.actors if actor.starting is None and actor.pid not in killed]
            if len(killed) < 20 and alive and time.monotonic() > due[0]:
                killed.append(rng.choice(alive))
                os.kill(killed[-1], signal.SIGKILL)
                due[0] = time.monotonic() + rng.uniform(0, 0.5)
            if learner.state.step >= steps // 2 and len(killed) < 20:
                time.sleep(0.05)  # the second half begins when all have been killed
            return learner.state.step >= steps

        def emit(event: Any) -> None:
            notes.extend([event["text"]] if event["event"] == "note" else [])

        both = trained(run, tmp_path / "both", learner, stop, emit)
    same(alone, both)
    assert len(killed) == 20
    assert sum("died and is replaced" in note for note in notes) == 20


def parent_of(pid: int) -> int:
    found = re.search(r"PPid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_lost_node_is_said_in_one_line_and_the_run_goes_on(tmp_path: Path, capfd: Any) -> None:
    config = replace(TWO, on="ray:nodes=3,cpus=1", actors=3, streams=6, max_staleness=24, deterministic=False)
    notes: list[str] = []
    name, settings = config_of("ppo")
    settings = replace(settings, cycles=10_000, games_per_cycle=2000)
    with on_cluster(name, settings, config) as learner, create(tmp_path / "run", {"learner": name}) as held:
        group: Any = learner.actors
        group.wait_until_ready(3)
        lost: list[str] = []

        def stop() -> bool:
            if learner.state.step >= 30 and not lost:
                head = group.ray.get_runtime_context().get_node_id()
                actor = next(each for each in group.actors if each.node != head)
                lost.append(actor.node)
                os.kill(parent_of(actor.pid), signal.SIGKILL)  # the node's own process: its actors end with it
            return any("was lost" in note for note in notes)

        def emit(event: Any) -> None:
            notes.extend([event["text"]] if event["event"] == "note" else [])

        train(learner, held, emit, stop)
        step = learner.state.step
        train(learner, held, emit, after_steps(learner, 300))
        assert (group.alive, learner.state.step) == (2, step + 300)
    (line,) = (note for note in notes if "was lost" in note)
    assert "Raylet" not in capfd.readouterr().out
    assert line.startswith(f"node {lost[0][:12]} was lost: the run goes on with 2 actors")
