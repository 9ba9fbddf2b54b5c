"""What a cluster costs and gives: one actor beside none, two nodes beside one, bytes of a chess position.

`python benchmarks/cluster.py` · needs the extra `ray` and two cores; a cluster of two nodes is started on this machine.
Rounds alternate, so that other work on the machine meets both sides; ratios are medians, with the range of the rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import plyground as pg
from plyground.cluster.actors import QUEUED, Actors, Task
from plyground.cluster.alphazero import DistributedAlphaZero
from plyground.cluster.connect import connect
from plyground.cluster.streams import begin, load_weights, weights_of
from plyground.learners.config import AlphaZero
from plyground.learners.defaults import resolve
from plyground.search.tree_config import SearchConfig
from plyground.search.tree_search import TreeSearch

ROUNDS, SECONDS, SEED = 5, 4.0, 7
BLOCKS = 4  # of a round of self-play with a network
BLOCK = 400  # plies of every game in a block without a network
ROWS, HEAD = 32, pg.load("chess").rules.HEAD.itemsize
SETTINGS: dict[str, Any] = {
    "game": "chess", "network": "64-64+value", "num_envs": 64, "simulations": 16, "threads": 1, "cycles": 1,
    "learning_starts": 1, "batch_size": 1, "buffer_size": 64_000,
}  # fmt: skip


class Rate(NamedTuple):
    """Plies a second, and for each CPU-second of those who play and receive: that does not depend on other work."""

    wall: float
    cpu: float


class Measure:
    """Seconds and CPU-seconds of this process and others since it was made."""

    def __init__(self, others: list[int]) -> None:
        self.pids = [os.getpid(), *others]
        self.begun, self.used = time.perf_counter(), self._cpu()

    def _cpu(self) -> float:
        ticks = 0
        for pid in self.pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def rate(self, plies: int) -> Rate:
        return Rate(plies / self.seconds, plies / (self._cpu() - self.used))


# ---- self-play with a network ----


class Alone:
    """Two streams of games in this process, one after the other: no Ray."""

    def __init__(self, config: AlphaZero, weights: bytes) -> None:
        self.config, self.players = config, [DistributedAlphaZero(config, ROWS) for _ in range(2)]
        for stream, player in enumerate(self.players):
            load_weights(player, weights)
            begin(player, SEED + stream, stream)

    def rate(self) -> Rate:
        measure = Measure([])
        for number in range(BLOCKS):
            self.players[number % 2].play(0.0)
        return measure.rate(BLOCKS * ROWS * self.config.num_envs)


class Streams:
    """The same blocks, played by an actor, received and read, but not learned from."""

    def __init__(self, actors: Actors, config: AlphaZero, weights: bytes) -> None:
        self.actors, self.config, self.learner = actors, config, DistributedAlphaZero(config)
        self.weights = actors.ray.put(weights)
        self.number = self.bytes = self.positions = 0
        self.idle: dict[int, Any] = {0: None, 1: None}  # stream: what it is

    def rate(self) -> Rate:
        """All actors are idle before and afterwards."""
        measure, end = Measure([*self.actors.pids.values()]), self.number + BLOCKS
        while self.number < end or len(self.idle) < 2:
            while self.number < end and self.number % 2 in self.idle:
                before = self.idle.pop(self.number % 2)
                self.actors.submit(Task(self.number, self.number % 2, 1, 0.0), self.weights, before)
                self.number += 1
            if done := self.actors.wait(1.0):
                self.bytes += sum(each.nbytes for each in done.block.plies.values())
                self.positions += len(self.learner.unpack(done.block.plies)["states"])
                self.idle[done.task.stream] = done.after
        return measure.rate(BLOCKS * ROWS * self.config.num_envs)


# ---- self-play without a network ----


class SearchingActor:
    """Plays chess against itself by tree search with the game's own evaluation."""

    def __init__(self) -> None:
        self.game = pg.load("chess")
        self.batch = pg.Batch(self.game, 16, seed=1, threads=1)
        self.search = TreeSearch(self.game, SearchConfig(100, leaf="evaluate"), threads=1)

    def pid(self) -> int:
        return os.getpid()

    def play(self, plies: int) -> bytes:
        """A block of states as bytes."""
        found: list[bytes] = []
        for _ in range(plies):
            chosen = self.search.search(self.batch.states, self.batch.rngs).chosen
            found.append(np.ascontiguousarray(self.game.heads(self.batch.states)).tobytes())
            self.batch.step(chosen)
        return b"".join(found)


def searching(ray: Any, actors: list[Any]) -> Rate:
    """All these actors play block after block."""
    measure, plies = Measure(ray.get([actor.pid.remote() for actor in actors])), 0
    waiting = {actor.play.remote(BLOCK): actor for actor in actors for _ in range(QUEUED)}
    while waiting:
        (done,), _ = ray.wait(list(waiting))
        actor, states = waiting.pop(done), ray.get(done)
        plies += len(states) // HEAD
        if measure.seconds < SECONDS:
            waiting[actor.play.remote(BLOCK)] = actor
    return measure.rate(plies)


# ---- comparison ----


def compare(what: str, first: Callable[[], Rate], second: Callable[[], Rate]) -> None:
    """Alternate, and print the ratios second / first."""
    for side in (first, second):
        side()  # everything is compiled and warm
    pairs = [(first(), second()) for _ in range(ROUNDS)]
    for kind in Rate._fields:
        rates = [(getattr(one, kind), getattr(other, kind)) for one, other in pairs]
        ratios = [other / one for one, other in rates]
        one, other = (statistics.median(side) for side in zip(*rates, strict=True))
        spread = f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
        print(f"{what}: {one:,.0f} and {other:,.0f} plies a {kind} second, ratio {spread}", flush=True)


def main() -> None:
    config = resolve(AlphaZero(**SETTINGS))
    with connect("ray:nodes=2,cpus=1") as cluster:
        ray = cluster.ray
        kind = ray.remote(SearchingActor).options(num_cpus=1, scheduling_strategy="SPREAD")
        both = [kind.remote() for _ in range(2)]
        compare("two nodes beside one, no network", lambda: searching(ray, both[:1]), lambda: searching(ray, both))
        for actor in both:
            ray.kill(actor)
        actors = Actors(ray, 1, ("alphazero", json.loads(json.dumps(asdict(config))), ROWS))
        actors.wait_until_ready()
        weights = weights_of(DistributedAlphaZero(config))
        streams = Streams(actors, config, weights)
        compare("one actor beside none, AlphaZero", Alone(config, weights).rate, streams.rate)
        size = streams.bytes / max(1, streams.positions)
        print(f"bytes of a chess position: {size:.0f}, mean of {streams.positions:,}")
        streams.idle.clear()
        actors.close()


if __name__ == "__main__":
    main()
