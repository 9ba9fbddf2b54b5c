"""Where the time goes: seconds by label, measured on the device."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

MOST_PENDING = 256  # events that wait to be read; a query takes as long as a launch
NETWORK = "network"  # the label of all time that no timed function takes

P = ParamSpec("P")
R = TypeVar("R")


class Clock:
    """`with clock:` adds the time of the block to `seconds`, by the labels of the `@timed` functions that it calls; a
    nested one's time is taken from the outer one's, and all other time is the network's.

    On a GPU the seconds are the GPU's: events between kernels, read once they have passed, without synchronisation.
    """

    def __init__(self, device_name: str) -> None:
        self.seconds: dict[str, float] = {}
        self._record: Callable[[], Any] | None = None
        if device_name == "cuda":
            from plyground.backend.device import SIMULATED, record_event  # not at the top: that imports torch

            self._record = None if SIMULATED else record_event
        self._labels: list[str] = []  # of the functions that run now, outermost first
        self._before: Any = None  # the previous mark: a time, or an event
        self._pending: deque[tuple[str, Any]] = deque()  # labels and events that may not have passed yet

    def __enter__(self) -> Clock:
        self._token = _current.set(self)
        self._labels = [NETWORK]
        self._mark("")
        return self

    def __exit__(self, *_: object) -> None:
        self._mark(NETWORK)
        _current.reset(self._token)

    def push(self, label: str) -> None:
        if label != self._labels[-1]:
            self._mark(self._labels[-1])
        self._labels.append(label)

    def pop(self) -> None:
        label = self._labels.pop()
        if label != self._labels[-1]:
            self._mark(label)

    def _mark(self, label: str) -> None:
        """The time since the previous mark belongs to `label`; to nothing if that is empty."""
        if self._record is None:
            self._add(label, time.perf_counter(), lambda before, now: now - before)
            return
        self._pending.append((label, self._record()))
        while len(self._pending) > MOST_PENDING and self._pending[0][1].query():
            name, passed = self._pending.popleft()
            self._add(name, passed, lambda before, now: before.elapsed_time(now) / 1000)

    def _add(self, label: str, now: Any, between: Callable[[Any, Any], float]) -> None:
        if label:
            self.seconds[label] = self.seconds.get(label, 0.0) + between(self._before, now)
        self._before = now


_current: ContextVar[Clock | None] = ContextVar("clock", default=None)


@contextmanager
def untimed() -> Generator[None]:
    """A block whose functions are not told apart: no events between its kernels, which are captured in a graph."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def timed(label: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Attribute a function's time to `label` while a clock runs."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def run(*arguments: P.args, **keywords: P.kwargs) -> R:
            clock = _current.get()
            if clock is None:
                return function(*arguments, **keywords)
            clock.push(label)
            try:
                return function(*arguments, **keywords)
            finally:
                clock.pop()

        return run

    return decorate
