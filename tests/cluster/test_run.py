"""Runs on a cluster of two nodes on this machine: the same as in one process; resumed, stopped, improving; and the room
that they ask for."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cluster_runs import Notes, cluster_learner, config_of, folders, kept, processes, same, trained
from plyground.agents.registry import load_run, make
from plyground.arena.match import play_match
from plyground.cluster import run as module
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import Cluster, NoCluster, connect
from plyground.cluster.run import gpus_of_each, on_cluster, room
from plyground.learners.defaults import resolve
from plyground.learners.training import train
from plyground.runs.directory import create, steps_of
from resumed import after_steps, silent
from runs_on_disk import read_records
from small_runs import PPO_SOLVES, short

pytestmark = pytest.mark.once
STEPS = 60
TWO = ClusterConfig(on="ray", actors=2, streams=3, max_staleness=12, deterministic=True, block_rows=8)
APART = replace(TWO, on="ray:nodes=2,cpus=1")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with connect("ray:nodes=2,cpus=1") as found:
        yield found


@pytest.mark.parametrize("run", ["alphazero, everything", pytest.param("ppo", marks=pytest.mark.cluster)])
def test_two_actors_on_two_nodes_leave_what_one_process_leaves_bit_by_bit(
    cluster: Any, run: str, tmp_path: Path
) -> None:
    """Even if an actor is killed meanwhile."""
    local = cluster_learner(run)
    alone = trained(run, tmp_path / "alone", local, after_steps(local, STEPS))
    notes, killed = Notes(), list[int]()
    with on_cluster(*config_of(run), TWO) as learner:
        learner.actors.wait_until_ready(2)

        def stop() -> bool:
            if learner.state.step == STEPS // 2 and not killed:
                killed.append(learner.actors.pids[0])
                os.kill(killed[0], signal.SIGKILL)
            return learner.state.step >= STEPS

        both = trained(run, tmp_path / "both", learner, stop, notes)
    same(alone, both)
    assert [note for note in notes if f"(process {killed[0]}) died and is started again" in note], notes


@pytest.mark.slow
def test_a_learner_on_two_nodes_improves(cluster: Any, tmp_path: Path) -> None:
    config = resolve(short("ppo", **{**PPO_SOLVES, "cycles": 3, "eval_games": 100}))
    free = replace(TWO, deterministic=False, streams=4, max_staleness=16)
    with (
        on_cluster("ppo", config, free) as learner,
        create(tmp_path / "run", {"learner": "ppo", **asdict(config)}) as run,
    ):
        assert train(learner, run, silent)
        agent, game = learner.model.agent(), learner.game
        assert play_match(game, agent, make("random", game), 400, seed=3).score > 0.9
    scores = [
        each["eval_opponents"]["random"]["score"]
        for each in read_records(tmp_path / "run")
        if each["event"] == "evaluation"
    ]
    assert scores[-1] > 0.85
    assert load_run(str(tmp_path / "run"), None, "best")


# ---- commands ----

Begin = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Begins a command of this program, in a process group of its own. When the last one has ended, no folder and,
    unless one was killed, no process of a cluster is left."""
    begun, mark = list[subprocess.Popen[str]](), f"BEGUN_BY={tmp_path}"

    def start(*words: str) -> subprocess.Popen[str]:
        begun.append(
            subprocess.Popen(
                [sys.executable, "-m", "plyground", *words],
                env={**os.environ, "BEGUN_BY": str(tmp_path)},
                start_new_session=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return begun[-1]

    yield start
    assert not [each for process in begun for each in folders(process.pid)]
    end = time.monotonic() + 10
    while (left := processes(mark)) and time.monotonic() < end:
        time.sleep(0.2)
    assert not left or any(process.returncode == -signal.SIGKILL for process in begun)


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """What it says until it ends."""
    out, _ = process.communicate(timeout=300)
    assert process.returncode == code, out
    return out


def train_words(run: Path, config: ClusterConfig, cycles: int) -> list[str]:
    name, settings = config_of("ppo, everything")
    own = [
        *("--on", config.on, "--actors", str(config.actors), "--streams", str(config.streams), "--deterministic"),
        *("--network", settings.network, "--num-envs", "8", "--rollout-length", "6", "--batch-size", "16"),
        *("--cycles", str(cycles), "--games-per-cycle", "200", "--eval-games", "4", "--threads", "1"),
    ]
    return ["train", name, settings.game, *own, "--out", str(run)]


def wait_for_step(run: Path, process: subprocess.Popen[str], steps: int) -> None:
    end = time.monotonic() + 120
    while len(steps_of(run)) < 1 or steps_of(run)[-1] < steps:
        assert process.poll() is None, process.stdout and process.stdout.read()
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_learner_is_resumed_as_if_nothing_had_happened(begin: Begin, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    finish(begin(*train_words(whole, APART, 20)))
    process = begin(*train_words(parts, APART, 20))
    wait_for_step(parts, process, 200)
    os.kill(process.pid, signal.SIGKILL)
    finish(process, -signal.SIGKILL)
    assert folders(process.pid), "which the next command removes"
    finish(begin("resume", str(parts), "--actors", "1"))
    same(kept(whole), kept(parts))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_saves_and_leaves_nothing_behind(begin: Begin, tmp_path: Path) -> None:
    """As a terminal sends it: to all processes of the group."""
    process = begin(*train_words(tmp_path / "run", APART, 1000))
    wait_for_step(tmp_path / "run", process, 200)
    os.killpg(process.pid, signal.SIGINT)
    out = finish(process)
    step = steps_of(tmp_path / "run")[-1]
    assert f"Stopped and saved at step {step}. Continue with:\n  " in out


# ---- room ----


def somebody_else(ray: Any) -> Any:
    """A process that has a CPU."""

    class Other:
        def works(self) -> bool:
            return True

    other = ray.remote(Other).options(num_cpus=1).remote()
    assert ray.get(other.works.remote())
    return other


@pytest.mark.cluster
def test_ctrl_c_while_a_run_waits_for_room_ends_it_with_one_line(cluster: Any, begin: Begin, tmp_path: Path) -> None:
    ray, run = cluster.ray, tmp_path / "run"
    others = [somebody_else(ray) for _ in range(2)]
    process = begin(*train_words(run, replace(APART, on=cluster.address), 20))
    assert process.stdout
    lines = iter(process.stdout.readline, "")
    try:
        assert any("waiting up to 120 seconds: 2 actors take at least 1 CPU to begin" in line for line in lines)
        os.killpg(process.pid, signal.SIGINT)
        assert finish(process, 130) == f"plyground: stopped; {run} had learned nothing yet, and is removed\n"
    finally:
        process.kill()
        for each in others:
            ray.kill(each)
    assert not run.exists()


@pytest.mark.cluster
def test_a_cluster_that_others_fill_is_used_as_soon_as_they_end(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run waits for a reservation, not for a count: what Ray counts as free may be late."""
    config, others = ClusterConfig(on="ray", actors=1), [somebody_else(cluster.ray) for _ in range(2)]
    sentence = r"^given up after 2 seconds: 1 actor takes at least 1 CPU to begin, .* \(free: [012] of 2 CPUs\)$"
    with monkeypatch.context() as hasty:
        hasty.setattr(module, "PATIENCE", 2.0)
        with pytest.raises(NoCluster, match=sentence), on_cluster(*config_of("ppo"), config):
            pass
    for each in others:
        cluster.ray.kill(each)
    with on_cluster(*config_of("ppo"), config) as learner:
        assert learner.actors.alive == 1


class Resources:
    """Ray, as far as it tells what there is and reserves it; `room` says at each look whether there is some, and its
    last answer stays. All counts as free, as it may when others have just taken it."""

    def __init__(self, cpus: int, gpus: int = 0, room: tuple[bool | type[BaseException], ...] = (True,)) -> None:
        self.cluster_resources = self.available_resources = lambda: {"CPU": float(cpus), "GPU": float(gpus)}
        self.looks, self.groups = [*room], list[Any]()  # `groups`: of reservations that are held
        self.util = SimpleNamespace(
            placement_group=self.reserve,
            remove_placement_group=lambda group: self.groups.remove(group.bundles),
            scheduling_strategies=SimpleNamespace(PlacementGroupSchedulingStrategy=lambda group, place: place),
        )

    def reserve(self, bundles: list[Any]) -> Any:
        self.groups.append(bundles)
        return SimpleNamespace(bundles=bundles, wait=self.look)

    def look(self, seconds: float) -> bool:
        time.sleep(0.001)
        found = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(found, type):
            raise found
        return found


def there(*given: Any) -> Cluster:
    return Cluster(Resources(*given), "nowhere", ours=False)


def test_a_run_says_what_no_cluster_of_that_size_can_give_and_else_holds_room_for_its_first_actor() -> None:
    sentence = "9 actors take 9 CPUs, and the cluster has 8: take fewer"
    with pytest.raises(NoCluster, match=sentence), room(there(8), 9, 0.0):
        pass
    cluster = there(8, 2, (False, False, True))
    with room(cluster, 8, 0.5) as place:
        assert (cluster.ray.groups, place) == ([[{"CPU": 1, "GPU": 0.5}]], 0)
    assert not cluster.ray.groups


def test_a_full_cluster_is_waited_for_and_then_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever Ray counts as free."""
    monkeypatch.setattr("plyground.cluster.actors.NOTICE", 0.02)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    cluster = there(4, 1, (False,))
    sentence = "4 actors take at least 1 CPU and 0.25 GPUs to begin, and the cluster has no room until others end"
    why = f"{sentence} (free: 4 of 4 CPUs, 1 of 1 GPU)"
    with caplog.at_level(logging.INFO, "plyground"), pytest.raises(NoCluster) as found, room(cluster, 4, 0.25):
        pass
    assert str(found.value) == f"given up after 0.2 seconds: {why}"
    assert [record.getMessage() for record in caplog.records] == [f"waiting up to 0.2 seconds: {why} ..."]
    assert not cluster.ray.groups


def test_ctrl_c_during_the_wait_leaves_nothing_reserved() -> None:
    cluster = there(4, 0, (KeyboardInterrupt,))
    with pytest.raises(KeyboardInterrupt), room(cluster, 4, 0.0):
        pass
    assert not cluster.ray.groups


@pytest.mark.parametrize(
    ("actors", "gpus", "share"), [(2, 4, 1.0), (4, 2, 0.5), (3, 2, 0.5), (7, 3, 0.3333), (5, 0, 0.0)]
)
def test_a_whole_number_of_actors_shares_each_gpu(actors: int, gpus: int, share: float) -> None:
    assert gpus_of_each(actors, gpus) == share
