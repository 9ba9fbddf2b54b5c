"""Actors: processes of a Ray cluster that play blocks. Ray places them, moves arrays, notices deaths and starts dead
actors again.

An actor owns nothing (see `streams.py`), so whoever is ready plays the blocks of a dead one again, to the same arrays.
Where a stream itself was lost with its node, its unfinished games begin anew.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from plyground.backend.parts import Arrays
from plyground.cluster.connect import NoCluster, last_line
from plyground.cluster.streams import begin, distributed, load_weights, pack, unpack
from plyground.errors import Error
from plyground.kernels import threads
from plyground.learners import find_learner
from plyground.runs.settings import build

LOG = logging.getLogger("plyground")
CPUS = 1
"""that an actor reserves: it plays with as many threads, whatever the learner has. So actors of one machine do not take
each other's CPUs, and rounding in the network, which depends on torch's threads, is the same wherever a block is
played."""
QUEUED = 2  # blocks of an actor: one that it plays, one that waits for it
PATIENCE = 900.0  # seconds until a process that has room is ready; on a new machine it compiles the game first
NOTICE = 5.0  # seconds until a wait is said
NODE_CHECK_INTERVAL = 2.0  # seconds
NODE_NAME = 12  # digits of a node's number that people need
Ref = Any  # of a value that may be on another machine


class Task(NamedTuple):
    """A block to play."""

    number: int
    stream: int
    version: int  # of the weights
    progress: float  # share of the run that is done


class Block(NamedTuple):
    """What was played."""

    plies: Arrays
    counts: dict[str, int]  # of the games that ended, as `GameResults` counts them
    reasons: dict[str, int]


class Finished(NamedTuple):
    """A block that was played."""

    task: Task
    block: Block
    after: Ref  # the stream after it


class Job(NamedTuple):
    """A block to play, with what it needs."""

    task: Task
    weights: Ref
    before: Ref | None  # the stream; where there is none, it begins anew


class Actor:
    """What runs in such a process."""

    def __init__(self, learner: str, settings: Mapping[str, Any], block_rows: int) -> None:
        threads.limit(CPUS)
        config = build(find_learner(learner).config, {**settings, "threads": CPUS}, "an actor's settings")
        self.own, self.seed, self.weights = distributed(learner, config, block_rows), config.seed, b""

    def ready(self) -> int:
        """The process that it runs in."""
        return os.getpid()

    def play(self, task: Task, weights: bytes, before: Arrays | None) -> tuple[Block, Arrays]:
        """A block, and what its stream is after it."""
        own, results = self.own, self.own.games.results
        if weights != self.weights:
            load_weights(own, weights)
            self.weights = weights
        if before is None:
            begin(own, self.seed + task.number, task.stream)  # later in the run other games
        else:
            unpack(own, before)
        results.clear()
        plies = own.play(task.progress)
        return Block(plies, dict(results.counts), dict(results.reasons)), pack(own)


class Actors:
    """The actors of a run, as the learner sees them."""

    def __init__(
        self, ray: Any, count: int, given: tuple[str, Mapping[str, Any], int], gpus: float = 0.0, room: Any = "SPREAD"
    ) -> None:
        """`ray` is the package, connected to a cluster; `given` are the arguments of `Actor`, each of which takes CPUS
        and `gpus` GPUs. `room` is Ray's scheduling strategy for the first one."""
        kind, needs = ray.remote(Actor), {"num_cpus": CPUS, "num_gpus": gpus, "max_restarts": -1}
        places = [room, *(count - 1) * ["SPREAD"]]
        self.ray = ray
        self.actors = [kind.options(scheduling_strategy=place, **needs).remote(*given) for place in places]
        self.starting = dict[Ref, int]()  # {reference to its process: actor}
        self.pids = dict[int, int]()  # {actor that is ready: its process}
        self.jobs = list[Job]()  # that no actor has yet
        self.playing = dict[Ref, tuple[int, Job, Ref]]()
        """{reference to a block: its actor, its job, and the reference to the stream after it}"""
        self.notes, self.nodes, self.next_check = list[str](), set[str](), 0.0  # `nodes` were there when we looked last
        for actor in range(count):
            self._await(actor)

    @property
    def alive(self) -> int:
        """Actors that are ready."""
        return len(self.pids)

    def take_notes(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes

    def get(self, ref: Ref) -> Any:
        """The value; None if it was lost with a node."""
        try:
            return self.ray.get(ref)
        except self.ray.exceptions.ObjectLostError:
            return None

    def abandon(self) -> None:
        """Drop all blocks; actors finish what they play."""
        self.jobs, self.playing = [], {}

    def close(self) -> None:
        """End all actors."""
        self.abandon()
        for actor in self.actors:
            self.ray.kill(actor)

    def wait_until_ready(self, count: int = 1) -> None:
        """Until so many actors are ready, before any block is submitted: starting one takes seconds, which are not part
        of a run."""
        why = "on a new machine an actor compiles the game first"
        for _ in waiting(PATIENCE, lambda: f"{self.alive} of {count} actors are ready; {why}"):
            if self.alive >= count:
                return
            self.wait(1.0)

    def submit(self, task: Task, weights: Ref, before: Ref | None) -> None:
        """Play a block."""
        self.jobs.append(Job(task, weights, before))

    def wait(self, seconds: float) -> Finished | None:
        """A block that is finished; waits up to so long for it."""
        self._check_nodes()
        self._dispatch()
        refs = [*self.starting, *self.playing]
        ready: list[Ref] = self.ray.wait(refs, num_returns=1, timeout=seconds)[0] if refs else []
        return self._take(ready[0]) if ready else None

    def _dispatch(self) -> None:
        """Give the oldest blocks to the actors with the fewest."""
        self.jobs.sort(key=lambda job: job.task.number)
        while self.jobs and self.pids:
            queued = Counter(actor for actor, _, _ in self.playing.values())
            actor = min(self.pids, key=lambda each: queued[each])
            if queued[actor] >= QUEUED:
                return
            job = self.jobs.pop(0)
            block, after = self.actors[actor].play.options(num_returns=2).remote(*job)
            self.playing[block] = actor, job, after

    def _take(self, ref: Ref) -> Finished | None:
        """What has come of a reference: a block, an actor that is ready, or a failure."""
        errors = self.ray.exceptions
        try:
            value = self.ray.get(ref)
        except errors.RayActorError as error:
            if ref in self.starting:  # otherwise Ray goes on trying
                raise Error(f"an actor cannot start: {last_line(error)}") from error
            self._restart(self.playing[ref][0])
            return None
        except (errors.ObjectLostError, errors.RayTaskError) as error:
            if not isinstance(getattr(error, "cause", error), errors.ObjectLostError):
                raise Error(f"an actor failed: {last_line(error)}") from error
            _, job, _ = self.playing.pop(ref)
            self.jobs.append(job._replace(before=None))  # its stream was lost with its node
            return None
        if ref in self.starting:
            self.pids[self.starting.pop(ref)] = value
            return None
        _, job, after = self.playing.pop(ref)
        return Finished(job.task, value, after)

    def _restart(self, actor: int) -> None:
        """Let others play the blocks of a dead actor, which Ray starts again."""
        lost = {ref: job for ref, (other, job, _) in self.playing.items() if other == actor}
        self.playing = {ref: each for ref, each in self.playing.items() if ref not in lost}
        self.jobs += lost.values()
        again = f"blocks that are played again: {len(lost)}"
        self.notes.append(f"actor {actor} (process {self.pids.pop(actor)}) died and is started again; {again}")
        self._await(actor)

    def _await(self, actor: int) -> None:
        """An actor is ready when it tells its process, however often Ray must start it."""
        self.starting[self.actors[actor].ready.options(max_task_retries=-1).remote()] = actor

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


def waiting(limit: float, why: Callable[[], str]) -> Iterator[None]:
    """Rounds of a wait: after NOTICE seconds it is said, with its reason; after `limit` seconds that is an error."""
    begun, said = time.monotonic(), False
    while (waited := time.monotonic() - begun) < limit:
        if waited > NOTICE and not said:
            LOG.info("waiting up to %g seconds: %s ...", limit, why())
            said = True
        yield
    raise NoCluster(f"given up after {limit:g} seconds: {why()}")
