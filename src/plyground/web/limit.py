"""A limit of time for what a game file computes. Whatever it does then, the process ends by itself, without Python's
help: an endless loop may be in compiled code. It leaves a file behind that says which lines it was in.
"""

from __future__ import annotations

import faulthandler
import linecache
import re
import sys
import threading
import time
import traceback
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from plyground.errors import InvalidValue
from plyground.game import Game, load
from plyground.kernels.numba_internals import compile_events
from plyground.play.background import NAME

FRAME = re.compile(r'File "(.+)", line (\d+),? in (\S+)')
LOADING = 10.0  # seconds for the first job of a process, which loads a game, and for importing a game file
KERNELS = {
    "reset_all": "reset",
    "legal_lists": "legal",
    "play_all": "play",
    "play_heads": "play",
    "random_actions": "legal",
    "seats_to_act": "seat",
    "settle_all": "settle",
    "determinize_all": "determinize",
    "evaluate_all": "evaluate",
}
"""kernel: the function of the game that it calls"""
CALLED = re.compile(rf"\.({'|'.join(KERNELS)})\(")


class Limit:
    """Ends this process when a block takes too long. The compiler's own time does not count."""

    def __init__(self, left: IO[Any]) -> None:
        self.left = left  # receives the traceback
        self.seconds = self.since = 0.0  # that are left, and when that was
        self.compiling = 0  # functions that are being compiled: one within the other

    @contextmanager
    def within(self, seconds: float) -> Generator[None]:
        self.seconds = seconds
        self._run()
        try:
            with compile_events(self._pause, self._go_on):
                yield
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _run(self) -> None:
        self.since = time.monotonic()
        faulthandler.dump_traceback_later(max(0.01, self.seconds), exit=True, file=self.left)

    def _pause(self) -> None:
        if not self.compiling:
            faulthandler.cancel_dump_traceback_later()
            self.seconds -= time.monotonic() - self.since
        self.compiling += 1

    def _go_on(self) -> None:
        self.compiling -= 1
        if not self.compiling:
            self._run()


def load_file(path: str) -> Game:
    """A game file, for its constants. One whose import does not end is an error; where it lets no thread run, the
    process ends with a traceback."""
    done: Future[Game] = Future()

    def run() -> None:
        try:
            done.set_result(load(path))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, name=NAME, daemon=True)
    faulthandler.dump_traceback_later(2 * LOADING, exit=True)
    try:
        thread.start()
        return done.result(LOADING)
    except TimeoutError:
        lines = traceback.format_stack(sys._current_frames()[thread.ident or 0])  # pyright: ignore
        what = culprit("".join(reversed(lines)), Path(path).resolve())
        raise InvalidValue(f"{what} did not end within {LOADING:g} s") from None
    finally:
        faulthandler.cancel_dump_traceback_later()


def culprit(words: str, path: Path) -> str:
    """What of a game file ran, by the lines of a traceback, the newest call first: "`text` of my_game.py, line 12,"."""
    frames = [(each[1], int(each[2]), each[3]) for each in FRAME.finditer(words)]
    for file, line, name in frames:
        if file == str(path):
            return f"{'importing' if name == '<module>' else f'`{name}` of'} {path.name}, line {line},"
    for file, line, _ in frames:  # a kernel has no frame of its own
        if called := CALLED.search(linecache.getline(file, line)):
            return f"`{KERNELS[called[1]]}` of {path.name}"
    return f"what {path.name} computes"
