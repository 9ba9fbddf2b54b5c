"""A run on a cluster: connect, start the actors, and end them with the run."""

from __future__ import annotations

import importlib
import json
import socket
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from plyground.backend import device as devices
from plyground.cluster.actors import RayActors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import LOOPBACK, Cluster, connect
from plyground.cluster.learner import ClusterLearner
from plyground.cluster.parallel import Group, SharedUpdates, help_learner
from plyground.cluster.players import sides_of
from plyground.cluster.streams import Sink


@contextmanager
def on_cluster(name: str, settings: Any, config: ClusterConfig) -> Generator[ClusterLearner]:
    """A fresh learner `name` with the config `settings`, whose games are played on the cluster `config.on`."""
    sides_of(name)
    with connect(config.on) as cluster, _without_dumps(), ExitStack() as stack:
        full = replace(config, **config.resolved(cluster.resource("CPU")))
        plain = json.loads(json.dumps(asdict(settings)))
        gpus = _gpus_of_each(cluster, settings, full)
        actors = RayActors(cluster.ray, full.actors, name, plain, full.block_rows, gpus)
        stack.callback(actors.close)
        learner = ClusterLearner(name, settings, actors, full)
        stack.callback(learner.feed.close)
        stack.enter_context(_shared_updates(cluster, full.learners, name, plain, learner.sink))
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
    """The share of a GPU that each actor takes, where the run uses them and learner processes leave some."""
    there = cluster.resource("GPU") - (config.learners - 1) if devices.is_gpu(settings.device) else 0
    return min(1.0, there / config.actors) if there > 0 else 0.0


@contextmanager
def _shared_updates(
    cluster: Cluster, learners: int, name: str, settings: Mapping[str, Any], sink: Sink
) -> Generator[None]:
    """Further learner processes that share the updates, while the block runs; each takes a CPU, or a GPU."""
    if learners == 1:
        yield
        return
    device = sink.learner.model.view.device_name
    needs = {"num_cpus": 0, "num_gpus": 1} if devices.is_gpu(device) else {"num_cpus": 1}
    helper = cluster.ray.remote(help_learner).options(**needs, max_retries=0)
    with tempfile.TemporaryDirectory() as folder:
        here = all(node["NodeManagerAddress"] == LOOPBACK for node in cluster.ray.nodes())
        place = f"file://{Path(folder) / 'group'}" if here else f"tcp://{_own_address(cluster)}"
        groups = [Group(place, rank, learners, device) for rank in range(learners)]
        helpers = [helper.remote(name, settings, tuple(group)) for group in groups[1:]]
        updates = SharedUpdates(sink, groups[0])
        try:
            yield
        finally:
            updates.close()
            cluster.ray.wait(helpers, num_returns=len(helpers), timeout=5.0)


def _own_address(cluster: Cluster) -> str:
    """Where other nodes find this process: its node's address and a free port."""
    host = cluster.ray.util.get_node_ip_address()
    with socket.create_server((host, 0)) as server:
        return f"{host}:{server.getsockname()[1]}"
