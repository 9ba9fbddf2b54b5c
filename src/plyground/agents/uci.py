"""Any UCI engine as an agent: `uci:stockfish,elo=1350`.

It serves games whose texts are FENs and whose actions have UCI names, such as chess. The engine is a program started
with a list of arguments, never through a shell, in a process group of its own that ends with it, as do the programs
that it started. What it writes is read
into bounded memory. If it does not answer in time, answers an illegal move or dies, that game is given up, `faults`
says why, and a fresh engine is started for the next game.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import queue
import shutil
import signal
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import GIVES_UP
from plyground.errors import Error, IllegalAction, InvalidValue, shorten
from plyground.game import Game, agent_repr
from plyground.position import Position
from plyground.specs import read_number

TIMEOUT = 5.0  # seconds beyond its thinking time after which an engine counts as dead
LONGEST_LINE = 1 << 16  # bytes; the longest lines of engines have a few thousand
LINES_KEPT = 1000  # read and not yet looked at; beyond them the engine waits
MOST_OPTIONS = 1000
LIMITS = {"nodes": "nodes", "depth": "depth", "time": "movetime"}
STRENGTH = {"elo": {"UCI_LimitStrength": "true", "UCI_Elo": "{}"}, "skill": {"Skill Level": "{}"}}  # engine's options
OPTIONS = {
    "time": "seconds for a move (0.05 unless nodes or depth is given)",
    "nodes": "nodes for a move",
    "depth": "plies to search",
    "elo": "strength in Elo, as far as the engine can limit it",
    "skill": "Stockfish's skill level, 0 to 20",
}


class EngineFault(Error):
    """An engine that died, did not answer in time, wrote no lines or named no move."""


class Engine:
    """One running program."""

    def __init__(self, command: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.name, self.timeout = command[0], timeout
        try:
            self.process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, bufsize=0, start_new_session=True)
        except OSError as error:
            raise EngineFault(f"cannot start the engine {shorten(self.name)!r}: {error.strerror}") from None
        self.lines: queue.Queue[bytes] = queue.Queue(LINES_KEPT)
        closed = threading.Event()
        listener = threading.Thread(target=_listen, args=(self.process, self.lines, closed), daemon=True)
        listener.start()
        self.close = weakref.finalize(self, _end, self.process, listener, closed)  # at the latest when it is collected
        _RUNNING.add(self)

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{line}\n".encode())
        except OSError:
            raise EngineFault(f"the engine {self.name!r} has died: it does not take {shorten(line)!r}") from None

    def wait_for(self, word: str, seconds: float = 0.0) -> list[str]:
        """The next line that begins with `word`, and before it the lines that begin with `option`."""
        begun, limit = time.monotonic(), seconds + self.timeout
        options: list[str] = []
        while (left := begun + limit - time.monotonic()) > 0:
            try:
                raw = self.lines.get(timeout=left)
            except queue.Empty:
                break
            if not raw:
                raise EngineFault(f"the engine {self.name!r} has died before it said {word!r}")
            if not raw.endswith(b"\n") and len(raw) == LONGEST_LINE:
                raise EngineFault(f"the engine {self.name!r} writes {LONGEST_LINE} bytes without the end of a line")
            line = raw.decode(errors="replace").strip()
            if line.split()[:1] == [word]:
                return [*options, line]
            if line.startswith("option ") and len(options) < MOST_OPTIONS:
                options.append(line)
        raise EngineFault(f"the engine {self.name!r} has not said {word!r} within {limit:g} s")

    def synchronize(self) -> None:
        """Wait until everything that was said before is answered; a late second `bestmove` is dropped with it."""
        self.tell("isready")
        self.wait_for("readyok")


_RUNNING: weakref.WeakSet[Engine] = weakref.WeakSet()


def running() -> list[Engine]:
    """The engines that run now."""
    return [engine for engine in _RUNNING if engine.close.alive]


def close_all() -> None:
    """End every engine, for a process that ends without its finalizers."""
    for engine in running():
        engine.close()


def _listen(process: Popen[bytes], lines: queue.Queue[bytes], closed: threading.Event) -> None:
    """Collect the lines that the program writes, and an empty one at its end. A line that is too long is the last.
    (Not a method: that would keep the engine alive.)"""
    assert process.stdout is not None
    with io.BufferedReader(process.stdout) as said:  # pyright: ignore[reportArgumentType]
        while not closed.is_set():
            line = said.readline(LONGEST_LINE)
            while not closed.is_set():  # until there is room, or nobody will read it
                with contextlib.suppress(queue.Full):
                    lines.put(line, timeout=0.1)
                    break
            if not line or (not line.endswith(b"\n") and len(line) == LONGEST_LINE):
                return


def _end(process: Popen[bytes], listener: threading.Thread, closed: threading.Event) -> None:
    """Ask the program to quit; kill it if it does not, and in any case the programs that it started."""
    assert process.stdin is not None
    closed.set()
    family = _descendants(process.pid) if process.poll() is None else {}  # an ended process's number may be another's
    with contextlib.suppress(OSError):
        process.stdin.write(b"quit\n")
    with contextlib.suppress(OSError):
        process.stdin.close()
    with contextlib.suppress(TimeoutExpired):
        process.wait(timeout=0.5)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for number, begun in family.items():  # those in groups of their own
        if _parent_and_start(number)[1] == begun:  # not another process that has got the number since
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
    process.kill()
    process.wait()
    listener.join(timeout=1)


def _descendants(ancestor: int) -> dict[int, str]:
    """{number: start time} of the processes that a process has started, and that they have; empty without /proc."""
    everyone = {int(each.name): _parent_and_start(int(each.name)) for each in Path("/proc").glob("[0-9]*")}
    found, new = dict[int, str](), {ancestor}
    while new:
        new = {number for number, (parent, _) in everyone.items() if parent in new and number not in found}
        found |= {number: everyone[number][1] for number in new}
    return found


def _parent_and_start(number: int) -> tuple[int, str]:
    """The parent of a process and when it was started; 0 and nothing if there is none of this number."""
    try:
        words = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()  # a name may hold anything
    except OSError:
        return 0, ""
    return int(words[1]), words[19]


def find(program: str) -> str | None:
    """The path of a program; Debian installs engines in /usr/games, which is not on every PATH."""
    return shutil.which(program) or shutil.which(program, path="/usr/games")


class Uci:
    """An engine that searches with limits and, if asked, limited strength: see OPTIONS."""

    def __init__(
        self, game: Game, command: Sequence[str], options: Mapping[str, float] | None = None, timeout: float = TIMEOUT
    ) -> None:
        if game.rules.hidden:
            raise InvalidValue(
                f"an engine is sent whole positions, and {game} hides something: use another agent there"
            )
        self.game, self.timeout, self.options = game, timeout, dict(options or {})
        found = find(command[0])
        if found is None:
            raise InvalidValue(f"no engine {shorten(command[0])!r}: there is no such program, or it may not be run")
        self.command = [found, *command[1:]]
        self.faults: list[str] = []
        self._engine: Engine | None = None
        self._started()  # a wrong option is an error now

    __repr__ = agent_repr

    def __str__(self) -> str:
        return f"uci:{Path(self.command[0]).name}"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[N] actions, one game after the other; GIVES_UP where the engine failed. `rngs` is not used."""
        actions = np.empty(len(states), np.int32)
        limits = {name: value for name, value in self.options.items() if name in LIMITS} or {"time": 0.05}
        for row in range(len(states)):
            position = Position(self.game, states[row : row + 1])
            try:
                engine = self._started()
                engine.synchronize()
                engine.tell(f"position fen {position.view}")
                numbers = [f"{LIMITS[k]} {max(1, round(1000 * v if k == 'time' else v))}" for k, v in limits.items()]
                engine.tell(f"go {' '.join(numbers)}")
                words = engine.wait_for("bestmove", limits.get("time", 60.0))[-1].split()
                if len(words) < 2:
                    raise EngineFault(f"the engine {engine.name!r} names no move after 'bestmove' in {position.view!r}")
                actions[row] = position.action(words[1])
            except (EngineFault, IllegalAction) as error:
                if self._engine:
                    self._engine.close()
                self._engine = None
                self.faults.append(f"{self.command[0]}: {error}")
                actions[row] = GIVES_UP
        return actions

    def _started(self) -> Engine:
        """The running engine, set to its strength."""
        if self._engine is None:
            engine = Engine(self.command, self.timeout)
            given = {option: str(round(value)) for option, value in self.options.items() if option in STRENGTH}
            settings = {name: text.format(value) for k, value in given.items() for name, text in STRENGTH[k].items()}
            try:
                engine.tell("uci")
                offered = [line.partition(" name ")[2].partition(" type ") for line in engine.wait_for("uciok")[:-1]]
                kinds = {name: kind.split() for name, _, kind in offered}
                for name, value in settings.items():
                    if name not in kinds:
                        raise InvalidValue(f"the engine {engine.name!r} has no option {name!r}")
                    _check_range(name, value, kinds[name])
                    engine.tell(f"setoption name {name} value {value}")
                engine.synchronize()
            except Error:
                engine.close()
                raise
            self._engine = engine
        return self._engine


def _check_range(name: str, value: str, kind: list[str]) -> None:
    """Refuse a number outside its range, which engines silently ignore."""
    if kind[:1] != ["spin"]:
        return
    given = dict(itertools.pairwise(kind))
    try:
        low, high = int(given["min"][:20]), int(given["max"][:20])
    except (KeyError, ValueError):
        raise EngineFault(f"the engine states no range of {name}: {shorten(' '.join(kind))!r}") from None
    if not low <= int(value) <= high:
        raise InvalidValue(f"{name} of this engine is {low} to {high}, not {value}")


def make_engine(game: Game, program: str, options: Mapping[str, str]) -> Uci:
    """a UCI engine"""
    numbers: dict[str, float] = {}
    for name, value in options.items():
        numbers[name] = read_number("uci", name, value)
        least = 0.0 if name == "skill" else math.ulp(0.0)
        if not least <= numbers[name] < 1e12:
            raise InvalidValue(f"{name} of the agent uci is a positive number, not {shorten(value)!r}")
    return Uci(game, [program], numbers)
