"""The feed of a learner: which block is played next and with which weights, and in which order blocks are learned from.

At most one block of each stream is in flight. That is the back-pressure: a stream waits until the learner has learned
from its block. A block is submitted with the newest weights; the learner takes blocks as they arrive, but waits for an
older one before it would become older than `max_staleness` versions.

In deterministic mode blocks are learned from in the order of their numbers: block k belongs to stream k % streams and
is submitted when the learner has finished with block k - streams, so that its weights follow from k alone.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plyground.cluster.config import ClusterConfig

Ref = Any  # of bytes that may be on another machine
EPOCH_SEEDS = 0x9E3779B97F4A7C15  # distance between the seeds of streams that begin anew


class Task(NamedTuple):
    """A block to play."""

    number: int
    stream: int
    version: int  # of the weights
    progress: float  # share of the run that is done
    seed: int  # of the stream, where it begins anew


class Finished(NamedTuple):
    """A block that was played."""

    task: Task
    block: bytes
    after: Ref  # the stream after it


class Actors(Protocol):
    """Whoever plays: processes of a cluster, or this process in tests."""

    def put(self, data: bytes) -> Ref: ...

    def get(self, ref: Ref) -> bytes | None: ...

    def submit(self, task: Task, weights: Ref, before: Ref | None) -> None:
        """Play a block of a stream, which begins anew where there is nothing `before`."""
        ...

    def wait(self, seconds: float) -> list[Finished]:
        """The blocks that are finished; waits up to so long for the first."""
        ...

    def abandon(self) -> None:
        """Drop all blocks in flight."""
        ...


class Feed:
    """Blocks for one learner."""

    def __init__(self, actors: Actors, config: ClusterConfig, seed: int, publish: Callable[[], bytes]) -> None:
        """`publish` returns the weights of the present network."""
        self.actors, self.config, self.seed, self.publish = actors, config, seed, publish
        self.streams: list[Ref | None] = [None] * config.streams  # what each is; None: it begins anew
        self.busy: dict[int, Task] = {}  # stream: its block in flight
        self.arrived: dict[int, Finished] = {}  # stream: its block, not yet learned from
        self.number = 0  # of the next block that is submitted
        self.version, self.weights, self.changed = 0, None, True
        self.epoch = 0  # how often all streams began anew
        self.waited = 0.0  # seconds without a block to learn from

    def next_block(self, progress: float, seconds: float) -> Finished | None:
        """The next block to learn from; waits up to so long for it. The one before was learned from."""
        self._submit(progress)
        begun = time.perf_counter()
        while (found := self._choose()) is None:
            left = seconds - (time.perf_counter() - begun)
            if left <= 0:
                break
            self._receive(left)
        self.waited += time.perf_counter() - begun
        if found is not None:
            del self.arrived[found.task.stream]
            self.streams[found.task.stream] = found.after
        return found

    def staleness(self, task: Task) -> int:
        """Versions that were published since a block's."""
        return self.version - task.version

    def _submit(self, progress: float) -> None:
        """A block of every stream that waits for one, in the order of the streams' last blocks."""
        count = self.config.streams
        for place in range(self.number, self.number + count):
            stream = place % count
            if stream in self.busy or stream in self.arrived:
                if self.config.deterministic:
                    break  # block k belongs to stream k % count
                continue
            if self.changed or self.weights is None:
                self.weights = self.actors.put(self.publish())
                self.version, self.changed = self.version + self.changed, False
            seed = (self.seed + self.epoch * EPOCH_SEEDS) % 2**63
            task = Task(self.number, stream, self.version, progress, seed)
            self.busy[stream] = task
            self.number += 1
            self.actors.submit(task, self.weights, self.streams[stream])

    def _receive(self, seconds: float) -> None:
        for done in self.actors.wait(seconds):
            if self.busy.get(done.task.stream) == done.task:
                del self.busy[done.task.stream]
                self.arrived[done.task.stream] = done

    def _choose(self) -> Finished | None:
        """The oldest block that has arrived; none while an older one must be waited for."""
        first = min(self.arrived.values(), key=lambda done: done.task.number, default=None)
        if first is None or all(first.task.number < task.number for task in self.busy.values()):
            return first
        pending = [*self.busy.values(), *(done.task for done in self.arrived.values() if done is not first)]
        pending.sort(key=lambda task: task.number)
        # each block that is learned from publishes a version: this one, then those that are older than it
        ages = [self.staleness(task) + 1 + place for place, task in enumerate(pending)]
        must_wait = self.config.deterministic or max(ages) > self.config.max_staleness
        return None if must_wait else first

    def close(self) -> None:
        """Let go of everything that lies on other nodes, before they end."""
        self.actors.abandon()
        self.streams, self.busy, self.arrived, self.weights = [None] * self.config.streams, {}, {}, None

    # ---- checkpoints ----

    def state(self) -> dict[str, Any]:
        """In deterministic mode the streams and the blocks in flight, which are waited for; otherwise unfinished games
        begin anew after a resume."""
        plain = {"number": self.number, "version": self.version, "changed": self.changed, "epoch": self.epoch}
        if not self.config.deterministic:
            return plain
        while self.busy:
            self._receive(1.0)
        kept: dict[str, NDArray[np.uint8]] = {}
        tasks: dict[str, list[Any]] = {}
        for stream, ref in enumerate(self.streams):
            done = self.arrived.get(stream)
            after = done.after if done else ref
            if done:
                kept[f"block{stream}"], tasks[str(stream)] = _array(done.block), list(done.task)
            data = None if after is None else self.actors.get(after)
            if data is not None:
                kept[f"stream{stream}"] = _array(data)
        return {**plain, **kept, "tasks": tasks}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from there; a checkpoint of a run that was not deterministic begins new games."""
        self.actors.abandon()
        self.busy, self.arrived, self.weights = {}, {}, None
        self.number, self.version = state.get("number", 0), state.get("version", 0)
        self.changed = state.get("changed", True)
        self.epoch = state.get("epoch", 0) + (0 if self.config.deterministic else 1)
        self.streams = [self._kept(state, stream) for stream in range(self.config.streams)]
        for stream in range(self.config.streams):
            saved = state.get(f"tasks.{stream}")
            if saved is not None:
                task = Task(*saved)
                self.arrived[stream] = Finished(task, state[f"block{stream}"].tobytes(), self.streams[stream])

    def _kept(self, state: Mapping[str, Any], stream: int) -> Ref | None:
        found = state.get(f"stream{stream}")
        return None if found is None else self.actors.put(found.tobytes())


def _array(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)
