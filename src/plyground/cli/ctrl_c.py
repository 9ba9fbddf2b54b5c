"""Ctrl-C and SIGTERM that end a command at once, even in compiled code."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

STOPS = (signal.SIGINT, signal.SIGTERM)
STOPPED = 130  # the exit code, as of a process that Ctrl-C has ended
SAVED = "what was saved is there"
GRACE = 2.0  # seconds in which Python must react after Ctrl-C, and a rule must end
PROBE = signal.SIGUSR1 if sys.platform != "win32" else signal.SIGBREAK  # a signal of no other use here


def stop_at_once(*agents: object, kept: str = "nothing was kept") -> None:
    """Let Ctrl-C and SIGTERM end the process even in compiled code, which blocks Python's signal handlers but not other
    threads.

    An agent that learns has something to save first: with one, they raise KeyboardInterrupt.
    """
    learns = any(hasattr(agent, "ended") for agent in agents)
    if _is_main_thread():
        for number in STOPS:
            signal.signal(number, signal.default_int_handler if learns else _wait_for_listener)
        signal.set_wakeup_fd(-1 if learns else _listener(kept))  # signals are written there at once


def _wait_for_listener(number: int, frame: Any) -> None:
    """A handler that does nothing: in compiled code Python's own would run too late."""


@functools.cache  # one thread for all commands of a process
def _listener(kept: str) -> int:
    """The end of a pipe: when a number of STOPS is written to it, the process ends."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def wait() -> NoReturn:
        while os.read(reader, 1)[0] not in STOPS:
            pass
        _end(kept)

    threading.Thread(target=wait, daemon=True).start()
    return writer


@contextmanager
def ends_if_stuck(kept: str = SAVED) -> Generator[None]:
    """Python's handlers receive Ctrl-C and SIGTERM as ever, to stop and save, and what they do may take long. But the
    process ends if it is stuck: if no handler runs for GRACE seconds after a second signal, for compiled code blocks
    them; and after the first one, if a game file is loaded and one call of its rules lasts so long. Runs are
    crash-safe."""
    if not _is_main_thread():
        yield
        return
    (reader, writer), ended, reacted = os.pipe(), threading.Event(), threading.Event()
    os.set_blocking(writer, False)
    before, probe = signal.set_wakeup_fd(writer), signal.signal(PROBE, lambda number, frame: reacted.set())

    def wait() -> None:
        numbers = 0
        while True:
            modules = [getattr(module, "__dict__", {}) for module in [*sys.modules.values()]]
            endless = any(map(_is_game_file, modules))  # a game file's rules may be, ours are tested
            if numbers >= (1 if endless or _begins(kept) else 2):
                break
            read = os.read(reader, 1)
            if not read:  # the block has ended
                return
            numbers += read[0] in STOPS
        _end_if_stuck(main, ended, reacted, kept)

    main, thread = threading.get_ident(), threading.Thread(target=wait, daemon=True)
    thread.start()
    try:
        yield
    finally:
        if (now := signal.set_wakeup_fd(before)) != writer:  # `stop_at_once` listens
            signal.set_wakeup_fd(now)
        ended.set()
        os.close(writer)
        thread.join()
        signal.signal(PROBE, probe)
        os.close(reader)


def _end_if_stuck(main: int, ended: threading.Event, reacted: threading.Event, kept: str) -> None:
    """Handlers save now, however long that takes: probe whether they run, and whether a call of rules ends."""
    call: FrameType | None = None
    heard = begun = time.monotonic()
    while not ended.is_set():
        signal.pthread_kill(main, PROBE)
        ended.wait(GRACE / 8)
        frames = list[FrameType]()  # the calls of the main thread, the newest first
        frame = sys._current_frames().get(main)  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
        modules = [str(each.f_globals.get("__name__")) for each in frames]
        rules = (  # a game file's function, or compiled rules in several threads
            each
            for each, module in zip(frames, modules, strict=True)
            if _is_game_file(each.f_globals) or module == "plyground.kernels.threads"
        )
        now, before, call = time.monotonic(), call, next(rules, None)
        in_compiler = any(module.startswith(("numba.", "llvmlite.")) for module in modules)
        compiles = in_compiler and not _begins(kept)  # the compiler hears no signal for seconds
        if compiles or reacted.is_set():
            heard = now
        if compiles or call is None or call is not before:
            begun = now
        reacted.clear()
        if now - min(heard, begun) >= GRACE and not ended.is_set():
            _end(kept)


def _begins(kept: str) -> bool:
    """Whether a command that saves has nothing to save yet: it has not set its handler."""
    return kept == SAVED and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _is_game_file(names: Mapping[str, Any]) -> bool:
    """Whether these are the names of a game file's module."""
    interface = sys.modules.get("plyground.games.interface")  # nothing may be imported here
    return interface is not None and "STATE" in names and str(names.get("__name__")).startswith(interface.FILE_PREFIX)


@contextmanager
def stop_on_signal() -> Generator[list[int]]:
    """A list that receives the first Ctrl-C or SIGTERM; the second one raises KeyboardInterrupt."""
    found: list[int] = []

    def note(number: int, _: Any) -> None:
        if found:
            raise KeyboardInterrupt(SAVED)
        found.append(number)

    old = {number: signal.signal(number, note) for number in STOPS}
    try:
        yield found
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def interruptible(*others: int, kept: str = "") -> Generator[None]:
    """Ctrl-C, and the signals `others`, raise KeyboardInterrupt in the block where `stop_at_once` has replaced that.

    See `ends_if_stuck` for `kept`."""
    if signal.getsignal(signal.SIGINT) is not _wait_for_listener or not _is_main_thread():
        yield
        return
    raising = (signal.SIGINT, *others)
    before = {each: signal.signal(each, signal.default_int_handler if each in raising else _end_now) for each in STOPS}
    woken = signal.set_wakeup_fd(-1)
    try:
        with ends_if_stuck(kept):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken)


def _is_main_thread() -> bool:
    """Other threads receive no signals."""
    return threading.current_thread() is threading.main_thread()


def leave(code: int | str | None) -> NoReturn:
    """End the process. A person who has stopped it does not wait for the end of Python: with torch that takes a second.
    And LLVM may not be at work then: a compiler in the background ends with the process."""
    background = sys.modules.get("plyground.play.background")
    if code != STOPPED and (background is None or not background.compiling()):
        sys.exit(code)
    _close_engines()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # whoever read it is gone
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _end_now(number: int, frame: Any) -> NoReturn:
    """A handler for a signal that ends the process where Ctrl-C ends less: a search, a line at the prompt."""
    _end("")


def _end(kept: str) -> NoReturn:
    """End the process at once, and the engines that it started."""
    say_stopped(kept)
    _close_engines()
    os._exit(STOPPED)


def _close_engines() -> None:
    if engines := sys.modules.get("plyground.agents.uci"):  # nothing may be imported now
        engines.close_all()


def say_stopped(kept: str) -> None:
    """Tell the person, and what is kept, where that is known."""
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # which a progress bar hides
    print(f"{show_cursor}plyground: stopped{f'; {kept}' if kept else ''}", file=sys.stderr, flush=True)
