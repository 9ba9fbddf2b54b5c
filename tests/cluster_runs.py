"""Small runs of the learners that can be spread over a cluster, their learners with actors in this process, and what
runs leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plyground.cluster.config import ClusterConfig
from plyground.cluster.learner import ClusterLearner
from plyground.cluster.leftovers import MARK, PREFIX
from plyground.cluster.players import LocalActors
from plyground.learners.defaults import resolve
from plyground.learners.training import train
from plyground.runs.directory import create
from resumed import contents, silent
from small_runs import EVERYTHING, OTHERWISE, ROW, short

ALPHAZERO: dict[str, Any] = {
    "game": ROW, "simulations": 4, "buffer_size": 400, "learning_starts": 32, "num_envs": 8, "opening_plies": 2,
}  # fmt: skip
SEARCHES = {**EVERYTHING, "game": "connect_four", "gate": True, "simulations_initial": 3}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "alphazero": ("alphazero", ALPHAZERO),
    "alphazero, everything": ("alphazero", {**ALPHAZERO, **SEARCHES}),
    "alphazero, otherwise": ("alphazero", {**ALPHAZERO, **OTHERWISE}),
    "ppo": ("ppo", {}),
    "ppo, everything": ("ppo", EVERYTHING),
    "ppo, otherwise": ("ppo", OTHERWISE),
}


def config_of(run: str) -> tuple[str, Any]:
    name, changes = RUNS[run]
    return name, resolve(short(name, **changes))


def plain(config: Any) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(config)))


def cluster_learner(run: str, **changes: Any) -> ClusterLearner:
    name, config = config_of(run)
    elsewhere = ClusterConfig(**{"actors": 1, "streams": 3, "max_staleness": 12, "deterministic": True, **changes})
    return ClusterLearner(name, config, LocalActors(name, plain(config), 8), elsewhere)


TIMES = ("positions_per_second", "seconds_waited", "actors", "staleness", "bytes_per_position")


def left_behind(folder: Path) -> list[str]:
    """Folders of clusters in `folder`, and their processes."""
    found = [str(each) for each in folder.glob(f"{PREFIX}*")]
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended meanwhile
            if f"{MARK}={folder}".encode() in place.read_bytes():
                found.append((place.parent / "cmdline").read_text().strip("\0"))
    return found


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
