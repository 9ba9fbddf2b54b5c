"""Compiling while a person looks at the board: steps that a thread runs one after the other."""

from __future__ import annotations

import logging
import threading
from concurrent import futures
from concurrent.futures import Future
from typing import Any

from plyground.kernels.numba_internals import compile_events
from plyground.play.preparation import Steps

LOG = logging.getLogger("plyground")
NAME = "plyground compiler"


class Background:
    """Runs steps in a thread; `futures` holds the result of each, or what it raised.

    The compiler's notices about them are not printed: a front end shows `progress` where it suits.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps, self.ended = steps, False
        self._known = threading.Event()  # whether anything must be compiled: it has begun, or all steps are done
        self.futures: dict[str, Future[Any]] = {name: Future() for name in steps}
        self.thread = threading.Thread(target=self._run, name=NAME, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        LOG.addFilter(self._is_not_ours)
        with compile_events(self._known.set):
            for name, step in self.steps.items():
                if self.ended:
                    break
                try:
                    self.futures[name].set_result(step())
                except BaseException as error:  # raised again where the result is needed
                    self.futures[name].set_exception(error)
        LOG.removeFilter(self._is_not_ours)
        self._known.set()

    def _is_not_ours(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.INFO or record.thread != self.thread.ident

    @property
    def progress(self) -> str:
        """The step that runs and how many there are: `hints, 3 of 3`; empty when all are done."""
        names = list(self.futures)
        left = [name for name in names if not self.futures[name].done()]
        return f"{left[0]}, {names.index(left[0]) + 1} of {len(names)}" if left and not self.ended else ""

    def compiles(self, within: float = 0.0) -> bool:
        """Whether steps go on and something had to be compiled, now or within so many seconds; what an earlier process
        has compiled is only read."""
        return self._known.wait(within) and bool(self.progress)

    def done(self, name: str, within: float = 0.0) -> bool:
        """Whether a step is done, now or within so many seconds."""
        return bool(futures.wait([self.futures[name]], within).done)

    def end(self) -> None:
        """Begin no further step. The compiler cannot be stopped within one."""
        self.ended = True


def compiling() -> bool:
    """Whether a compiler runs in the background: a process that ends now must not wait for it."""
    return any(thread.name == NAME for thread in threading.enumerate())
