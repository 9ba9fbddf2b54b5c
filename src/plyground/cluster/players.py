"""The two sides of each learner that can be spread over a cluster, by the learner's name; and how a block is played."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from plyground.cluster.blocks import Block, encode
from plyground.cluster.feed import Finished, Task
from plyground.cluster.streams import Player, Sink, begin_stream, load_parts, pack_stream, unpack_stream
from plyground.errors import unknown
from plyground.learners import find_learner
from plyground.runs.settings import build


class Sides(NamedTuple):
    """Where the two sides of a learner are."""

    module: str
    player: str
    sink: str


CPUS = 1
"""that an actor reserves: it plays with as many threads, whatever the learner has. So actors of one machine do not take
each other's CPUs, and rounding in the network, which depends on torch's threads, is the same wherever a block is
played."""
SIDES = {
    "alphazero": Sides("plyground.cluster.alphazero", "SearchPlayer", "SearchSink"),
    "ppo": Sides("plyground.cluster.ppo", "RolloutPlayer", "RolloutSink"),
}


def sides_of(learner: str) -> Sides:
    if learner not in SIDES:
        raise unknown("learner on a cluster", learner, SIDES)
    return SIDES[learner]


def make_sink(name: str, config: Any) -> Sink:
    sides = sides_of(name)
    return getattr(importlib.import_module(sides.module), sides.sink)(config)


class BlockPlayer:
    """Plays any block of any stream of a run."""

    def __init__(self, learner: str, settings: Mapping[str, Any], block_rows: int) -> None:
        sides, own = sides_of(learner), {**settings, "threads": CPUS}
        config = build(find_learner(learner).config, own, "an actor's settings")
        self.kind = learner
        self.player: Player = getattr(importlib.import_module(sides.module), sides.player)(config, block_rows)
        self.version = 0  # of the weights; the first one is 1

    def play(self, task: Task, weights: bytes, before: bytes | None) -> tuple[bytes, bytes]:
        """A block, and what its stream is after it."""
        player = self.player
        if task.version != self.version:
            load_parts(player.weights(), weights)
            self.version = task.version
        if before is None:
            begin_stream(player, task.seed + task.number, task.stream)  # other games than when the run began
        else:
            unpack_stream(player, before)
        plies, results = player.play(task.progress), player.games.results
        found = {"counts": dict(results.counts), "reasons": dict(results.reasons)}
        block = Block(task.stream, task.number, task.version, plies, found)
        return encode(block, self.kind, player.games.game), pack_stream(player)


class LocalActors:
    """Plays blocks in this process, when they are waited for: the same results as any cluster's."""

    def __init__(self, learner: str, settings: Mapping[str, Any], block_rows: int) -> None:
        self.player = BlockPlayer(learner, settings, block_rows)
        self.tasks: list[tuple[Task, bytes, bytes | None]] = []

    def put(self, data: bytes) -> bytes:
        return data

    def get(self, ref: bytes) -> bytes:
        return ref

    def submit(self, task: Task, weights: bytes, before: bytes | None) -> None:
        self.tasks.append((task, weights, before))

    def wait(self, seconds: float) -> list[Finished]:
        if not self.tasks:
            return []
        task, weights, before = self.tasks.pop(0)
        learner_threads = torch.get_num_threads()
        torch.set_num_threads(CPUS)
        try:
            return [Finished(task, *self.player.play(task, weights, before))]
        finally:
            torch.set_num_threads(learner_threads)

    def abandon(self) -> None:
        self.tasks.clear()

    @property
    def alive(self) -> int:
        return 1

    def take_notes(self) -> list[str]:
        return []
