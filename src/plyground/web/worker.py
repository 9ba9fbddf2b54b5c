"""A worker: a process that thinks. It reads jobs from its standard input, one at a time, and writes answers.

A job is answered by `Answer`s with its number: any number of them with `more`, and a last one. `Cancel` ends the
answers of a job early; whatever is too deep in compiled code to notice is ended by the server, with the process. When
the server is gone, the input ends, and so does the process, even in the middle of a search. A job with a limit ends the
process itself (`limit.py`).
"""

from __future__ import annotations

import functools
import inspect
import os
import queue
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any, NamedTuple, get_args, get_type_hints

import msgspec

from plyground import specs
from plyground.checks.fault_lines import fault_of_file
from plyground.errors import Error
from plyground.kernels.numba_internals import NumbaError
from plyground.web import host, thinking  # noqa: F401  # pyright: ignore[reportUnusedImport]
from plyground.web.host import JOBS, Place, load_game
from plyground.web.limit import Limit

CANCELLED = ""  # in place of a function: the answers to the job of this number are no longer wanted
TABLES = 64  # that it remembers
LARGEST = 8_000_000  # bytes of an answer
LENGTH = struct.Struct("<I")  # before each message


class Job(msgspec.Struct, frozen=True):
    """A function of `host.JOBS` and its arguments; `number` is the server's."""

    number: int
    function: str
    subject: str | Place = ""
    """the first argument: a game's spec, or where a position is"""
    others: list[Any] = []
    seconds: float = 0.0
    """in which it ends, without those of the compiler; 0: no limit"""

    @property
    def game(self) -> str:
        """The spec of its game."""
        return self.subject if isinstance(self.subject, str) else self.subject.game


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


class Kinds(NamedTuple):
    """What a function of `host.JOBS` takes, and what it returns or, again and again, yields."""

    arguments: list[Any]
    answer: Any
    yields: bool


@functools.cache
def kinds_of(function: Callable[..., Any]) -> Kinds:
    hints = get_type_hints(function)
    answer, yields = hints.pop("return"), inspect.isgeneratorfunction(function)
    return Kinds(list(hints.values()), get_args(answer)[0] if yields else answer, yields)


def answers_to(job: Job) -> Iterator[Any]:
    """What a job is answered with."""
    function = JOBS[job.function]
    kinds = kinds_of(function)
    first = load_game(job.subject) if isinstance(job.subject, str) else job.subject.read()
    others = [msgspec.convert(each, kind) for each, kind in zip(job.others, kinds.arguments[1:], strict=False)]
    try:
        found = function(first, *others)
        yield from found if kinds.yields else [found]
    finally:
        host.keep_newest(TABLES)


class Worker:
    """The loop of the process."""

    def __init__(self, jobs: IO[bytes], answers: IO[bytes], left: Path | None = None) -> None:
        self.jobs, self.answers, self.left = jobs, answers, left
        self.limit = Limit(left.open("wb") if left else sys.stderr)
        self.waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.cancelled = 0  # the number of the newest job that is no longer wanted

    def read(self) -> None:
        """In a thread of its own, so that `Cancel` and the end are noticed during a job."""
        decoder = msgspec.msgpack.Decoder(Job)
        while (data := read_message(self.jobs)) is not None:
            job = decoder.decode(data)
            if job.function == CANCELLED:
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
                    body: Any = None  # an answer is held back, so that the last one says that it is
                    for number, each in enumerate(answers_to(job)):
                        if number:
                            self._write(job, body, more=True)
                        body = each
                        if self.cancelled >= job.number:
                            break
                    self._write(job, body)
            except BrokenPipeError:
                return
            except Error as error:
                self._write(job, error=str(error))
            except Exception as error:  # whatever a person's own game or agent does
                if not isinstance(error, NumbaError):  # whose words are in the answer
                    traceback.print_exc()
                fault = fault_of_file(error, Path(specs.split(job.game)[0]))
                self._write(job, error=fault or f"{type(error).__name__}, see the server's terminal")

    def _write(self, job: Job, body: Any = None, more: bool = False, error: str = "") -> None:
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
