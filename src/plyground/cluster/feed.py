"""The feed of a learner: which block is played next and with which weights, and in which order blocks are learned from.

At most one block of each stream is in flight. That is the back-pressure: a stream waits until the learner has learned
from its block. A block is submitted with the newest weights; the learner takes blocks as they arrive, but waits for an
older one before it would become older than `max_staleness` versions.

In deterministic mode blocks are learned from in the order of their numbers: block k belongs to stream k % streams and
is submitted when the learner has finished with block k - streams, so that its weights follow from k alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from plyground.backend.parts import below
from plyground.cluster.actors import Actors, Block, Finished, Ref, Task
from plyground.cluster.config import ClusterConfig


class Feed:
    """Blocks for one learner."""

    def __init__(self, actors: Actors, config: ClusterConfig, publish: Callable[[], bytes]) -> None:
        """`publish` returns the weights of the present network."""
        self.actors, self.config, self.publish = actors, config, publish
        self.streams: list[Ref | None] = [None] * config.streams  # what each is; None: it begins anew
        self.busy: dict[int, Task] = {}  # stream: its block in flight
        self.arrived: dict[int, Finished] = {}  # stream: its block, not yet learned from
        self.number = 0  # of the next block that is submitted
        self.version, self.weights, self.changed = 0, None, True
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
                self.weights = self.actors.ray.put(self.publish())
                self.version, self.changed = self.version + self.changed, False
            self.busy[stream] = Task(self.number, stream, self.version, progress)
            self.actors.submit(self.busy[stream], self.weights, self.streams[stream])
            self.number += 1

    def _receive(self, seconds: float) -> None:
        if done := self.actors.wait(seconds):
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
        self.streams, self.busy, self.arrived, self.weights = [None] * self.config.streams, {}, {}, None

    # ---- checkpoints ----

    def state(self) -> dict[str, Any]:
        """In deterministic mode the streams and the blocks in flight, which are waited for; otherwise unfinished games
        begin anew after a resume."""
        plain = {"number": self.number, "version": self.version, "changed": self.changed}
        if not self.config.deterministic:
            return plain
        while self.busy:
            self._receive(1.0)
        after = {stream: ref for stream, ref in enumerate(self.streams) if ref is not None}
        after |= {stream: done.after for stream, done in self.arrived.items()}
        streams = {str(stream): found for stream, ref in after.items() if (found := self.actors.get(ref)) is not None}
        blocks = {
            str(stream): {"task": [*done.task], "plies": done.block.plies, "results": [*done.block[1:]]}
            for stream, done in self.arrived.items()
        }
        return {**plain, "streams": streams, "blocks": blocks}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from there. New games begin where the checkpoint holds no streams: the run was not deterministic, or
        the version older."""
        self.actors.abandon()
        self.busy, self.arrived = {}, {}
        self.number, self.version = state.get("number", 0), state.get("version", 0)
        self.weights, self.changed = None, state.get("changed", True)
        streams = [below(f"streams.{stream}", state) for stream in range(self.config.streams)]
        self.streams = [self.actors.ray.put(each) if each else None for each in streams]
        for stream, after in enumerate(self.streams):
            if found := below(f"blocks.{stream}", state):
                block = Block(below("plies", found), *found["results"])
                self.arrived[stream] = Finished(Task(*found["task"]), block, after)
