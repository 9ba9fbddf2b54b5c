"""A run on a cluster: connect, start the actors, and end them with the run."""

from __future__ import annotations

import importlib
import json
import math
import socket
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from plyground.backend import device as devices
from plyground.cluster.actors import PATIENCE, RayActors, last_line
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import LOOPBACK, Cluster, connect
from plyground.cluster.learner import ClusterLearner
from plyground.cluster.parallel import Group, Helper, SharedUpdates
from plyground.cluster.players import sides_of
from plyground.cluster.room import Room, waiting
from plyground.cluster.streams import Sink
from plyground.errors import Error, counted, shorten


@contextmanager
def on_cluster(name: str, settings: Any, config: ClusterConfig) -> Generator[ClusterLearner]:
    """A fresh learner `name` with the config `settings`, whose games are played on the cluster `config.on`."""
    sides_of(name)
    with connect(config.on) as cluster, ExitStack() as stack:
        helper = helper_needs(cluster, settings)
        left = cluster.resource("CPU") - (config.learners - 1) * helper["CPU"]
        full = replace(config, **config.resolved(left))
        room = Room(full.actors, _gpus_of_each(cluster, settings, full), full.learners - 1, helper)
        room.check(cluster)
        *places, first = stack.enter_context(room.reserved(cluster))
        stack.enter_context(_without_dumps())
        plain = json.loads(json.dumps(asdict(settings)))
        helpers = stack.enter_context(_helpers(cluster, room, places, name, plain))
        actors = RayActors(cluster.ray, full.actors, name, plain, full.block_rows, room.actor_gpus, first)
        stack.callback(actors.close)
        learner = ClusterLearner(name, settings, actors, full)
        stack.callback(learner.feed.close)
        stack.enter_context(_shared_updates(cluster, helpers, learner.sink))
        actors.wait_until_ready()
        yield learner


@contextmanager
def _without_dumps() -> Generator[None]:
    """Ray prints its own log, dozens of lines, for each lost node or killed process, which we say in one line."""
    worker: Any = importlib.import_module("ray._private.worker")
    before, worker.print_to_stdstream = worker.print_to_stdstream, _print_nothing
    try:
        yield
    finally:
        worker.print_to_stdstream = before


def _print_nothing(data: Mapping[str, Any], ignore_prefix: bool) -> None: ...


def _gpus_of_each(cluster: Cluster, settings: Any, config: ClusterConfig) -> float:
    """The share of a GPU that each actor takes, where the run uses them and learner processes leave some: a whole
    number of actors fits each."""
    there = cluster.resource("GPU") - (config.learners - 1) if devices.is_gpu(settings.device) else 0
    return math.floor(10_000 / -(-config.actors // there)) / 10_000 if there > 0 else 0.0


def helper_needs(cluster: Cluster, settings: Any) -> dict[str, int]:
    """What a further learner process takes: a GPU, or as many CPUs as the learner has threads, if a node has them."""
    if devices.is_gpu(settings.device):
        return {"CPU": 0, "GPU": 1}
    biggest = max(int(node["Resources"].get("CPU", 0)) for node in cluster.ray.nodes() if node["Alive"])
    return {"CPU": max(1, min(settings.threads, biggest)), "GPU": 0}


@contextmanager
def _helpers(
    cluster: Cluster, room: Room, places: Sequence[Any], name: str, settings: Mapping[str, Any]
) -> Generator[list[Any]]:
    """Further learner processes, ready, while the block runs; `places` are Ray's scheduling strategies."""
    ray, cpus = cluster.ray, room.helper["CPU"]
    kind, needs = ray.remote(Helper), {"num_cpus": cpus, "num_gpus": room.helper["GPU"], "max_restarts": 0}
    given = name, {**settings, "threads": cpus or settings["threads"]}
    found = [kind.options(scheduling_strategy=place, **needs).remote(*given) for place in places]
    try:
        _wait_until_ready(ray, found)
        yield found
    finally:
        for each in found:
            ray.kill(each)


def _wait_until_ready(ray: Any, helpers: Sequence[Any]) -> None:
    asked = [each.ready.remote() for each in helpers]
    for _ in waiting(PATIENCE, lambda: f"{counted(len(helpers), 'further learner process')} must be ready first"):
        if not asked:
            return
        done, asked = ray.wait(asked, num_returns=1, timeout=1.0)
        try:
            ray.get(done)
        except ray.exceptions.RayActorError as error:
            raise Error(f"a further learner process died: {shorten(last_line(error), 300)}") from error


@contextmanager
def _shared_updates(cluster: Cluster, helpers: Sequence[Any], sink: Sink) -> Generator[None]:
    """The learner processes share the updates while the block runs."""
    if not helpers:
        yield
        return
    device = sink.learner.model.view.device_name
    with tempfile.TemporaryDirectory() as folder:
        here = all(node["NodeManagerAddress"] == LOOPBACK for node in cluster.ray.nodes())
        place = f"file://{Path(folder) / 'group'}" if here else f"tcp://{_own_address(cluster)}"
        first, *others = (Group(place, rank, 1 + len(helpers), device) for rank in range(1 + len(helpers)))
        ends = [each.help.remote(tuple(group)) for each, group in zip(helpers, others, strict=True)]
        updates = SharedUpdates(sink, first)
        try:
            yield
        finally:
            updates.close()
            cluster.ray.wait(ends, num_returns=len(ends), timeout=5.0)


def _own_address(cluster: Cluster) -> str:
    """Where other nodes find this process: its node's address and a free port."""
    host = cluster.ray.util.get_node_ip_address()
    with socket.create_server((host, 0)) as server:
        return f"{host}:{server.getsockname()[1]}"
