"""A worker: a process that thinks. It reads jobs from its standard input, one at a time, and writes answers.

A job is answered by `Answer`s with its number: any number of them with `more`, and a last one. `Cancel` ends the
answers of a job early; whatever is too deep in compiled code to notice is ended by the server, with the process. When
the server is gone, the input ends, and so does the process, even in the middle of a search.
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
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import GIVES_UP, Agent, compile_kernels, make, why_it_gives_up
from plyground.errors import Error
from plyground.game import Game, load
from plyground.position import Position
from plyground.web import thinking

HELD = 16  # agents that a process keeps ready
LENGTH = struct.Struct("<I")  # before each message


class Place(msgspec.Struct, frozen=True):
    """A position: the game's spec, its record and its generator."""

    game: str
    states: bytes  # [1] of STATE
    rngs: bytes  # [1] uint64

    def read(self) -> Position:
        game = load_game(self.game)
        states: NDArray[np.void] = np.frombuffer(self.states, game.rules.STATE)
        return Position(game, states, rngs=np.frombuffer(self.rngs, np.uint64))


def place_of(position: Position) -> Place:
    return Place(position.game.full, position.states.tobytes(), position.rngs.tobytes())


class Job(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What a worker is asked for; `number` is the server's."""

    number: int = 0


class Think(Job, frozen=True, kw_only=True):
    """An agent's action. Answer: `Thought`."""

    place: Place
    agent: str
    seed: int


class ReadText(Job, frozen=True, kw_only=True):
    """A position or a game that a person has pasted. Answer: `thinking.Start`."""

    game: str
    text: str
    which: int
    """of several games"""


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


Jobs = Think | ReadText | Advise | Analyse | Review | ShowPolicy | Climb | Cancel


class Thought(msgspec.Struct, frozen=True):
    action: int
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
def load_game(spec: str) -> Game:
    return load(spec)


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
    elif isinstance(job, ReadText):
        yield thinking.read_start(load_game(job.game), job.text, job.which)
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


def _think(job: Think) -> Thought:
    position, agent = job.place.read(), ready_agent(job.place.game, job.agent)
    begun = time.perf_counter()
    action = position.ask(agent, job.seed)
    if action == GIVES_UP:
        raise Error(f"{job.agent} gives up: {why_it_gives_up(agent)}")
    return Thought(action, time.perf_counter() - begun)


class Worker:
    """The loop of the process."""

    def __init__(self, jobs: IO[bytes], answers: IO[bytes]) -> None:
        self.jobs, self.answers = jobs, answers
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
        os._exit(0)

    def run(self) -> None:
        while True:
            job = self.waiting.get()
            try:
                self._answer(job)
            except BrokenPipeError:
                return
            except Error as error:
                self._write(job, error=str(error))
            except Exception as error:  # whatever a person's own game or agent does; its words may quote a whole state
                traceback.print_exc()
                self._write(job, error=f"{type(error).__name__}, see the server's terminal")

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
        write_message(self.answers, Answer(job.number, raw, more, error))


def main() -> None:
    """Answer jobs until the input ends. What other code prints goes to the error output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = Worker(sys.stdin.buffer, answers)
    threading.Thread(target=worker.read, daemon=True).start()
    worker.run()


if __name__ == "__main__":
    main()
