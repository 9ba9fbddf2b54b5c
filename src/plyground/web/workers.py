"""Worker processes and their lanes: quick moves, slow moves, analyses. A long job never holds up another lane.

A job has a time limit; a worker that exceeds it is ended and replaced, like one that dies. A job that is cancelled has
a moment to end by itself, in which nobody else gets its worker.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from plyground.errors import Error
from plyground.position import Position
from plyground.web import worker
from plyground.web.worker import LENGTH, Answer, Job, Place, Think, Thought, place_of

Kind = TypeVar("Kind")
QUICK = 0.05  # seconds: agents that answer sooner share a lane
GRACE = 2.0  # seconds in which a cancelled job may end by itself
THINKING = 60.0  # seconds for one action
ANSWERING = 600.0  # seconds for an analysis, a review or a ladder
LONGEST = 1 << 26  # bytes of an answer
COMMAND = [sys.executable, "-m", worker.__name__]


class WorkerFailed(Error):
    """A job without an answer: its worker has died, or it took too long."""


class Process:
    """One worker process, which does one job at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls) -> Process:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # several of them share the cores
        pipe = asyncio.subprocess.PIPE
        started = asyncio.create_subprocess_exec(
            *COMMAND, stdin=pipe, stdout=pipe, env=environment, start_new_session=True
        )  # Ctrl-C is for the server alone
        return cls(await started)

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    def send(self, job: Job) -> None:
        assert self.process.stdin is not None
        data = msgspec.msgpack.encode(job)
        self.process.stdin.write(LENGTH.pack(len(data)) + data)

    async def receive(self) -> Answer:
        """The next answer; WorkerFailed if the process is gone."""
        assert self.process.stdout is not None
        try:
            (length,) = LENGTH.unpack(await self.process.stdout.readexactly(LENGTH.size))
            if length > LONGEST:
                raise WorkerFailed(f"a worker has answered with {length} bytes, more than {LONGEST}")
            return msgspec.msgpack.decode(await self.process.stdout.readexactly(length), type=Answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise WorkerFailed("the process that was thinking has ended unexpectedly") from None

    async def answers(self, job: Job) -> AsyncGenerator[msgspec.Raw]:
        """The answers to a job; an Error where it could not be done."""
        self.send(job)
        more = True
        while more:
            answer = await self.receive()
            if answer.number != job.number:
                continue  # the rest of a job that was cancelled
            if answer.error:
                raise Error(answer.error)
            more = answer.more
            yield answer.body

    async def end(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class Lane:
    """Some workers, started when they are first needed, and the jobs that wait for one."""

    def __init__(self, size: int) -> None:
        self.free: asyncio.Queue[Process | None] = asyncio.Queue()  # None: not started
        for _ in range(size):
            self.free.put_nowait(None)
        self.all: set[Process] = set()
        self.closing: set[asyncio.Task[None]] = set()

    async def take(self) -> Process:
        """A worker, when one is free."""
        process = await self.free.get()
        if process is not None and process.alive:
            return process
        try:
            started = await Process.start()
        except BaseException:
            self.free.put_nowait(None)
            raise
        self.all = {each for each in self.all if each.alive} | {started}
        return started

    async def run(self, job: Job, limit: float) -> AsyncGenerator[msgspec.Raw]:
        """The answers to a job."""
        process, idle = await self.take(), False
        try:
            async with asyncio.timeout(limit):
                async for each in process.answers(job):
                    yield each
            idle = True
        except TimeoutError:
            raise WorkerFailed(f"there was no answer within {limit:g} s") from None
        except WorkerFailed:
            raise
        except Error:
            idle = True
            raise
        except (asyncio.CancelledError, GeneratorExit):
            self._later(self._wind_down(process, job))
            process = None
            raise
        finally:
            if process is not None:
                self._give_back(process if idle else None)
                if not idle:
                    self._later(process.end())

    def _give_back(self, process: Process | None) -> None:
        self.free.put_nowait(process)

    async def _wind_down(self, process: Process, job: Job) -> None:
        """Wait for the end of a cancelled job, then give its worker to the next one."""
        try:
            process.send(worker.Cancel(number=job.number))
            async with asyncio.timeout(GRACE):
                while True:
                    answer = await process.receive()
                    if answer.number == job.number and not answer.more:
                        break
            self._give_back(process)
        except (TimeoutError, WorkerFailed, OSError):
            self._give_back(None)
            await process.end()

    def _later(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.closing.add(task)
        task.add_done_callback(self.closing.discard)

    async def close(self) -> None:
        for task in list(self.closing):
            task.cancel()
        for process in self.all:
            await process.end()


class Workers:
    """All lanes of a server."""

    def __init__(self, cores: int | None = None) -> None:
        cores = cores or os.cpu_count() or 1
        self.quick, self.slow, self.analysing = Lane(1), Lane(max(2, cores)), Lane(max(1, cores // 2))
        self.numbers = itertools.count(1)
        self.seconds: dict[tuple[str, str], float] = {}  # (game, agent): how long it thought last

    async def think(self, position: Position, agent: str, seed: int) -> int:
        """The action of an agent. If its worker dies, another one tries once more."""
        place = place_of(position)
        try:
            return await self._think(place, agent, seed)
        except WorkerFailed as error:
            if "unexpectedly" not in str(error):
                raise
            return await self._think(place, agent, seed)

    async def _think(self, place: Place, agent: str, seed: int) -> int:
        key = (place.game, agent)
        lane = self.quick if self.seconds.get(key, QUICK) < QUICK else self.slow
        thought = await self._one(lane, Think(number=next(self.numbers), place=place, agent=agent, seed=seed), Thought)
        self.seconds[key] = thought.seconds
        return thought.action

    async def ask(self, job: Callable[[int], Job], kind: type[Kind]) -> Kind:
        """The one answer to a job of the slow lane."""
        return await self._one(self.slow, job(next(self.numbers)), kind)

    async def _one(self, lane: Lane, job: Job, kind: type[Kind]) -> Kind:
        found: Kind | None = None
        async for each in lane.run(job, THINKING):
            found = msgspec.msgpack.decode(each, type=kind)
        if found is None:
            raise WorkerFailed("there was no answer")
        return found

    async def stream(self, job: Callable[[int], Job], kind: type[Kind]) -> AsyncGenerator[Kind]:
        """The answers to a job of the lane for analyses."""
        async for each in self.analysing.run(job(next(self.numbers)), ANSWERING):
            yield msgspec.msgpack.decode(each, type=kind)

    async def close(self) -> None:
        for lane in (self.quick, self.slow, self.analysing):
            await lane.close()
