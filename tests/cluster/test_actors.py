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
import torch

from cluster_runs import Notes, cluster_learner, config_of, plain, same, trained
from plyground.cluster import actors as module
from plyground.cluster.actors import Actor, Actors, Task
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import connect
from plyground.cluster.run import on_cluster
from plyground.errors import Error
from plyground.kernels import threads
from plyground.learners.training import train
from plyground.runs.directory import create
from pretended_ray import ObjectLostError, PretendedRay, RayActorError, RayTaskError
from resumed import after_steps

pytestmark = pytest.mark.once
TWO = ClusterConfig(on="ray:nodes=2,cpus=1", actors=2, streams=3, max_staleness=12, deterministic=True, block_rows=8)


class Idle:
    """In place of an actor."""

    def __init__(self, *given: Any) -> None: ...

    def ready(self) -> int:
        return 7

    def play(self, task: Task, weights: Any, before: Any) -> tuple[str, str]:
        return f"block {task.number} after {before}", "stream after it"


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Actors:
    """An actor that plays block 4 of stream 1."""
    monkeypatch.setattr(module, "Actor", Idle)
    actors = Actors(PretendedRay(), 1, ("ppo", {}, 8))
    actors.wait_until_ready()
    actors.submit(Task(4, 1, 1, 0.0), "weights", "stream 1")
    return actors


@pytest.mark.parametrize(
    ("failure", "block"),
    [
        (None, "block 4 after stream 1"),
        (RayActorError("gone"), "block 4 after stream 1"),
        (ObjectLostError(), "block 4 after None"),
        (RayTaskError(ObjectLostError()), "block 4 after None"),
    ],
    ids=["nothing", "its actor", "the block or its stream", "a stream that it needs"],
)
def test_a_block_is_played_again_when_something_was_lost(one: Actors, failure: Any, block: str) -> None:
    """Only where its stream was lost with a node the games begin anew."""
    one.ray.answers["play"] = [failure] if failure else []
    found = [done for _ in range(4) if (done := one.wait(0))]
    assert [(done.task.number, done.block, one.get(done.after)) for done in found] == [(4, block, "stream after it")]
    died = ["actor 0 (process 7) died and is started again; blocks that are played again: 1"]
    assert one.take_notes() == (died if isinstance(failure, RayActorError) else [])
    assert one.alive == 1


def test_an_error_of_ours_in_an_actor_ends_the_run(one: Actors) -> None:
    one.ray.answers["play"] = [RayTaskError(Error("row 3 is odd"))]
    with pytest.raises(Error, match=r"^an actor failed: row 3 is odd$"):
        one.wait(0)


def test_abandoned_blocks_are_not_delivered(one: Actors) -> None:
    one.ray.answers["play"] = [None]
    assert not one.wait(0)
    one.abandon()
    one.ray.answers.clear()
    one.submit(Task(5, 1, 1, 0.0), "weights", "stream 1")
    found = [done for _ in range(3) if (done := one.wait(0))]
    assert [done.task.number for done in found] == [5]


def test_actors_that_are_never_ready_end_the_run_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    monkeypatch.setattr(module, "Actor", Idle)
    ray = PretendedRay()
    ray.answers["ready"] = [None]
    with pytest.raises(Error, match=r"^given up after 0\.05 seconds: 0 of 1 actors are ready; on a new"):
        Actors(ray, 2, ("ppo", {}, 8)).wait_until_ready()


def test_an_actor_plays_with_as_many_threads_as_it_reserves_cpus() -> None:
    """Whatever the learner has: its torch threads are in the settings."""
    name, config = config_of("ppo")
    before = torch.get_num_threads()
    try:
        actor = Actor(name, plain(replace(config, threads=2)), 8)
        assert (torch.get_num_threads(), threads.available()) == (1, 1)
        assert actor.own.games.batch.threads == 1
    finally:
        threads.limit(2**31)
        torch.set_num_threads(before)


@pytest.mark.cluster
def test_an_actor_that_cannot_start_ends_the_run_with_one_sentence() -> None:
    name, config = config_of("ppo")
    with connect("ray:cpus=1") as cluster:
        actors = Actors(cluster.ray, 1, (name, {**plain(config), "game": "nowhere.py"}, 8))
        with pytest.raises(Error, match=r"^an actor cannot start: no game file 'nowhere.py'"):
            actors.wait_until_ready()
        actors.close()


@pytest.mark.slow
def test_actors_that_are_killed_twenty_times_change_nothing(tmp_path: Path) -> None:
    """At random moments: blocks are played again, to the same bytes; not even unfinished games are lost."""
    run, steps, rng = "alphazero, everything", 1500, random.Random(5)
    local = cluster_learner(run)
    alone = trained(run, tmp_path / "alone", local, after_steps(local, steps))
    notes, killed = Notes(), list[int]()
    with on_cluster(*config_of(run), TWO) as learner:
        due = [0.0]

        def stop() -> bool:
            alive = [pid for pid in learner.actors.pids.values() if pid not in killed]
            if len(killed) < 20 and alive and time.monotonic() > due[0]:
                killed.append(rng.choice(alive))
                os.kill(killed[-1], signal.SIGKILL)
                due[0] = time.monotonic() + rng.uniform(0, 0.5)
            if learner.state.step >= steps // 2 and len(killed) < 20:
                time.sleep(0.05)  # the second half begins when all have been killed
            return learner.state.step >= steps

        both = trained(run, tmp_path / "both", learner, stop, notes)
    same(alone, both)
    assert len(killed) == 20
    assert len([note for note in notes if "died and is started again" in note]) == 20


def parent_of(pid: int) -> int:
    found = re.search(r"PPid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_lost_node_is_said_in_one_line_and_the_run_goes_on(tmp_path: Path, capfd: Any) -> None:
    config = replace(TWO, on="ray:nodes=3,cpus=1", actors=3, streams=6, max_staleness=24, deterministic=False)
    notes, (name, settings), lost = Notes(), config_of("ppo"), list[int]()
    settings = replace(settings, cycles=10_000, games_per_cycle=2000)
    with on_cluster(name, settings, config) as learner, create(tmp_path / "run", {"learner": name}) as held:
        actors = learner.actors
        actors.wait_until_ready(3)
        head = actors.ray._private.worker._global_node.all_processes["raylet"][0].process.pid

        def stop() -> bool:
            if learner.state.step >= 30 and not lost:
                lost.append(next(node for pid in actors.pids.values() if (node := parent_of(pid)) != head))
                os.kill(lost[0], signal.SIGKILL)  # the node's own process: its actors end with it
            return any("was lost" in note for note in notes)

        train(learner, held, notes, stop)
        step = learner.state.step
        train(learner, held, notes, after_steps(learner, 300))
        assert (actors.alive, learner.state.step) == (2, step + 300)
    (line,) = (note for note in notes if "was lost" in note)
    assert "Raylet" not in capfd.readouterr().out
    assert re.match(r"node [0-9a-f]{12} was lost: the run goes on with 2 actors", line)
