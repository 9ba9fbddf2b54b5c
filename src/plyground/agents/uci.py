"""Any UCI engine as an agent: `uci:stockfish,elo=1350`.

It serves games whose texts are FENs and whose actions have UCI names, such as chess. The engine is a program started
with a list of arguments, never through a shell. If it does not answer in time, answers an illegal move or dies, that
game is given up, `faults` says why, and a fresh engine is started for the next game.
"""

from __future__ import annotations

import contextlib
import queue
import shutil
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

import numpy as np
from numpy.typing import NDArray

from plyground.errors import Error, IllegalAction, InvalidValue, shorten
from plyground.game import Game
from plyground.position import Position

GIVES_UP = -1
PATIENCE = 5.0  # seconds beyond its thinking time after which an engine counts as dead
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
    """An engine that died, did not answer in time or named no move."""


class Engine:
    """One running program."""

    def __init__(self, command: Sequence[str], patience: float = PATIENCE) -> None:
        self.name, self.patience = command[0], patience
        try:
            self.process = Popen(
                command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, encoding="utf-8", errors="replace", bufsize=1
            )
        except OSError as error:
            raise EngineFault(f"cannot start the engine {self.name!r}: {error.strerror}") from None
        self.lines: queue.Queue[str | None] = queue.Queue()
        listener = threading.Thread(target=_listen, args=(self.process, self.lines), daemon=True)
        listener.start()
        self.close = weakref.finalize(self, _end, self.process, listener)  # at the latest when it is collected

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
        except OSError:
            raise EngineFault(f"the engine {self.name!r} has died: it does not take {shorten(line)!r}") from None

    def wait_for(self, word: str, seconds: float = 0.0) -> list[str]:
        """The next line that begins with `word`, as words, and every line before it that begins with `option`."""
        until = time.monotonic() + seconds + self.patience
        seen: list[str] = []
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                limit = f"{seconds + self.patience:g} s"
                raise EngineFault(f"the engine {self.name!r} has not said {word!r} within {limit}") from None
            if line is None:
                raise EngineFault(f"the engine {self.name!r} has died before it said {word!r}")
            if line.split()[:1] == [word]:
                return [*seen, line]
            if line.startswith("option "):
                seen.append(line)


def _listen(process: Popen[str], lines: queue.Queue[str | None]) -> None:
    """Collect the lines that the program writes. (Not a method: that would keep the engine alive.)"""
    assert process.stdout is not None
    with process.stdout as said:
        for line in said:
            lines.put(line.strip())
    lines.put(None)  # it has ended


def _end(process: Popen[str], listener: threading.Thread) -> None:
    """Ask the program to quit; kill it if it does not."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write("quit\n")
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(timeout=0.5)
    except TimeoutExpired:
        process.kill()
        process.wait()
    listener.join(timeout=1)


def find(program: str) -> str | None:
    """The path of a program; Debian installs engines in /usr/games, which is not on every PATH."""
    return shutil.which(program) or shutil.which(program, path="/usr/games")


class Uci:
    """An engine that searches with limits and, if asked, limited strength: see OPTIONS."""

    def __init__(
        self, game: Game, command: Sequence[str], options: Mapping[str, float] | None = None, patience: float = PATIENCE
    ) -> None:
        if game.rules.hidden:
            raise InvalidValue(
                f"an engine is sent whole positions, and {game} hides something: use another agent there"
            )
        self.game, self.patience, self.options = game, patience, dict(options or {})
        found = find(command[0])
        if found is None:
            raise InvalidValue(f"no engine {command[0]!r}: there is no such program, or it may not be run")
        self.command = [found, *command[1:]]
        self.faults: list[str] = []
        self._engine: Engine | None = None
        self._started()  # a wrong option is an error now

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[N] actions, one game after the other; GIVES_UP where the engine failed. `rngs` is not used."""
        actions = np.empty(len(states), np.int32)
        for row in range(len(states)):
            position = Position(self.game, states[row : row + 1])
            try:
                actions[row] = position.action(self._answer(position))
            except (EngineFault, IllegalAction) as error:
                if self._engine:
                    self._engine.close()
                self._engine = None
                self.faults.append(f"{self.command[0]}: {error}")
                actions[row] = GIVES_UP
        return actions

    def _answer(self, position: Position) -> str:
        engine = self._started()
        limits = {name: value for name, value in self.options.items() if name in LIMITS} or {"time": 0.05}
        engine.tell(f"position fen {position.view}")
        numbers = [f"{LIMITS[k]} {round(1000 * v) if k == 'time' else round(v)}" for k, v in limits.items()]
        engine.tell(f"go {' '.join(numbers)}")
        words = engine.wait_for("bestmove", limits.get("time", 60.0))[-1].split()
        if len(words) < 2:
            raise EngineFault(f"the engine {engine.name!r} names no move after 'bestmove' in {position.view!r}")
        return words[1]

    def _started(self) -> Engine:
        """The running engine, set to its strength."""
        if self._engine is None:
            engine = Engine(self.command, self.patience)
            try:
                self._set_up(engine)
            except Error:
                engine.close()
                raise
            self._engine = engine
        return self._engine

    def _set_up(self, engine: Engine) -> None:
        engine.tell("uci")
        offered = [line.partition(" name ")[2].partition(" type ") for line in engine.wait_for("uciok")[:-1]]
        kinds = {name: kind.split() for name, _, kind in offered}
        given = {option: str(round(value)) for option, value in self.options.items() if option in STRENGTH}
        settings = {name: text.format(value) for k, value in given.items() for name, text in STRENGTH[k].items()}
        for name, value in settings.items():
            if name not in kinds:
                raise InvalidValue(f"the engine {engine.name!r} has no option {name!r}")
            _check_range(name, value, kinds[name])
            engine.tell(f"setoption name {name} value {value}")
        engine.tell("isready")
        engine.wait_for("readyok")


def _check_range(name: str, value: str, kind: list[str]) -> None:
    """Refuse a number outside its range, which engines silently ignore."""
    if kind[:1] == ["spin"] and "min" in kind and "max" in kind:
        low, high = (int(kind[kind.index(end) + 1]) for end in ("min", "max"))
        if not low <= int(value) <= high:
            raise InvalidValue(f"{name} of this engine is {low} to {high}, not {value}")


def make_engine(game: Game, program: str, options: Mapping[str, str]) -> Uci:
    """a UCI engine"""
    numbers: dict[str, float] = {}
    for name, value in options.items():
        try:
            numbers[name] = float(value)
        except ValueError:
            raise InvalidValue(f"{name} of the agent uci is a number, not {shorten(value)!r}") from None
        if not 0 < numbers[name] < 1e12 and name != "skill":
            raise InvalidValue(f"{name} of the agent uci is a positive number, not {shorten(value)!r}")
    return Uci(game, [program], numbers)
