"""Worker processes and their lanes: quick moves, slow moves, analyses. A long job never holds up another lane. A game
file has processes of its own, which also compute its tables: whatever happens in them, and however they were compiled,
no other game notices it.

A job has a time limit; a worker that exceeds it is ended and replaced, like one that dies. A job that is cancelled has
a moment to end by itself, in which nobody else gets its worker.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from plyground import specs
from plyground.agents.turns import Turn
from plyground.checks.passed_files import has_passed
from plyground.errors import Error
from plyground.game import Game
from plyground.web import host, worker
from plyground.web.host import JOBS, Place
from plyground.web.limit import LOADING, culprit
from plyground.web.tasks import hold
from plyground.web.thinking import Thought, think
from plyground.web.worker import CANCELLED, LENGTH, Answer, Job, kinds_of

Kind = TypeVar("Kind")
QUICK = 0.05  # seconds: agents that answer sooner share a lane
FIRST_AGENT, FIRST_SEARCH = "random", "search:sims=1"  # every game has them
GRACE = 2.0  # seconds in which a cancelled job may end by itself
THINKING = 60.0  # seconds for one action
ANSWERING = 600.0  # seconds for an analysis, a review or a ladder
COMPUTING = 5.0  # seconds for what a game file computes
WIDTH = 64  # short jobs that wait inside a worker
OWN_TABLES, PATIENCE = 3, 0.25  # processes for the tables of a game file; seconds after which another one is started
DIED = "the process that was thinking has ended unexpectedly"
COMMAND = [sys.executable, "-m", worker.__name__]


class WorkerFailed(Error):
    """A job without an answer: its worker has died, or it took too long."""


class Process:
    """One worker process. It does one job after another; several may wait in it."""

    def __init__(self, process: asyncio.subprocess.Process, path: Path | None, left: Path | None) -> None:
        self.process = process
        self.path, self.left = path, left  # the game file that it belongs to, and where it says what it was at
        self.answered, self.seconds = False, 0.0  # any job so far; the limit of the newest one
        self.answers: dict[int, asyncio.Queue[Answer | None]] = {}  # of each job; None: the process has ended
        self.reader = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def start(cls, path: Path | None) -> Process:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # several of them share the cores
        left: Path | None = None
        if path is not None:
            if path.is_file() and not has_passed(path):
                environment["NUMBA_BOUNDSCHECK"] = "1"
            file, name = tempfile.mkstemp(prefix="plyground-")
            os.close(file)
            left = Path(name)
        pipe = asyncio.subprocess.PIPE
        started = asyncio.create_subprocess_exec(
            *COMMAND,
            *([str(left)] if left else []),
            stdin=pipe,
            stdout=pipe,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the server alone
        )
        return cls(await started, path, left)

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
                self.answered = True
                if answer.number in self.answers:
                    self.answers[answer.number].put_nowait(answer)
        for waiting in self.answers.values():
            waiting.put_nowait(None)

    def send(self, job: Job) -> None:
        assert self.process.stdin is not None
        if job.seconds and not self.answered:  # it loads the game first
            job = msgspec.structs.replace(job, seconds=LOADING)
        self.seconds = job.seconds
        data = msgspec.msgpack.encode(job)
        with suppress(ConnectionError, RuntimeError):  # it has ended: the reader tells
            self.process.stdin.write(LENGTH.pack(len(data)) + data)

    async def next(self, job: Job) -> Answer:
        """The next answer to a job; WorkerFailed if the process is gone."""
        answer = await self.answers[job.number].get() if self.alive or not self.answers[job.number].empty() else None
        if answer is None:
            words = self.left.read_text(errors="replace") if self.left and self.left.is_file() else ""
            if not words or self.path is None:
                raise WorkerFailed(DIED)
            raise WorkerFailed(f"{culprit(words, self.path)} did not end within {self.seconds:g} s")
        return answer

    async def end(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        await self.reader
        if self.left is not None:
            self.left.unlink(missing_ok=True)


class Slot:
    """The place of one worker, which is started when it is first needed and again after its end."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.process: Process | None = None
        self.lock = asyncio.Lock()

    async def ready(self) -> Process:
        async with self.lock:
            if self.process is None or not self.process.alive:
                if self.process is not None:
                    await self.process.end()
                self.process = await Process.start(self.path)
            return self.process


class Lane:
    """Some workers and the jobs that wait for one. `width` jobs may wait inside each: then a worker need not wait for
    the server between two short jobs. With patience, a job waits so long for a worker that runs before another one is
    started, and `warm`, which makes a job that loads what all others need, has one ready beforehand."""

    def __init__(self, size: int, width: int = 1, path: Path | None = None, patience: float = 0.0) -> None:
        self.slots = [Slot(path) for _ in range(size)]
        self.patience = patience
        self.warm: Callable[[], Job] | None = None
        self.free: asyncio.Queue[Slot] = asyncio.Queue()
        self.running: asyncio.Queue[Slot] = asyncio.LifoQueue() if patience else self.free  # the last used one first
        for slot in self.slots * width:
            self.free.put_nowait(slot)
        self.closing: set[asyncio.Task[None]] = set()

    async def _take(self) -> Slot:
        """A free place; where all that were used are busy, and remain so, one whose process is started then."""
        if self.running is self.free:
            return await self.free.get()
        if self.free.qsize() < len(self.slots):
            with suppress(TimeoutError):
                async with asyncio.timeout(None if self.free.empty() else self.patience):
                    return await self.running.get()
        return self.free.get_nowait() if not self.free.empty() else await self.running.get()

    async def run(self, job: Job, limit: float, place: Slot | None = None) -> AsyncGenerator[msgspec.Raw]:
        """The answers to a job; an Error where it could not be done."""
        slot: Slot | None = place or await self._take()
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
            hold(self.closing, self._end(process))
            raise WorkerFailed(f"there was no answer within {limit:g} s") from None
        except (asyncio.CancelledError, GeneratorExit):
            hold(self.closing, self._wind_down(slot, process, job))
            slot = None
            raise
        finally:
            if slot is not None:
                if process is not None:
                    process.answers.pop(job.number, None)
                self._return(slot)
        if self.warm is not None and place is None and self.running.qsize() < 2 and not self.free.empty():
            hold(self.closing, self._warm_up(self.warm(), self.free.get_nowait()))

    def _return(self, slot: Slot) -> None:
        alive = slot.process is not None and slot.process.alive
        (self.running if alive else self.free).put_nowait(slot)

    async def _warm_up(self, job: Job, slot: Slot) -> None:
        """Make a worker ready, so that nobody waits for it when another one is busy for long."""
        with suppress(Error):
            async for _ in self.run(job, ANSWERING, slot):
                pass

    async def _wind_down(self, slot: Slot, process: Process | None, job: Job) -> None:
        """Wait for the end of a cancelled job, then give its place to the next one."""
        try:
            if process is not None:
                process.send(Job(job.number, CANCELLED))
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
            self._return(slot)

    async def _end(self, process: Process | None) -> None:
        if process is not None:
            await process.end()

    async def close(self) -> None:
        for task in list(self.closing):
            task.cancel()
        for slot in self.slots:
            await self._end(slot.process)


@dataclass
class Lanes:
    """The processes of our own games, or those of a game file."""

    quick: Lane
    slow: Lane
    analysing: Lane
    tables: Lane

    def all(self) -> list[Lane]:
        return list({id(each): each for each in (self.quick, self.slow, self.analysing, self.tables)}.values())


class Workers:
    """All lanes of a server."""

    def __init__(self, cores: int | None = None) -> None:
        cores = cores or os.cpu_count() or 1
        slow = Lane(max(2, cores))
        self.lanes: dict[str, Lanes] = {"": Lanes(Lane(1, WIDTH), slow, Lane(max(1, cores // 2)), slow)}
        self.numbers = itertools.count(1)
        self.seconds: dict[tuple[str, str], float] = {}  # (game, agent): how long it thought last

    def of(self, spec: str) -> Lanes:
        """The lanes of a game."""
        path = specs.split(spec)[0]
        if not path.endswith(".py"):
            return self.lanes[""]
        if path not in self.lanes:
            file = Path(path)
            own = Lane(2, path=file)
            tables = Lane(OWN_TABLES, path=file, patience=PATIENCE)
            self.lanes[path] = Lanes(own, own, Lane(1, path=file), tables)
        return self.lanes[path]

    async def prepare(self, places: Sequence[Place]) -> None:
        """Start a worker of each lane and load the games of these positions there, before a person waits for them."""
        for place in places:
            lanes = self.of(place.game)
            for lane in (lanes.slow, lanes.quick, lanes.analysing):  # the first one compiles, if that is due
                with suppress(Error):  # whoever plays the game is told
                    await self._one(lane, self._job(think, place, FIRST_AGENT, 0))
        for place in places:  # the first analysis ever would wait half a minute for the compiler
            with suppress(Error):
                job = self._job(think, place, FIRST_SEARCH, 0)
                await self._one(self.of(place.game).slow, job, ANSWERING)

    async def call(self, function: Callable[..., Kind], game: Game, *arguments: Any) -> Kind:
        """What a function of tables returns. A limit is for game files: ours are tested, and end."""
        lane, seconds = self.of(game.full).tables, COMPUTING if game.path else 0.0
        lane.warm = (lambda: self._job(host.prepare, game, seconds=seconds)) if game.path else None
        job = self._job(function, game, *arguments, seconds=seconds)
        return await self._one(lane, job, ANSWERING if seconds else THINKING)

    async def think(self, place: Place, agent: str, seed: int, turn: Turn | None = None) -> Thought:
        """The action of an agent, which is in this turn. If its worker dies, another one tries once more."""
        key, lanes = (place.game, agent), self.of(place.game)
        lane = lanes.quick if self.seconds.get(key, QUICK) < QUICK else lanes.slow
        try:
            thought: Thought = await self._one(lane, self._job(think, place, agent, seed, turn))
        except WorkerFailed as error:
            if str(error) != DIED:
                raise
            thought = await self._one(lane, self._job(think, place, agent, seed, turn))
        if turn is None or not turn.plan:  # else it had nothing to think about
            self.seconds[key] = thought.seconds
        return thought

    async def ask(self, function: Callable[..., Kind], subject: Game | Place, *arguments: Any) -> Kind:
        """What a function returns, in the slow lane."""
        job = self._job(function, subject, *arguments)
        return await self._one(self.of(job.game).slow, job)

    async def stream(
        self, function: Callable[..., Iterator[Kind]], subject: Game | Place, *arguments: Any
    ) -> AsyncGenerator[Kind]:
        """What a function yields, in the lane for analyses."""
        job = self._job(function, subject, *arguments)
        async for each in self.of(job.game).analysing.run(job, ANSWERING):
            yield _decoded(job, each)

    def _job(self, function: Callable[..., Any], subject: Game | Place, *others: Any, seconds: float = 0.0) -> Job:
        named = subject.full if isinstance(subject, Game) else subject
        return Job(next(self.numbers), function.__name__, named, list(others), seconds)

    async def _one(self, lane: Lane, job: Job, limit: float = THINKING) -> Any:
        """The one answer to a job."""
        found = [_decoded(job, each) async for each in lane.run(job, limit)]
        if not found:
            raise WorkerFailed("there was no answer")
        return found[-1]

    async def close(self) -> None:
        for lanes in self.lanes.values():
            for lane in lanes.all():
                await lane.close()


def _decoded(job: Job, answer: msgspec.Raw) -> Any:
    return msgspec.msgpack.decode(answer, type=kinds_of(JOBS[job.function]).answer)
