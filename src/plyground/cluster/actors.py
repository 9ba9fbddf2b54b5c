"""Actors: processes of a Ray cluster that play blocks. Ray places them, moves bytes and says who died.

An actor owns nothing (see `streams.py`), so a dead one is replaced by another, and its blocks are played again, to the
same bytes. Where a stream itself was lost with its node, its unfinished games begin anew.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plyground.cluster.feed import Finished, Ref, Task
from plyground.cluster.players import CPUS, BlockPlayer
from plyground.cluster.room import waiting
from plyground.errors import Error, shorten
from plyground.kernels import threads

QUEUED = 2  # blocks of an actor: one that it plays, one that waits for it
MOST_STILLBORN = 3  # actors in a row that die before they are ready
PATIENCE = 900.0  # seconds until a process that has room is ready; on a new machine it compiles the game first
ANYWHERE = "SPREAD"  # Ray's strategy for actors that have no room of their own
NODE_DIED = "its node has died"  # in Ray's message
NODE_CHECK_INTERVAL = 2.0  # seconds
NODE_NAME = 12  # digits of a node's number that people need


class Job(NamedTuple):
    """A block to play, with what it needs."""

    task: Task
    weights: Ref
    before: Ref | None


@dataclass
class Actor:
    """A process that plays, as the learner sees it."""

    number: int
    handle: Any
    starting: Ref | None  # of its `place`, until it is ready
    reserved: bool  # in the room that the run holds for one actor
    node: str = ""
    pid: int = 0
    jobs: dict[Ref, tuple[Job, Ref]] = field(default_factory=dict[Any, Any])
    """reference to a block: its job, and the reference to the stream after it"""


class RayActor:
    """What runs in such a process."""

    def __init__(self, learner: str, settings: Mapping[str, Any], block_rows: int) -> None:
        threads.limit(CPUS)
        self.player = BlockPlayer(learner, settings, block_rows)

    def place(self) -> tuple[str, int]:
        """The node and the process that it runs in."""
        import ray

        return ray.get_runtime_context().get_node_id(), os.getpid()

    def play(self, task: Task, weights: bytes, before: bytes | None) -> tuple[bytes, bytes]:
        return self.player.play(Task(*task), weights, before)


class RayActors:
    """The actors of a run."""

    def __init__(
        self,
        ray: Any,
        count: int,
        learner: str,
        settings: Mapping[str, Any],
        block_rows: int,
        gpus: float = 0.0,
        room: Any = ANYWHERE,
    ) -> None:
        """`ray` is the package, connected to a cluster; each actor takes CPUS and `gpus` GPUs. `room` is the scheduling
        strategy of one actor at a time."""
        self.ray, self.count, self.given = ray, count, (learner, dict(settings), block_rows)
        self.kind, self.room = ray.remote(RayActor), room
        self.needs = {"num_cpus": CPUS, "num_gpus": gpus, "max_restarts": 0}
        self.actors: list[Actor] = []
        self.jobs: list[Job] = []  # that no actor has yet
        self.notes: list[str] = []
        self.nodes: set[str] = set()  # that were there when we looked last
        self.next_check = 0.0
        self.started = self.stillborn = 0
        for _ in range(count):
            self._start()

    @property
    def alive(self) -> int:
        """Actors that are ready."""
        return sum(actor.starting is None for actor in self.actors)

    def take_notes(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes

    def put(self, data: bytes) -> Ref:
        return self.ray.put(data)

    def get(self, ref: Ref) -> bytes | None:
        """The bytes; None if they were lost with a node."""
        try:
            return self.ray.get(ref)
        except self.ray.exceptions.ObjectLostError:
            return None

    def submit(self, task: Task, weights: Ref, before: Ref | None) -> None:
        self.jobs.append(Job(task, weights, before))
        self._dispatch()

    def abandon(self) -> None:
        """Drop all blocks; actors finish what they play."""
        self.jobs.clear()
        for actor in self.actors:
            actor.jobs = {ref: (Job(Task(-1, -1, 0, 0.0, 0), None, None), None) for ref in actor.jobs}

    def close(self) -> None:
        """End all actors."""
        for actor in self.actors:
            self.ray.kill(actor.handle)
        self.actors.clear()

    def wait_until_ready(self, count: int = 1) -> None:
        """Until so many actors are ready, before any block is submitted: starting one takes seconds, which are not part
        of a run."""
        why = "on a new machine an actor compiles the game first"
        for _ in waiting(PATIENCE, lambda: f"{self.alive} of {count} actors are ready; {why}"):
            if self.alive >= count:
                return
            self.wait(1.0)

    # ---- blocks ----

    def wait(self, seconds: float) -> list[Finished]:
        """The blocks that are finished; waits up to so long for the first. Dead actors are replaced."""
        self._dispatch()
        refs = [ref for actor in self.actors for ref in (actor.jobs if actor.starting is None else (actor.starting,))]
        ready: list[Ref] = self.ray.wait(refs, num_returns=1, timeout=seconds)[0] if refs else []
        if ready:
            ready = self.ray.wait(refs, num_returns=len(refs), timeout=0)[0]
        found: list[Finished] = []
        for ref in ready:
            for actor in [each for each in self.actors if ref in each.jobs or ref == each.starting]:
                found += self._take(actor, ref)
        self._check_nodes()
        self._dispatch()
        return [done for done in found if done.task.number >= 0]

    def _dispatch(self) -> None:
        """Give the oldest blocks to the actors with the fewest."""
        self.jobs.sort(key=lambda job: job.task.number)
        while self.jobs:
            ready = [actor for actor in self.actors if actor.starting is None and len(actor.jobs) < QUEUED]
            if not ready:
                return
            actor, job = min(ready, key=lambda each: len(each.jobs)), self.jobs.pop(0)
            play = actor.handle.play.options(num_returns=2)
            block, after = play.remote(tuple(job.task), job.weights, job.before)
            actor.jobs[block] = job, after

    def _take(self, actor: Actor, ref: Ref) -> list[Finished]:
        """What has come of a reference: a block, an actor that is ready, or a failure."""
        errors = self.ray.exceptions
        try:
            value = self.ray.get(ref)
        except errors.RayActorError as error:
            self._replace(actor, error)
            return []
        except errors.ObjectLostError:
            self._begin_anew(actor, ref)
            return []
        except errors.RayTaskError as error:
            if not isinstance(error.cause, errors.ObjectLostError):
                raise Error(f"an actor failed: {shorten(last_line(error), 300)}") from error
            self._begin_anew(actor, ref)
            return []
        if ref == actor.starting:
            (actor.node, actor.pid), actor.starting, self.stillborn = value, None, 0
            return []
        job, after = actor.jobs.pop(ref)
        return [Finished(job.task, value, after)]

    def _begin_anew(self, actor: Actor, ref: Ref) -> None:
        """A block or its stream was lost with its node: the stream's games begin anew."""
        job, _ = actor.jobs.pop(ref)
        if job.task.number >= 0:
            self.jobs.append(job._replace(before=None))

    # ---- failures ----

    def _start(self) -> None:
        reserved = not any(actor.reserved for actor in self.actors)
        strategy = self.room if reserved else ANYWHERE
        handle = self.kind.options(scheduling_strategy=strategy, **self.needs).remote(*self.given)
        self.actors.append(Actor(self.started, handle, handle.place.remote(), reserved))
        self.started += 1

    def _replace(self, actor: Actor, error: Exception) -> None:
        """Play a dead actor's blocks elsewhere, and start another one."""
        if actor.starting is not None:
            self.stillborn += 1
            if self.stillborn >= MOST_STILLBORN:
                why = f"{self.stillborn} actors in a row died before they were ready"
                raise Error(f"{why}: {shorten(last_line(error), 300)}") from error
        jobs = [job for job, _ in actor.jobs.values() if job.task.number >= 0]
        if actor.pid and NODE_DIED not in str(error):
            again = f"; {len(jobs)} blocks are played again" if jobs else ""
            self.notes.append(f"actor {actor.number} (process {actor.pid}) died and is replaced{again}")
        self.actors.remove(actor)
        self.ray.kill(actor.handle)  # it may only be out of reach
        self.jobs += jobs
        self._start()

    def _check_nodes(self) -> None:
        """From time to time: one line for each node that is no longer there. Ray notices after some 15 seconds."""
        if time.monotonic() < self.next_check:
            return
        self.next_check = time.monotonic() + NODE_CHECK_INTERVAL
        living = {node["NodeID"] for node in self.ray.nodes() if node["Alive"]}
        for node in sorted(self.nodes - living):
            left = f"the run goes on with {self.alive} actors, and with more as soon as there is room"
            self.notes.append(f"node {node[:NODE_NAME]} was lost: {left}")
        self.nodes = living


def last_line(error: Exception) -> str:
    """What Python said at the end of a traceback; of an error of ours its sentence alone."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return re.sub(r"^plyground[\w.]*: ", "", lines[-1]) if lines else type(error).__name__
