"""A worker: a process that thinks. It reads jobs from its standard input, one at a time, and writes answers.

A job is answered by `Answer`s with its number: any number of them with `more`, and a last one. `Cancel` ends the
answers of a job early; whatever is too deep in compiled code to notice is ended by the server, with the process. When
the server is gone, the input ends, and so does the process, even in the middle of a search. A job with a limit ends the
process itself (`limit.py`).
"""

from __future__ import annotations

import functools
import os
import queue
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, get_type_hints

import msgspec

from plyground import specs
from plyground.agents.agent import GIVES_UP, Agent, compile_kernels, make, why_it_gives_up
from plyground.agents.turns import Turn
from plyground.checks.fault_lines import fault_of_file
from plyground.errors import Error
from plyground.kernels.numba_internals import NumbaError
from plyground.web import host, thinking
from plyground.web.host import Place, load_game
from plyground.web.limit import Limit

HELD = 16  # agents that a process keeps ready
TABLES = 64  # that it remembers
LARGEST = 8_000_000  # bytes of an answer
LENGTH = struct.Struct("<I")  # before each message


class Job(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What a worker is asked for; `number` is the server's."""

    number: int = 0
    seconds: float = 0.0
    """in which it ends, without those of the compiler; 0: no limit"""


class Think(Job, frozen=True, kw_only=True):
    """An agent's action. Answer: `Thought`."""

    place: Place
    agent: str
    seed: int
    turn: Turn | None = None
    """that the agent is in"""


class Call(Job, frozen=True, kw_only=True):
    """What a function of `host.FUNCTIONS` computes. Answer: that."""

    function: str
    game: str
    arguments: list[Any]


class Advise(Job, frozen=True, kw_only=True):
    """A hint. Answer: `thinking.Advice`."""

    place: Place


class Analyse(Job, frozen=True, kw_only=True):
    """A search of one position. Answers: `thinking.Found`."""

    place: Place
    agent: str
    threats: bool


class Review(Job, frozen=True, kw_only=True):
    """A whole game, from its start. Answers: `thinking.Reviewed`."""

    place: Place
    agent: str
    actions: list[int]


class ShowPolicy(Job, frozen=True, kw_only=True):
    """What a run's checkpoint thinks of a position. Answer: `thinking.NetworkPolicy`."""

    place: Place
    run: str
    step: int


class Climb(Job, frozen=True, kw_only=True):
    """A ladder. Answers: `thinking.Climbed`."""

    game: str
    agents: list[str]
    games: int


class Cancel(Job, frozen=True, kw_only=True):
    """The answers of a job are no longer wanted."""


Jobs = Think | Call | Advise | Analyse | Review | ShowPolicy | Climb | Cancel


class Thought(msgspec.Struct, frozen=True):
    action: int
    turn: Turn | None
    """the same after the action, if it goes on: for the next `Think` of this game, in whatever process"""
    seconds: float
    """without the time to make the agent ready"""


class Answer(msgspec.Struct, frozen=True):
    number: int
    body: msgspec.Raw = msgspec.Raw(b"\xc0")
    more: bool = False
    error: str = ""
    """a sentence; then there is no body"""


# ---- messages on a pipe ----


def write_message(pipe: IO[bytes], message: Any) -> None:
    data = msgspec.msgpack.encode(message)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> bytes | None:
    """The next message; None at the end."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return pipe.read(*LENGTH.unpack(head))


# ---- the process ----


@functools.lru_cache(maxsize=HELD)
def ready_agent(game: str, spec: str) -> Agent:
    """An agent with everything compiled that it needs."""
    agent = make(spec, load_game(game))
    compile_kernels(agent)
    return agent


def answers_to(job: Any) -> Iterator[Any]:
    """What a job is answered with."""
    if isinstance(job, Think):
        yield _think(job)
    elif isinstance(job, Call):
        yield _call(job)
    elif isinstance(job, Advise):
        yield thinking.advise(job.place.read())
    elif isinstance(job, Analyse):
        agent: Any = ready_agent(job.place.game, job.agent)
        yield from thinking.analyse_position(agent, job.place.read(), job.threats)
    elif isinstance(job, Review):
        agent = ready_agent(job.place.game, job.agent)
        yield from thinking.review_game(agent, job.place.read(), job.actions)
    elif isinstance(job, ShowPolicy):
        spec = f"run:{job.run},checkpoint={job.step}"
        yield thinking.policy_of(ready_agent(job.place.game, spec), job.place.read())
    elif isinstance(job, Climb):
        yield from thinking.climb(load_game(job.game), job.agents, job.games)


def _call(job: Call) -> Any:
    """The arguments become what the function's annotations say."""
    function = host.FUNCTIONS[job.function]
    kinds: list[Any] = list(get_type_hints(function).values())[1:-1]
    try:
        return function(load_game(job.game), *msgspec.convert(job.arguments, tuple[*kinds]))
    finally:
        host.keep_newest(TABLES)


def _path_of(job: Any) -> Path:
    """The file of a job's game, if it has one."""
    return Path(specs.split(job.game if hasattr(job, "game") else job.place.game)[0])


def _think(job: Think) -> Thought:
    position, agent = job.place.read(), ready_agent(job.place.game, job.agent)
    position.turns = {0: job.turn} if job.turn else {}
    begun = time.perf_counter()
    action = position.ask(agent, job.seed)
    if action == GIVES_UP:
        raise Error(f"{job.agent} gives up: {why_it_gives_up(agent)}")
    return Thought(action, position.turns.get(0), time.perf_counter() - begun)


class Worker:
    """The loop of the process."""

    def __init__(self, jobs: IO[bytes], answers: IO[bytes], left: Path | None = None) -> None:
        self.jobs, self.answers, self.left = jobs, answers, left
        self.limit = Limit(left.open("wb") if left else sys.stderr)
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.cancelled = 0  # the number of the newest job that is no longer wanted

    def read(self) -> None:
        """In a thread of its own, so that `Cancel` and the end are noticed during a job."""
        decoder = msgspec.msgpack.Decoder(Jobs)
        while (data := read_message(self.jobs)) is not None:
            job = decoder.decode(data)
            if isinstance(job, Cancel):
                self.cancelled = job.number
            else:
                self.waiting.put(job)
        if engines := sys.modules.get("plyground.agents.uci"):
            engines.close_all()
        if self.left is not None:  # a server that was killed has not removed it
            self.left.unlink(missing_ok=True)
        os._exit(0)

    def run(self) -> None:
        while True:
            job = self.waiting.get()
            try:
                with self.limit.within(job.seconds) if job.seconds else nullcontext():
                    self._answer(job)
            except BrokenPipeError:
                return
            except Error as error:
                self._write(job, error=str(error))
            except Exception as error:  # whatever a person's own game or agent does
                if not isinstance(error, NumbaError):  # whose words are in the answer
                    traceback.print_exc()
                self._write(
                    job,
                    error=fault_of_file(error, _path_of(job)) or f"{type(error).__name__}, see the server's terminal",
                )

    def _answer(self, job: Any) -> None:
        """One answer is held back, so that the last one says that it is."""
        body: Any = None
        for number, each in enumerate(answers_to(job)):
            if number:
                self._write(job, body, more=True)
            body = each
            if self.cancelled >= job.number:
                break
        self._write(job, body)

    def _write(self, job: Any, body: Any = None, more: bool = False, error: str = "") -> None:
        raw = msgspec.Raw(msgspec.msgpack.encode(body))
        if len(raw) > LARGEST:
            raise Error(f"the answer has {len(raw) // 1_000_000:,} MB: pictures and texts are too large")
        write_message(self.answers, Answer(job.number, raw, more, error))


def main() -> None:
    """Answer jobs until the input ends. What other code prints goes to the error output. The first argument is the file
    that says what a process was at when its limit ended it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = Worker(sys.stdin.buffer, answers, Path(sys.argv[1]) if sys.argv[1:] else None)
    threading.Thread(target=worker.read, daemon=True).start()
    worker.run()


if __name__ == "__main__":
    main()
