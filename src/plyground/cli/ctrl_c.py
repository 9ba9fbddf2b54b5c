"""Ctrl-C that ends a command at once, even in compiled code."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

GRACE = 2.0  # seconds that Python has after a second Ctrl-C


def stop_at_once(*agents: object, kept: str = "nothing was kept") -> None:
    """Let Ctrl-C end the process even in compiled code, which blocks Python's signal handlers but not other threads.

    An agent that learns has something to save first: with one, Ctrl-C stays as it is.
    """
    learns = any(hasattr(agent, "ended") for agent in agents)
    if threading.current_thread() is threading.main_thread() and not learns:
        signal.signal(signal.SIGINT, lambda number, frame: None)  # Python's own handler would run too late
        _listen_for_ctrl_c(kept)


@functools.cache  # once
def _listen_for_ctrl_c(kept: str) -> None:
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)  # signals are written there at once

    def wait() -> NoReturn:
        while os.read(heard, 1)[0] != signal.SIGINT:
            pass
        _end(kept)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def second_ends() -> Generator[None]:
    """Python's handlers receive Ctrl-C and SIGTERM as ever, to stop and save. If they have not ended this block within
    GRACE seconds after a second one, compiled code blocks them: the process ends. Runs are crash-safe."""
    if threading.current_thread() is not threading.main_thread():  # others receive no signals
        yield
        return
    (heard, told), ended = os.pipe(), threading.Event()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told)

    def wait() -> None:
        numbers = 0
        while numbers < 2:
            read = os.read(heard, 1)
            if not read:  # the block has ended
                return
            numbers += read[0] in (signal.SIGINT, signal.SIGTERM)
        if not ended.wait(GRACE):
            _end("what was saved is there")

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    try:
        yield
    finally:
        if (now := signal.set_wakeup_fd(before)) != told:  # `stop_at_once` listens
            signal.set_wakeup_fd(now)
        ended.set()
        os.close(told)
        thread.join()
        os.close(heard)


def _end(kept: str) -> NoReturn:
    """End the process, and the engines that it started."""
    say_stopped(kept)
    if engines := sys.modules.get("plyground.agents.uci"):  # nothing may be imported now
        engines.close_all()
    os._exit(130)


def say_stopped(kept: str) -> None:
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # which a progress bar hides
    print(f"{show_cursor}plyground: stopped; {kept}", file=sys.stderr, flush=True)
