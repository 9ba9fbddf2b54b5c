"""A learner whose games are played elsewhere. To the training loop it is a learner like any other: same run directory,
checkpoints, cycles, evaluations and events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from plyground.backend.parts import Parts
from plyground.cluster.blocks import Columns, decode
from plyground.cluster.config import ClusterConfig
from plyground.cluster.feed import Actors, Feed
from plyground.cluster.players import make_sink
from plyground.cluster.streams import to_bytes
from plyground.learners.evaluation import Cycle, Event
from plyground.learners.selfplay import GameResults
from plyground.learners.state import Metrics

PATIENCE = 0.2  # seconds to wait for a block before the training loop looks for Ctrl-C


class ClusterLearner:
    """Learns from blocks. Wraps a learner of one machine, which does not play."""

    def __init__(self, name: str, settings: Any, actors: Actors, config: ClusterConfig) -> None:
        """`settings` are the config of the learner `name`; `config` has no defaults left."""
        self.sink = make_sink(name, settings)
        self.name, self.learner, self.actors = name, self.sink.learner, actors
        learner = self.learner
        self.config, self.state, self.game, self.model = learner.config, learner.state, learner.game, learner.model
        self.games = "played by actors"  # so that the live display shows none of the learner's own
        self.limits: tuple[str, ...] = learner.limits
        self.results = results_of(learner)
        self.feed = Feed(actors, config, self.config.seed, lambda: to_bytes(self.sink.weights()))
        self.queue = Queue()
        self.counts = Counts()
        self.cycle = ClusterCycle(learner.cycle, self.counts, self.feed, actors)

    def iterate(self) -> Metrics | None:
        """One row of plies, then the updates that they allow; None while none has arrived."""
        rows = self.config.num_envs
        if len(self.queue) < rows:
            self._receive()
        if len(self.queue) < rows:
            return None
        before = self.state.updates
        found: Metrics = self.sink.add_row(self.queue.take(rows))
        self.feed.changed |= self.state.updates != before
        return found

    def _receive(self) -> None:
        """Take the next block, if it has arrived."""
        done = self.feed.next_block(self.state.progress, PATIENCE)
        self.state.notes += self.cycle.notes()
        if done is None:
            return
        block = decode(done.block, self.name, self.game)
        self.queue.add(block.plies)
        self.results.merge(block.results["counts"], block.results["reasons"])
        self.counts.add(len(block), len(done.block), self.feed.staleness(done.task))

    def parts(self) -> Parts:
        """Everything that a checkpoint holds: the learner's own, and what has arrived or goes on elsewhere."""
        return {**self.learner.parts(), "queue": self.queue, "feed": self.feed}


def results_of(learner: Any) -> GameResults:
    """The counts of a learner's games."""
    return (learner.rollout if hasattr(learner, "rollout") else learner).games.results


class Queue:
    """Plies that have arrived and are not stored yet, as columns."""

    def __init__(self) -> None:
        self.columns: Columns = {}

    def __len__(self) -> int:
        return len(self.columns.get("flags", ()))

    def add(self, plies: Columns) -> None:
        self.columns = {name: _joined(self.columns.get(name), values) for name, values in plies.items()}

    def take(self, count: int) -> Columns:
        """The first `count` plies."""
        found = {name: values[:count] for name, values in self.columns.items()}
        self.columns = {name: values[count:] for name, values in self.columns.items()}
        return found

    def state(self) -> Columns:
        return self.columns

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.columns = {name: values.copy() for name, values in state.items()}


def _joined(first: Any, second: Any) -> Any:
    """Rows one after the other; policies of different widths are filled up with zeros."""
    if first is None or not len(first):
        return second
    if first.ndim == 2 and first.shape[1] != second.shape[1]:
        width = max(first.shape[1], second.shape[1])
        first, second = (np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in (first, second))
    return np.concatenate([first, second])


class Counts:
    """What has arrived since the cycle began."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.begun, self.blocks, self.plies, self.bytes, self.stale = time.perf_counter(), 0, 0, 0, 0

    def add(self, plies: int, size: int, staleness: int) -> None:
        self.blocks, self.plies, self.bytes = self.blocks + 1, self.plies + plies, self.bytes + size
        self.stale += staleness

    def record(self) -> dict[str, float]:
        seconds = max(1e-9, time.perf_counter() - self.begun)
        return {
            "positions_per_second": self.plies / seconds,
            "bytes_per_position": self.bytes / max(1, self.plies),
            "staleness": self.stale / max(1, self.blocks),
        }


class ClusterCycle:
    """The cycle of the learner, with what the cluster did in it."""

    def __init__(self, cycle: Cycle, counts: Counts, feed: Feed, actors: Any) -> None:
        self.own, self.counts, self.feed, self.actors = cycle, counts, feed, actors

    def notes(self) -> list[str]:
        """What the actors have to say to people, once."""
        return self.actors.take_notes()

    def begin(self) -> list[Event]:
        self.counts.clear()
        return self.own.begin()

    def progress(self) -> float:
        return self.own.progress()

    def end(self) -> list[Event]:
        first, *others = self.own.end()
        found = {**first, "actors": self.actors.alive, **self.counts.record(), "seconds_waited": self.feed.waited}
        self.counts.clear()
        self.feed.waited, self.feed.changed = 0.0, True  # a cycle may end with a new snapshot, or another best network
        return [found, *others]

    def summary(self) -> str:
        return self.own.summary()

    def cluster(self) -> str:
        """Actors, positions a second and staleness, for the live display."""
        found = self.counts.record()
        pace, stale = found["positions_per_second"], found["staleness"]
        return f"actors: {self.actors.alive} · {pace:,.0f} positions a second · staleness: {stale:.1f} versions"
