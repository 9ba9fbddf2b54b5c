"""Small runs of the learners that can be spread over a cluster, and their learners with actors in this process."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from plyground.cluster.config import ClusterConfig
from plyground.cluster.learner import ClusterLearner
from plyground.cluster.players import LocalActors
from plyground.learners.config import resolve
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
