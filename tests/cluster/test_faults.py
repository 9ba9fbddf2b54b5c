"""What dies during a run: actors, nodes, the learner itself; and that nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from cluster_runs import cluster_learner, config_of
from plyground.agents.agent import load_run, make
from plyground.arena.match import play_match
from plyground.cluster.config import ClusterConfig
from plyground.cluster.leftovers import MARK, PREFIX, _parent
from plyground.cluster.run import on_cluster
from plyground.learners.config import resolve
from plyground.learners.training import train
from plyground.runs.directory import create, read_metrics, steps_of
from resumed import after_steps, contents, silent
from small_runs import PPO_SOLVES, short

pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]
TWO = ClusterConfig(on="ray:nodes=2,cpus=1", actors=2, streams=3, max_staleness=12, deterministic=True, block_rows=8)
TIMES = ("positions_per_second", "seconds_waited", "actors", "staleness", "bytes_per_position")


def left_behind(folder: Path) -> list[str]:
    """Folders of clusters in `folder`, and their processes."""
    found = [str(each) for each in folder.glob(f"{PREFIX}*")]
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended meanwhile
            if f"{MARK}={folder}".encode() in place.read_bytes():
                found.append((place.parent / "cmdline").read_text().strip("\0"))
    return found


@pytest.fixture(autouse=True)
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


def kept(path: Path) -> dict[str, Any]:
    """What a run leaves; times and places aside."""
    found = contents(path)
    found["state"] = json.loads(found["state"])
    for record in found["metrics"]:
        for each in TIMES:
            record.pop(each, None)
    found["metrics"] = [record for record in found["metrics"] if record["event"] != "note"]
    return found


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for each, values in one.items():
        assert values == other[each], each


def trained(run: str, path: Path, learner: Any, stop: Callable[[], bool], emit: Any = silent) -> dict[str, Any]:
    name, config = config_of(run)
    with create(path, {"learner": name, **asdict(config)}) as held:
        train(learner, held, emit, stop)
    return kept(path)


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


def test_a_killed_learner_is_resumed_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    finish(begin(*train_words(whole, TWO, 20)))
    parts = tmp_path / "parts"
    process = begin(*train_words(parts, TWO, 20))
    wait_for_step(parts, process, 200)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    finish(begin("resume", str(parts), "--actors", "1"))
    same(kept(whole), kept(parts))


def test_ctrl_c_saves_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """As a terminal sends it: to all processes of the group."""
    process = begin(*train_words(tmp_path / "run", TWO, 1000))
    wait_for_step(tmp_path / "run", process, 200)
    os.killpg(process.pid, signal.SIGINT)
    out = finish(process)
    step = steps_of(tmp_path / "run")[-1]
    assert f"Stopped and saved at step {step}. Continue with: " in out


def test_a_learner_on_two_nodes_improves(tmp_path: Path) -> None:
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
        for each in read_metrics(tmp_path / "run")
        if each["event"] == "evaluation"
    ]
    assert scores[-1] > 0.85
    assert load_run(str(tmp_path / "run"), None, "best")
