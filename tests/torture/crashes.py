"""Crash points: a process that ends at any file-system call of resume, save or prune, a power loss that tears and
reorders writes, and a full disk leave a run that loads and continues bit by bit like one that was never stopped.

For each kind of learner: a run is stopped after some steps. Then it is resumed, trained and pruned to its end, once
without a fault and once for each fault; after the fault it is resumed again, and both ends must be equal.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from plyground.errors import Error
from plyground.learners.config import DQN, AlphaZero, Imitation, Tabular
from plyground.learners.training import train
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from resumed import after_steps, begin, contents, resume, silent
from small_runs import ROW, short
from torture import MOST_FINDINGS, Deadline, Report, Share

Fault = Literal["exit", "torn", "full", "io"]
CALLS = ("mkdir", "rename", "replace", "unlink", "rmdir", "truncate", "link")  # of `os`, which change folders and files
WRITES = ("open", "write", "mkdir")  # what a full disk refuses
STEPS = 9  # iterations before and after the stop


class Crash(BaseException):
    """The process has ended: nothing may catch this and go on."""


class Operation(NamedTuple):
    """A change of the disk: `name` of a call in `os`, write or fsync; the paths it concerns; bytes or a length."""

    name: str
    paths: tuple[Path, ...]
    data: Any = None


class Disk:
    """Counts the calls that change files below `home`, keeps what they did, and lets one of them fail."""

    def __init__(self, home: Path, fault: Fault = "exit", at: int = -1) -> None:
        self.home, self.fault, self.at = home, fault, at
        self.calls, self.dead, self.full = 0, False, False
        self.operations: list[Operation] = []
        self.names: dict[int, Path] = {}  # of open files

    def call(self, name: str, paths: tuple[Path, ...], data: Any = None) -> None:
        """Before a call takes place: it fails if its turn has come."""
        if not all(path.is_relative_to(self.home) for path in paths):
            return
        if self.dead:
            raise Crash
        if self.calls == self.at:
            self.dead, self.full = self.fault in ("exit", "torn"), self.fault == "full"
        self.calls += 1
        if self.dead:
            raise Crash
        if self.fault == "io" and self.calls == self.at + 1:
            raise OSError(errno.EIO, "Input/output error")
        if self.full and name in WRITES:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.operations.append(Operation(name, paths, data))

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Let all changes of files go through `call`."""
        real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in (*CALLS, "fsync", "open")}
        opened = io.open

        def patched(name: str) -> Callable[..., Any]:
            def function(*given: Any, **named: Any) -> Any:
                folder = _folder_of(named.get("dir_fd"))
                count = 2 if name in ("rename", "replace", "link") else 1
                paths = tuple((folder / os.fspath(each)).absolute() for each in given[:count])
                self.call(name, paths, given[1] if name == "truncate" else None)
                return real[name](*given, **named)

            return function

        def fsync(number: int) -> None:
            self.call("fsync", (_folder_of(number),))
            real["fsync"](number)

        def open_file(path: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
            if not set(mode) & set("wax"):
                return opened(path, mode, *rest, **named)
            place = _folder_of(path) if isinstance(path, int) else Path(path).absolute()
            if place.is_dir():  # a temporary file without a name
                return opened(path, mode, *rest, **named)
            self.call("open", (place,), mode)
            return File(self, place, opened(path, mode, *rest, **named))

        try:
            for name in CALLS:
                setattr(os, name, patched(name))
            os.fsync, io.open, builtins.open = fsync, open_file, open_file  # type: ignore[assignment]
            yield
        finally:
            for name, function in real.items():
                setattr(os, name, function)
            io.open = builtins.open = opened


def _folder_of(number: int | None) -> Path:
    """The file or folder that a descriptor has open; the current folder without one."""
    return Path.cwd() if number is None else Path(f"/proc/self/fd/{number}").readlink()


class File:
    """An open file whose writes are calls of their own."""

    def __init__(self, disk: Disk, path: Path, file: Any) -> None:
        self.disk, self.path, self.file = disk, path, file

    def write(self, data: bytes) -> int:
        try:
            self.disk.call("write", (self.path,), bytes(data))
        except (Crash, OSError):
            if self.disk.fault in ("torn", "full") and self.disk.calls == self.disk.at + 1:
                self.file.write(data[: len(data) // 2])
                self.file.flush()
            raise
        return self.file.write(data)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


# ---- a power loss ----


def lose_power(rng: random.Random, operations: list[Operation], home: Path, target: Path) -> None:
    """Apply operations to `target` as a disk may have them after a power loss.

    A write is safe once its file was synced, a change of a folder once that folder was. Of the others some are lost;
    a write that is not may be cut short.
    """
    lost = dict[Path, Path]()
    for number, (name, paths, data) in enumerate(operations):
        if name == "fsync":
            continue
        needed = {paths[0]} if name in ("write", "truncate") else {path.parent for path in paths}
        synced = {path for later in operations[number:] if later.name == "fsync" for path in later.paths}
        safe = needed <= synced
        if not safe and rng.random() < 0.4:
            if name in ("rename", "replace"):
                lost[paths[1]] = paths[0]
            continue
        there = [target / _where(path, lost).relative_to(home) for path in paths]
        try:
            _apply(name, there, data, None if safe else rng)
        except (FileNotFoundError, NotADirectoryError, FileExistsError):
            continue  # it needed an operation that was lost
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise


def _where(path: Path, lost: dict[Path, Path]) -> Path:
    """Where a file is that lies in a folder whose renaming was lost."""
    for new, old in lost.items():
        if path != new and path.is_relative_to(new):
            return old / path.relative_to(new)
    return path


def _apply(name: str, paths: list[Path], data: Any, torn: random.Random | None) -> None:
    if name == "write":
        with paths[0].open("ab") as file:
            file.write(data if torn is None else data[: torn.randint(0, len(data))])
    elif name == "open":
        paths[0].open(data if data in ("wb", "ab", "xb") else "ab").close()
    elif name == "truncate":
        os.truncate(paths[0], data)
    else:
        getattr(os, name)(*paths)


# ---- runs ----


def configs(folder: Path) -> dict[str, Any]:
    """A short run of each kind of learner, with several checkpoints of which few are kept."""
    data = folder / "four.ndjson"
    collect(Collect(game="connect_four", games=8, weak_games=0.0, threads=1, depth=1), data, lambda *_: None)
    common: dict[str, Any] = {"num_envs": 4, "games_per_cycle": 2, "cycles": 99, "eval_games": 2, "keep_last": 1}
    common["eval_opponents"] = ("random",)
    network: dict[str, Any] = {"network": "4", "threads": 1, "batch_size": 8, "learning_starts": 8, "buffer_size": 64}
    imitation = {"network": "4", "threads": 1, "batch_size": 1, "epochs": 99, "patience": 99}
    return {
        "tabular": Tabular(game=ROW, **common),
        "dqn": DQN(game=ROW, **common, **network),
        "alphazero": AlphaZero(game=ROW, **common, **{**network, "network": "4+value"}, simulations=2),
        "ppo": short("ppo", **{**common, "rollout_length": 2, "keep_every": 2}),
        "imitation": Imitation(game="connect_four", data=(str(data),), **imitation),
    }


class Case:
    """A run that was stopped, and how it ends without a fault."""

    def __init__(self, folder: Path, config: Any) -> None:
        self.folder, self.home = folder, folder / "run"
        learner, run = begin(self.home, config)
        with run:
            train(learner, run, silent, after_steps(learner, STEPS))
        self.config, self.last = learner.config, learner.state.step + STEPS
        shutil.copytree(self.home, folder / "stopped")
        disk = Disk(self.home)
        with disk.attached():
            self.go_on()
        self.calls, self.operations, self.end = disk.calls, disk.operations, contents(self.home)

    def go_on(self) -> None:
        """Resume the run and train it to its end."""
        learner, run = resume(self.home, self.config)
        with run:
            train(learner, run, silent, lambda: learner.state.step >= self.last)

    def begin_again(self) -> None:
        shutil.rmtree(self.home)
        shutil.copytree(self.folder / "stopped", self.home)

    def fail(self, fault: Fault, at: int) -> list[str]:
        """A fault at a call, and whether the run recovers."""
        self.begin_again()
        disk = Disk(self.home, fault, at)
        try:
            with disk.attached():
                self.go_on()
        except (Crash, Error):
            pass
        return [f"{fault} at call {at} of {self.calls}: {each}" for each in self.recover()]

    def lose_power(self, rng: random.Random) -> list[str]:
        self.begin_again()
        seed = rng.random()
        done = random.Random(seed).randint(1, len(self.operations))
        lose_power(random.Random(seed), self.operations[:done], self.home, self.home)
        return [f"power loss {seed}: {each}" for each in self.recover()]

    def recover(self) -> list[str]:
        """What differs from the end without a fault."""
        try:
            self.go_on()
        except Exception as error:
            return [f"it cannot be resumed: {type(error).__name__}: {error}"]
        found = contents(self.home)
        hidden = [path.name for path in (self.home / "checkpoints").iterdir() if path.name.startswith(".")]
        return [f"{name} differs" for name in self.end if found.get(name) != self.end[name]] + hidden


def run(seed: int, seconds: float, share: Share | None = None) -> Report:
    """Every call of every learner with every fault, in random order, and power losses between, for so many seconds.

    With a share, each case of it once.
    """
    rng, deadline, findings, cases = random.Random(seed), Deadline(seconds), list[str](), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = {kind: Case(folder / kind, config) for kind, config in configs(folder).items()}
        faults: list[Fault] = ["exit", "torn", "full"]
        plan: list[tuple[str, Fault, int]] = [
            (kind, fault, at) for kind, case in kinds.items() for fault in faults for at in range(case.calls)
        ]
        rng.shuffle(plan)
        mine = share.of(plan) if share else plan
        rng = random.Random(f"{seed} {share}")  # other power losses in each share
        while not cases or (not deadline.over() and len(findings) < MOST_FINDINGS):
            if share and cases == len(mine):
                break
            kind, fault, at = mine[cases % len(mine)]
            found = kinds[kind].fail(fault, at)
            other = rng.choice(list(kinds))
            found += [f"({other}) {each}" for each in kinds[other].lose_power(rng)]
            findings += [f"{kind}: {each}" for each in found]
            cases += 1
    counts = {"crash_points": float(len(plan)), "power_losses": float(cases)}
    return Report("crashes", cases, findings, deadline.passed, counts)
