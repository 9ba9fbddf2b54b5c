"""Ctrl-C that ends a command at once, even in compiled code."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from typing import NoReturn


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
        say_stopped(kept)
        if engines := sys.modules.get("plyground.agents.uci"):  # nothing may be imported now
            engines.close_all()
        os._exit(130)

    threading.Thread(target=wait, daemon=True).start()


def say_stopped(kept: str) -> None:
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # which a progress bar hides
    print(f"{show_cursor}plyground: stopped; {kept}", file=sys.stderr, flush=True)
