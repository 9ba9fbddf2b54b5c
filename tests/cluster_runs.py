"""Small runs of the learners that can be spread over a cluster, their learners with actors in this process, and what
runs leave."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plyground.cluster.actors import Actors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import PREFIX
from plyground.cluster.learner import ClusterLearner
from plyground.learners.defaults import resolve
from plyground.learners.training import train
from plyground.runs.directory import create
from pretended_ray import PretendedRay
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


def cluster_learner(run: str, ray: Any = None, **changes: Any) -> Any:
    """With one actor in this process."""
    name, config = config_of(run)
    elsewhere = ClusterConfig(**{"actors": 1, "streams": 3, "max_staleness": 12, "deterministic": True, **changes})
    actors = Actors(ray or PretendedRay(), elsewhere.actors, (name, plain(config), 8))
    actors.wait_until_ready()
    return ClusterLearner(name, config, actors, elsewhere)


TIMES = ("positions_per_second", "seconds_waited", "actors", "staleness", "bytes_per_position")


class Notes(list[str]):
    """The notes of a run: called with its events."""

    def __call__(self, event: Any) -> None:
        self.extend([event["text"]] if event["event"] == "note" else [])


def processes(mark: str) -> list[int]:
    """The processes that run with this text in their environment, this one aside."""
    found = list[int]()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended meanwhile, or belongs to somebody else
            if mark.encode() in place.read_bytes():
                found.append(int(place.parent.name))
    return [pid for pid in found if pid != os.getpid()]


def folders(pid: int) -> list[Path]:
    """Those of clusters that a process has started."""
    return [*Path("/tmp").glob(f"{PREFIX}{pid}-*")]  # noqa: S108


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
