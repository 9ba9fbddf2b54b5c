"""A run on a cluster: connect, reserve room, start the actors, and end them with the run.

Ray itself lets a process that finds no room wait for ever, and says nothing. Its counts of free CPUs may be late, so a
run counts nothing: it reserves what it needs to begin, as one of Ray's placement groups, which each node confirms.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from typing import Any

from plyground.backend import device as devices
from plyground.cluster.actors import CPUS, Actors, waiting
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import Cluster, NoCluster, connect
from plyground.cluster.learner import ClusterLearner
from plyground.errors import counted

PATIENCE, POLL = 120.0, 1  # seconds to wait for room, and between two looks


@contextmanager
def on_cluster(name: str, settings: Any, config: ClusterConfig) -> Generator[ClusterLearner]:
    """A fresh learner `name` with the config `settings`, whose games are played on the cluster `config.on`."""
    with connect(config.on) as cluster, ExitStack() as stack:
        full = replace(config, **config.resolved(cluster.resource("CPU")))
        gpus = gpus_of_each(full.actors, cluster.resource("GPU") if devices.is_gpu(settings.device) else 0)
        first = stack.enter_context(room(cluster, full.actors, gpus))
        stack.enter_context(_without_dumps())
        given = name, json.loads(json.dumps(asdict(settings))), full.block_rows
        actors = Actors(cluster.ray, full.actors, given, gpus, first)
        stack.callback(actors.close)
        learner = ClusterLearner(name, settings, actors, full)
        stack.callback(learner.feed.close)
        actors.wait_until_ready()
        yield learner


def gpus_of_each(actors: int, gpus: int) -> float:
    """The share of a GPU that each actor takes, rounded down: a whole number of actors fits each GPU."""
    return math.floor(10_000 / -(-actors // gpus)) / 10_000 if gpus else 0.0


@contextmanager
def room(cluster: Cluster, actors: int, gpus: float) -> Generator[Any]:
    """Room for the first actor, as Ray's scheduling strategy; the others may come later. Waits until there is some;
    refuses at once what a cluster cannot give even if nobody else used it."""
    words = f"{counted(actors, 'actor')} {'take' if actors > 1 else 'takes'}"
    there = cluster.resource("CPU")
    if actors * CPUS > there:
        asked = counted(actors * CPUS, "CPU")
        raise NoCluster(f"{words} {asked}, and the cluster has {there}: take fewer (--actors) or a larger cluster")

    def shortage() -> str:
        free = cluster.ray.available_resources()
        counts = [f"{free.get(each, 0.0):g} of {counted(cluster.resource(each), each)}" for each in needs]
        asked = " and ".join(f"{count:g} {each}{'s' * (count != 1)}" for each, count in needs.items())
        why = "and the cluster has no room until others end"
        return f"{words} at least {asked} to begin, {why} (free: {', '.join(counts)})"

    needs, util = {"CPU": CPUS} | ({"GPU": gpus} if gpus else {}), cluster.ray.util
    group = util.placement_group([needs])
    try:
        for _ in waiting(PATIENCE, shortage):
            if group.wait(POLL):
                break
        yield util.scheduling_strategies.PlacementGroupSchedulingStrategy(group, 0)
    finally:
        util.remove_placement_group(group)


@contextmanager
def _without_dumps() -> Generator[None]:
    """Ray prints its own log, dozens of lines, for each lost node or killed process, which we say in one line."""

    def print_nothing(data: Mapping[str, Any], ignore_prefix: bool) -> None: ...

    worker: Any = importlib.import_module("ray._private.worker")
    before, worker.print_to_stdstream = worker.print_to_stdstream, print_nothing
    try:
        yield
    finally:
        worker.print_to_stdstream = before
