"""A learner whose games are played elsewhere. To the training loop it is a learner like any other: same run directory,
checkpoints, cycles, evaluations and events."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from plyground.backend.parts import Arrays, Parts
from plyground.cluster.actors import Actors
from plyground.cluster.config import ClusterConfig
from plyground.cluster.feed import Feed
from plyground.cluster.streams import distributed, weights_of
from plyground.learners.evaluation import SelfPlayCycle
from plyground.learners.state import Metrics

PATIENCE = 0.2  # seconds to wait for a block before the training loop looks for Ctrl-C


class ClusterLearner:
    """Learns from blocks. Wraps a learner of one machine, which does not play."""

    def __init__(self, name: str, settings: Any, actors: Actors, config: ClusterConfig) -> None:
        """`settings` are the config of the learner `name`; `config` has no defaults left."""
        self.own, self.actors = distributed(name, settings), actors
        self.learner = learner = self.own.learner
        self.config, self.state, self.game, self.model = learner.config, learner.state, learner.game, learner.model
        self.limits: tuple[str, ...] = learner.limits
        self.games = "played by actors"  # so that the live display shows none of the learner's own
        self.feed, self.queue = Feed(actors, config, lambda: weights_of(self.own)), Queue()
        self.cycle: SelfPlayCycle = replace(learner.cycle, metrics=self._metrics_of_cycle)
        self.received, self.since = Counter[str](), time.perf_counter()  # in this cycle

    def iterate(self) -> Metrics | None:
        """One row of plies, then the updates that they allow; None while none has arrived."""
        rows = self.config.num_envs
        if len(self.queue) < rows:
            self._receive()
        if len(self.queue) < rows:
            return None
        before = self.state.updates
        found = self.own.add(self.queue.take(rows))
        self.feed.changed |= self.state.updates != before
        return found

    def _receive(self) -> None:
        """Take the next block, if it has arrived."""
        done = self.feed.next_block(self.state.progress, PATIENCE)
        self.state.notes += self.actors.take_notes()
        if done is None:
            return
        plies, counts, reasons = done.block
        size, stale = sum(each.nbytes for each in plies.values()), self.feed.staleness(done.task)
        self.received.update(blocks=1, plies=len(plies["states"]), bytes=size, staleness=stale)
        self.queue.add(self.own.unpack(plies))
        self.own.games.results.merge(counts, reasons)

    def parts(self) -> Parts:
        """Everything that a checkpoint holds: the learner's own, and what has arrived or goes on elsewhere."""
        return {**self.learner.parts(), "queue": self.queue, "feed": self.feed}

    # ---- metrics ----

    def _rates(self) -> dict[str, float]:
        """What has arrived since the cycle began."""
        found, seconds = self.received, time.perf_counter() - self.since
        return {
            "positions_per_second": found["plies"] / max(1e-9, seconds),
            "bytes_per_position": found["bytes"] / max(1, found["plies"]),
            "staleness": found["staleness"] / max(1, found["blocks"]),
        }

    def _metrics_of_cycle(self) -> dict[str, Any]:
        """At the end of a cycle, which may have a new snapshot, or another best network."""
        own = self.learner.cycle.metrics()
        found = {**own, "actors": self.actors.alive, **self._rates(), "seconds_waited": self.feed.waited}
        self.feed.waited, self.feed.changed = 0.0, True
        self.received.clear()
        self.since = time.perf_counter()
        return found

    def cluster(self) -> str:
        """Actors, positions a second and staleness, for the live display."""
        pace, _, stale = self._rates().values()
        return f"actors: {self.actors.alive} · {pace:,.0f} positions a second · staleness: {stale:.1f} versions"


class Queue:
    """Plies that have arrived and are not stored yet."""

    def __init__(self) -> None:
        self.plies: Arrays = {}

    def __len__(self) -> int:
        return len(self.plies.get("states", ()))

    def add(self, plies: Arrays) -> None:
        joined = {name: np.concatenate([self.plies[name], plies[name]]) for name in self.plies}
        self.plies = joined or plies

    def take(self, count: int) -> Arrays:
        """The first `count` plies."""
        found = {name: values[:count] for name, values in self.plies.items()}
        self.plies = {name: values[count:] for name, values in self.plies.items()}
        return found

    def state(self) -> Arrays:
        return self.plies

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Older versions kept other arrays; these plies, less than a block, are left out."""
        self.plies = {} if "flags" in state else {name: values.copy() for name, values in state.items()}
