"""A run on a cluster: connect, start the actors, and end them with the run."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from plyground.cluster.actors import RayActors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import Cluster, connect
from plyground.cluster.learner import ClusterLearner
from plyground.cluster.players import sides_of


@contextmanager
def on_cluster(name: str, settings: Any, config: ClusterConfig) -> Generator[ClusterLearner]:
    """A fresh learner `name` with the config `settings`, whose games are played on the cluster `config.on`."""
    sides_of(name)
    with connect(config.on) as cluster:
        full = replace(config, **config.resolved(cluster.resource("CPU")))
        plain = json.loads(json.dumps(asdict(settings)))
        gpus = _gpus_of_each(cluster, settings, full)
        actors = RayActors(cluster.ray, full.actors, name, plain, full.block_rows, gpus)
        try:
            learner = ClusterLearner(name, settings, actors, full)
            actors.wait_until_ready()
            yield learner
        finally:
            actors.close()


def _gpus_of_each(cluster: Cluster, settings: Any, config: ClusterConfig) -> float:
    """The share of a GPU that each actor takes, where the run uses them."""
    there = cluster.resource("GPU") if settings.device != "cpu" else 0
    return min(1.0, there / config.actors) if there else 0.0
