"""Runs on a cluster of two nodes on this machine: the same as in one process; resumed, stopped, improving."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from cluster_runs import cluster_learner, config_of, kept, left_behind, same, trained
from plyground.agents.registry import load_run, make
from plyground.arena.match import play_match
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import connect
from plyground.cluster.leftovers import _parent
from plyground.cluster.run import on_cluster
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
    notes: list[str] = []

    def emit(event: Any) -> None:
        if event["event"] == "note":
            notes.append(event["text"])

    with on_cluster(*config_of(run), TWO) as learner:
        group: Any = learner.actors
        group.wait_until_ready(2)
        killed: list[int] = []

        def stop() -> bool:
            actors = group.actors
            if learner.state.step == STEPS // 2 and not killed:
                assert len({actor.node for actor in actors}) == 2
                killed.append(actors[0].pid)
                os.kill(killed[0], signal.SIGKILL)
            return learner.state.step >= STEPS

        both = trained(run, tmp_path / "both", learner, stop, emit)
    same(alone, both)
    assert any(f"(process {killed[0]}) died and is replaced" in note for note in notes), notes


@pytest.mark.cluster
def test_two_learner_processes_on_two_nodes_learn_what_one_learns(cluster: Any, tmp_path: Path) -> None:
    run = "ppo"
    local = cluster_learner(run)
    trained(run, tmp_path / "alone", local, after_steps(local, STEPS))
    with on_cluster(*config_of(run), replace(TWO, actors=1, learners=2)) as learner:
        trained(run, tmp_path / "both", learner, after_steps(learner, STEPS))
    assert learner.state.updates == local.state.updates > 0
    for each, values in local.model.network.state_dict().items():
        torch.testing.assert_close(values, learner.model.network.state_dict()[each], atol=1e-3, rtol=1e-2)


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


@pytest.fixture
def nothing_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Clusters have a folder of the test's own, which is empty at the end."""
    with tempfile.TemporaryDirectory(prefix="l", dir=_parent()) as name:
        folder = Path(name)
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield folder  # a short one: the path of a socket in it has at most 107 characters
        end = time.monotonic() + 10
        while left_behind(folder) and time.monotonic() < end:
            time.sleep(0.2)
        assert not left_behind(folder)


def begin(*words: str) -> subprocess.Popen[str]:
    """A command of this program, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "plyground", *words],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """What it says until it ends well."""
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
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
def test_a_killed_learner_is_resumed_as_if_nothing_had_happened(nothing_is_left: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    finish(begin(*train_words(whole, APART, 20)))
    parts = tmp_path / "parts"
    process = begin(*train_words(parts, APART, 20))
    wait_for_step(parts, process, 200)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    finish(begin("resume", str(parts), "--actors", "1"))
    same(kept(whole), kept(parts))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_saves_and_leaves_nothing_behind(nothing_is_left: Path, tmp_path: Path) -> None:
    """As a terminal sends it: to all processes of the group."""
    process = begin(*train_words(tmp_path / "run", APART, 1000))
    wait_for_step(tmp_path / "run", process, 200)
    os.killpg(process.pid, signal.SIGINT)
    out = finish(process)
    step = steps_of(tmp_path / "run")[-1]
    assert f"Stopped and saved at step {step}. Continue with:\n  " in out


@pytest.mark.cluster
def test_ctrl_c_while_a_run_waits_for_room_ends_it_with_one_line(cluster: Any, tmp_path: Path) -> None:
    class Other:
        def works(self) -> bool:
            return True

    ray = cluster.ray
    others = [ray.remote(Other).options(num_cpus=1).remote() for _ in range(2)]
    assert all(ray.get([each.works.remote() for each in others])), "they have both CPUs"
    process = begin(*train_words(tmp_path / "run", replace(APART, on=cluster.address), 20))
    assert process.stdout
    lines = iter(process.stdout.readline, "")
    try:
        assert any("waiting up to 120 seconds: 2 actors take at least 1 CPU to begin" in line for line in lines)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        for each in others:
            ray.kill(each)
    run = tmp_path / "run"
    assert (process.returncode, out) == (130, f"plyground: stopped; {run} had learned nothing yet, and is removed\n")
    assert not run.exists()
