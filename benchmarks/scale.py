"""The rates behind docs/scale.md: blocks of chess, their transport by Ray, tasks, and the writing of a collection.

`python benchmarks/scale.py` · needs the extras `ray` and `learn` and two cores; about a minute. It starts two
nodes on this machine.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

import plyground as pg
from plyground.cluster.actors import Actor, Task
from plyground.cluster.connect import Cluster, connect
from plyground.cluster.streams import distributed, weights_of
from plyground.cluster.tasks import in_order, surroundings
from plyground.learners import find_learner
from plyground.learners.defaults import resolve
from plyground.runs.settings import build
from plyground.teaching.collect import TASK, Finished, Stop, collect, play_games
from plyground.teaching.config import Collect

SETTINGS = {
    "alphazero": {"simulations": 16},
    "ppo": {},
}
SHARED: dict[str, Any] = {
    "game": "chess", "encoder": "planes", "network": "512-256+value", "num_envs": 64, "max_plies": 160, "threads": 1,
    "opponents": ["1.0 self"],
}  # fmt: skip
BLOCKS, ROUNDS, IN_FLIGHT = 8, 3, 8
POSITIONS = 4096  # of a block that is sent


def blocks(learner: str) -> float:
    """Print what blocks of a learner cost; returns their bytes for each position."""
    config = resolve(build(find_learner(learner).config, {**SHARED, **SETTINGS[learner]}, "the benchmark"))
    actor, own = Actor(learner, json.loads(json.dumps(asdict(config))), 64), distributed(learner, config)
    weights, before = weights_of(own), None
    size = positions = stream = 0
    played = unpacked = 0.0
    for number in range(BLOCKS):
        begun = time.process_time()
        block, before = actor.play(Task(number, 0, 1, 0.0), weights, before)
        between = time.process_time()
        plies = own.unpack(block.plies)
        if number:  # the first one compiles
            played, unpacked = played + between - begun, unpacked + time.process_time() - between
            size, positions = size + sum(each.nbytes for each in block.plies.values()), positions + len(plies["states"])
            stream = max(stream, sum(each.nbytes for each in before.values()))
    rates = f"{positions / played:,.0f} played and {positions / unpacked / 1e6:.1f} M unpacked per CPU-second"
    print(f"{learner}: {size / positions:.0f} bytes a position, {rates}; a stream: {stream / 1e6:.1f} MB", flush=True)
    return size / positions


def transport(cluster: Cluster, of_position: float) -> None:
    """Print how quickly one process receives blocks of other processes."""
    ray, size = cluster.ray, int(of_position * POSITIONS)
    here = ray.get_runtime_context().get_node_id()
    nodes = {("another" if node["NodeID"] != here else "the same"): node["NodeID"] for node in ray.nodes()}

    def block(size: int) -> bytes:
        return os.urandom(1) * size

    for name, node in nodes.items():
        strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        remote, rates = ray.remote(block).options(scheduling_strategy=strategy), list[float]()
        for _ in range(ROUNDS + 1):
            begun, waiting, received = time.perf_counter(), [remote.remote(size) for _ in range(IN_FLIGHT)], 0
            for number in range(200):
                ready, waiting = ray.wait(waiting, num_returns=1)
                received += len(ray.get(ready[0]))
                waiting += [remote.remote(size)] * (number < 200 - IN_FLIGHT)
            rates.append(received / (time.perf_counter() - begun) / 1e6)
        low, high = min(rates[1:]), max(rates[1:])
        words = f"{low:.0f} to {high:.0f} MB/s, {low / of_position:.2f} M to {high / of_position:.2f} M positions/s"
        print(f"blocks of {size / 1e6:.1f} MB from {name} node: {words}", flush=True)


def empty_tasks(cluster: Cluster) -> None:
    around = surroundings(pg.load("connect_four"))
    for number in (20, 500):  # the first ones start their processes
        begun = time.perf_counter()
        for _ in in_order(cluster, around, [(abs, each) for each in range(number)]):
            pass
    print(f"tasks that do nothing: {500 / (time.perf_counter() - begun):.0f} a second", flush=True)


def writing(cluster: Cluster) -> None:
    """Print how quickly one process takes, orders, compares and writes the games that others have played."""
    config = Collect(game="chess", games=256, threads=1)
    parts = [cluster.ray.put(play_games(config, range(start, start + TASK))) for start in range(0, config.games, TASK)]

    def play(config: Collect, numbers: range, stop: Stop) -> Iterator[list[Finished]]:
        return (cluster.ray.get(part) for part in parts)

    rates, size = list[float](), 0.0
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.process_time()
            found = collect(config, Path(folder) / "chess.ndjson", lambda *_: None, play=play)
            rates.append(found["lines"] / (time.process_time() - begun))
            size = found["bytes"] / found["lines"]
    print(f"collection: {min(rates):,.0f} to {max(rates):,.0f} lines of {size:.0f} bytes written per CPU-second")


def main() -> None:
    torch.set_num_threads(1)
    of_position = [blocks(learner) for learner in SETTINGS]
    with connect("ray:nodes=2,cpus=1") as cluster:
        transport(cluster, of_position[0])
        empty_tasks(cluster)
        writing(cluster)


if __name__ == "__main__":
    main()
