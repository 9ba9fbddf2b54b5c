"""A limit of time for what a game file computes. Whatever it does then, the process ends by itself, without Python's
help: an endless loop may be in compiled code. It leaves a file behind that says which lines it was in.
"""

from __future__ import annotations

import faulthandler
import linecache
import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from numba.core import event

FRAME = re.compile(r'File "(.+)", line (\d+) in (\S+)')
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


class Limit(event.Listener):
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
            with event.install_listener("numba:compile", self):
                yield
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _run(self) -> None:
        self.since = time.monotonic()
        faulthandler.dump_traceback_later(max(0.01, self.seconds), exit=True, file=self.left)

    def on_start(self, event: Any) -> None:
        if not self.compiling:
            faulthandler.cancel_dump_traceback_later()
            self.seconds -= time.monotonic() - self.since
        self.compiling += 1

    def on_end(self, event: Any) -> None:
        self.compiling -= 1
        if not self.compiling:
            self._run()


def culprit(traceback: str, path: Path) -> str:
    """What of a game file ran, by a traceback, the newest call first: "`text` of my_game.py, line 12,"."""
    frames = [(each[1], int(each[2]), each[3]) for each in FRAME.finditer(traceback)]
    own = [(line, name) for file, line, name in frames if file == str(path)]
    if own:
        name = own[-1][1]
        what = "importing" if name == "<module>" else f"`{name}` of"
        return f"{what} {path.name}, line {own[0][0]},"
    for file, line, _ in frames:  # a kernel has no frame of its own
        if called := CALLED.search(linecache.getline(file, line)):
            return f"`{KERNELS[called[1]]}` of {path.name}"
    return f"what {path.name} computes"
