"""Worker processes and their lanes: quick moves, slow moves, analyses. A long job never holds up another lane.

A job has a time limit; a worker that exceeds it is ended and replaced, like one that dies. A job that is cancelled has
a moment to end by itself, in which nobody else gets its worker.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from plyground.errors import Error
from plyground.game import Game
from plyground.position import Position
from plyground.web import worker
from plyground.web.worker import LENGTH, Answer, Job, Place, Think, Thought, place_of

Kind = TypeVar("Kind")
QUICK = 0.05  # seconds: agents that answer sooner share a lane
FIRST_AGENT, FIRST_SEARCH = "random", "search:sims=1"  # every game has them
GRACE = 2.0  # seconds in which a cancelled job may end by itself
THINKING = 60.0  # seconds for one action
ANSWERING = 600.0  # seconds for an analysis, a review or a ladder
WIDTH = 64  # short jobs that wait inside a worker
DIED = "the process that was thinking has ended unexpectedly"
COMMAND = [sys.executable, "-m", worker.__name__]


class WorkerFailed(Error):
    """A job without an answer: its worker has died, or it took too long."""


class Process:
    """One worker process. It does one job after another; several may wait in it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.answers: dict[int, asyncio.Queue[Answer | None]] = {}  # of each job; None: the process has ended
        self.reader = asyncio.get_running_loop().create_task(self._read())

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
        return self.process.returncode is None and not self.reader.done()

    async def _read(self) -> None:
        """Hand out answers until the process ends."""
        assert self.process.stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = LENGTH.unpack(await self.process.stdout.readexactly(LENGTH.size))
                answer = msgspec.msgpack.decode(await self.process.stdout.readexactly(length), type=Answer)
                if answer.number in self.answers:
                    self.answers[answer.number].put_nowait(answer)
        for waiting in self.answers.values():
            waiting.put_nowait(None)

    def send(self, job: Job) -> None:
        assert self.process.stdin is not None
        data = msgspec.msgpack.encode(job)
        with suppress(ConnectionError, RuntimeError):  # it has ended: the reader tells
            self.process.stdin.write(LENGTH.pack(len(data)) + data)

    async def next(self, job: Job) -> Answer:
        """The next answer to a job; WorkerFailed if the process is gone."""
        answer = await self.answers[job.number].get() if self.alive or not self.answers[job.number].empty() else None
        if answer is None:
            raise WorkerFailed(DIED)
        return answer

    async def end(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        await self.reader


class Slot:
    """The place of one worker, which is started when it is first needed and again after its end."""

    def __init__(self) -> None:
        self.process: Process | None = None
        self.lock = asyncio.Lock()

    async def ready(self) -> Process:
        async with self.lock:
            if self.process is None or not self.process.alive:
                self.process = await Process.start()
            return self.process


class Lane:
    """Some workers and the jobs that wait for one. `width` jobs may wait inside each: then a worker need not wait for
    the server between two short jobs."""

    def __init__(self, size: int, width: int = 1) -> None:
        self.slots = [Slot() for _ in range(size)]
        self.free: asyncio.Queue[Slot] = asyncio.Queue()
        for slot in self.slots * width:
            self.free.put_nowait(slot)
        self.closing: set[asyncio.Task[None]] = set()

    async def run(self, job: Job, limit: float) -> AsyncGenerator[msgspec.Raw]:
        """The answers to a job; an Error where it could not be done."""
        slot = await self.free.get()
        process: Process | None = None
        try:
            process = await slot.ready()
            process.answers[job.number] = asyncio.Queue()
            process.send(job)
            async with asyncio.timeout(limit):
                more = True
                while more:
                    answer = await process.next(job)
                    if answer.error:
                        raise Error(answer.error)
                    more = answer.more
                    yield answer.body
        except TimeoutError:
            self._later(self._end(process))
            raise WorkerFailed(f"there was no answer within {limit:g} s") from None
        except (asyncio.CancelledError, GeneratorExit):
            self._later(self._wind_down(slot, process, job))
            slot = None
            raise
        finally:
            if slot is not None:
                if process is not None:
                    process.answers.pop(job.number, None)
                self.free.put_nowait(slot)

    async def _wind_down(self, slot: Slot, process: Process | None, job: Job) -> None:
        """Wait for the end of a cancelled job, then give its place to the next one."""
        try:
            if process is not None:
                process.send(worker.Cancel(number=job.number))
                async with asyncio.timeout(GRACE):
                    while (await process.next(job)).more:
                        pass
        except (TimeoutError, KeyError):
            await self._end(process)
        except WorkerFailed:
            pass
        finally:
            if process is not None:
                process.answers.pop(job.number, None)
            self.free.put_nowait(slot)

    async def _end(self, process: Process | None) -> None:
        if process is not None:
            await process.end()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.closing.add(task)
        task.add_done_callback(self.closing.discard)

    async def close(self) -> None:
        for task in list(self.closing):
            task.cancel()
        for slot in self.slots:
            await self._end(slot.process)


class Workers:
    """All lanes of a server."""

    def __init__(self, cores: int | None = None) -> None:
        cores = cores or os.cpu_count() or 1
        self.quick, self.slow, self.analysing = Lane(1, WIDTH), Lane(max(2, cores)), Lane(max(1, cores // 2))
        self.numbers = itertools.count(1)
        self.seconds: dict[tuple[str, str], float] = {}  # (game, agent): how long it thought last

    async def prepare(self, games: Sequence[Game]) -> None:
        """Start a worker of each lane and load the games there, before a person waits for them."""
        for game in games:
            place = place_of(await asyncio.to_thread(game.start))
            for lane in (self.slow, self.quick, self.analysing):  # the first one compiles, if that is due
                job = Think(number=next(self.numbers), place=place, agent=FIRST_AGENT, seed=0)
                with suppress(Error):  # whoever plays the game is told
                    await self._one(lane, job, Thought)
        for game in games:  # the first analysis ever would wait half a minute for the compiler
            job = Think(number=next(self.numbers), place=place_of(game.start()), agent=FIRST_SEARCH, seed=0)
            with suppress(Error):
                await self._one(self.slow, job, Thought, ANSWERING)

    async def think(self, position: Position, agent: str, seed: int) -> int:
        """The action of an agent. If its worker dies, another one tries once more."""
        place = place_of(position)
        try:
            return await self._think(place, agent, seed)
        except WorkerFailed as error:
            if str(error) != DIED:
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

    async def _one(self, lane: Lane, job: Job, kind: type[Kind], limit: float = THINKING) -> Kind:
        found: Kind | None = None
        async for each in lane.run(job, limit):
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
