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
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from cluster_runs import cluster_learner, config_of, plain, same, trained
from plyground.cluster.actors import ANYWHERE, RayActor, RayActors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import connect
from plyground.cluster.feed import Task
from plyground.cluster.run import on_cluster
from plyground.errors import Error
from plyground.kernels import threads
from plyground.learners.training import train
from plyground.runs.directory import create
from resumed import after_steps

pytestmark = pytest.mark.once
TWO = ClusterConfig(on="ray:nodes=2,cpus=1", actors=2, streams=3, max_staleness=12, deterministic=True, block_rows=8)


class Failure(Exception):
    def __init__(self, text: str = "", cause: Exception | None = None) -> None:
        super().__init__(text)
        self.cause = cause


class RayActorError(Failure): ...


class ObjectLostError(Failure): ...


class RayTaskError(Failure): ...


class FakeRay:
    """Ray with actors that do nothing: a test says what comes of each block."""

    exceptions = SimpleNamespace(
        RayActorError=RayActorError, ObjectLostError=ObjectLostError, RayTaskError=RayTaskError
    )

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.submitted: list[tuple[str, Any]] = []  # reference to a block, and what its stream was before it
        self.started = 0
        self.places: list[Any] = []  # where each actor should be
        self.killed: list[Any] = []

    def remote(self, kind: type) -> Any:
        def options(scheduling_strategy: Any, **_: Any) -> Any:
            self.places.append(scheduling_strategy)
            return SimpleNamespace(remote=self.start)

        return SimpleNamespace(options=options)

    def start(self, *given: Any) -> Any:
        self.started += 1
        ready = f"ready {self.started}"
        self.answers[ready] = ("node", self.started)
        play = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.play))
        return SimpleNamespace(place=SimpleNamespace(remote=lambda: ready), play=play)

    def play(self, task: Any, weights: Any, before: Any) -> tuple[str, str]:
        ref = f"block {task[0]}, try {len(self.submitted)}"
        self.submitted.append((ref, before))
        return ref, f"stream after {task[0]}"

    def wait(self, refs: list[str], num_returns: int, timeout: float) -> tuple[list[str], list[str]]:
        return [ref for ref in refs if ref in self.answers], []

    def get(self, ref: str) -> Any:
        if isinstance(self.answers[ref], Exception):
            raise self.answers[ref]
        return self.answers[ref]

    def kill(self, handle: Any) -> None:
        self.killed.append(handle)

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "node", "Alive": True}]


def pretended() -> tuple[FakeRay, RayActors]:
    """An actor that plays block 4 of stream 1."""
    ray = FakeRay()
    actors = RayActors(ray, 1, "ppo", {}, 8)
    actors.wait_until_ready()
    actors.submit(Task(4, 1, 1, 0.0, 0), "weights", "stream 1")
    return ray, actors


def test_a_block_comes_with_its_stream() -> None:
    ray, actors = pretended()
    assert not actors.wait(0)
    ray.answers["block 4, try 0"] = b"block"
    (done,) = actors.wait(0)
    assert (done.task.number, done.block, done.after) == (4, b"block", "stream after 4")


def test_the_games_of_a_stream_that_was_lost_with_its_node_begin_anew() -> None:
    for error in (ObjectLostError(), RayTaskError("", ObjectLostError())):
        ray, actors = pretended()
        ray.answers["block 4, try 0"] = error
        assert not actors.wait(0)
        assert ray.submitted == [("block 4, try 0", "stream 1"), ("block 4, try 1", None)]
    ray, actors = pretended()
    ray.answers["stream"] = ObjectLostError()
    assert actors.get("stream") is None


def test_an_actor_out_of_reach_is_replaced_and_its_block_played_again() -> None:
    ray, actors = pretended()
    ray.answers["block 4, try 0"] = RayActorError("gone")
    assert not actors.wait(0)
    assert (ray.started, len(ray.killed), actors.alive) == (2, 1, 0)
    assert not actors.wait(0)
    assert ray.submitted == [("block 4, try 0", "stream 1"), ("block 4, try 1", "stream 1")]
    assert actors.take_notes() == ["actor 0 (process 1) died and is replaced; 1 blocks are played again"]


def test_an_error_of_ours_in_an_actor_ends_the_run() -> None:
    ray, actors = pretended()
    ray.answers["block 4, try 0"] = RayTaskError("Traceback\nplyground.errors.BrokenGame: row 3 is odd", ValueError())
    with pytest.raises(Error, match=r"^an actor failed: row 3 is odd$"):
        actors.wait(0)


def test_abandoned_blocks_are_not_delivered() -> None:
    ray, actors = pretended()
    actors.abandon()
    ray.answers["block 4, try 0"] = b"block"
    assert not actors.wait(0)
    actors.submit(Task(5, 1, 1, 0.0, 0), "weights", "stream 1")
    ray.answers["block 5, try 1"] = b"another"
    assert [done.task.number for done in actors.wait(0)] == [5]


def test_actors_that_are_never_ready_end_the_run_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()
    actors = RayActors(ray, 2, "ppo", {}, 8)
    ray.answers.clear()
    monkeypatch.setattr("plyground.cluster.actors.PATIENCE", 0.05)
    with pytest.raises(Error, match=r"^given up after 0\.05 seconds: 0 of 1 actors are ready; on a new"):
        actors.wait_until_ready()


def test_one_actor_at_a_time_is_in_the_room_that_the_run_holds() -> None:
    """Also when that one has died, or another."""
    ray = FakeRay()
    actors = RayActors(ray, 3, "ppo", {}, 8, room="reserved")
    assert ray.places == ["reserved", ANYWHERE, ANYWHERE]
    actors.wait_until_ready(3)
    for number, place in ((0, "reserved"), (1, ANYWHERE)):
        actor = next(each for each in actors.actors if each.number == number)
        actors._replace(actor, RayActorError("gone"))
        assert ray.places[-1] == place


def test_an_actor_plays_with_as_many_threads_as_it_reserves_cpus() -> None:
    """Whatever the learner has: its torch threads are in the settings."""
    name, config = config_of("ppo")
    before = torch.get_num_threads()
    try:
        actor = RayActor(name, plain(replace(config, threads=2)), 8)
        assert (torch.get_num_threads(), threads.available()) == (1, 1)
        assert actor.player.player.games.batch.threads == 1
    finally:
        threads.limit(2**31)
        torch.set_num_threads(before)


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
