"""Memory stays flat in training and matches; no process, thread, open file or temporary folder is left behind."""

from __future__ import annotations

import gc
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import plyground as pg
from plyground.agents import uci
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.learners.config import Imitation
from plyground.learners.training import train
from plyground.runs.pack import pack, unpack
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from resumed import begin, silent
from small_runs import ROW, short
from torture import Deadline, Report
from torture.engines import group_of, processes, resident

MOST_GROWTH = 12 << 20  # bytes between the middle and the end; a leak of 1 KB in each of 20,000 steps is more
WARM_UP = 0.4  # share of the time in which memory may still grow: caches, buffers
FEWEST, MOST_SAMPLES = 10, 1000  # measurements of memory
LEARNERS = ("dqn", "ppo", "a2c", "alphazero", "tabular", "imitation")
SEARCHES = {"simulations": 4, "buffer_size": 400, "learning_starts": 32}  # of alphazero
CACHES = "torchinductor_"  # of torch, one for each user
WAIT = 5.0  # seconds for threads and processes to end


def run(seed: int, seconds: float) -> Report:
    """Half of the time for matches, half for training; then what both have left behind."""
    cases, findings, deadline = 0, list[str](), Deadline(seconds)
    with left_behind(findings):
        use_everything()
        steps, grown = growth(play_matches(seed), seconds / 2)
        cases, matches = cases + steps, steps
        findings += [f"{matches} matches: memory has grown by {grown >> 10} KB"] if grown > MOST_GROWTH else []
        for name in LEARNERS:
            steps, grown = training_growth(name, seed, seconds / 2 / len(LEARNERS))
            cases += steps
            findings += [f"{steps} steps of {name}: memory has grown by {grown >> 10} KB"] * (grown > MOST_GROWTH)
    counts = {"matches": matches, "training steps": cases - matches}
    return Report("resources", cases, findings, deadline.passed, counts)


# ---- memory ----


def growth(step: Callable[[], int], seconds: float) -> tuple[int, int]:
    """(steps, bytes) by which memory grows between the middle and the end of so many seconds of calls."""
    deadline, steps, sizes = Deadline(seconds), 0, list[int]()
    while len(sizes) < FEWEST or not deadline.over():
        steps += step()
        if deadline.passed >= len(sizes) * seconds / MOST_SAMPLES or len(sizes) < FEWEST:
            sizes.append(resident())
    n = len(sizes)
    middle, late = sizes[int(WARM_UP * n) : n // 2 + 1], sizes[int(0.9 * n) :]
    return steps, int(statistics.median(late) - statistics.median(middle))


def play_matches(seed: int) -> Callable[[], int]:
    """A function that plays a match of a few games, each time of another game, and returns 1."""
    games = [pg.load(spec) for spec in ("connect_four", "sequence", "chess", ROW)]
    agents = [(make("greedy", game), make("random", game)) for game in games]
    played = 0

    def step() -> int:
        nonlocal played
        which = played % len(games)
        play_match(games[which], *agents[which], games=2, seed=seed + played)
        played += 1
        return 1

    return step


def training_growth(name: str, seed: int, seconds: float) -> tuple[int, int]:
    """`growth` of training; nothing refers to the learner afterwards."""
    with tempfile.TemporaryDirectory() as folder, training(name, seed, Path(folder)) as step:
        return growth(step, seconds)


@contextmanager
def training(name: str, seed: int, folder: Path) -> Iterator[Callable[[], int]]:
    """A function that trains for some steps, with checkpoints, evaluations and metrics, and returns their number."""
    learner, run = begin(folder / "run", endless(name, seed, folder))

    steps = 3 if name == "imitation" else 50  # each of them is an epoch there, with a checkpoint

    def step() -> int:
        last = learner.state.step + steps
        train(learner, run, silent, lambda: learner.state.step >= last)
        return steps

    with run:
        yield step


def endless(name: str, seed: int, folder: Path) -> Any:
    """The config of a small run that no limit ends."""
    if name == "imitation":
        data = folder / "lines.ndjson"
        collect(Collect(game="connect_four", games=8, depth=1, threads=1, seed=seed), data, lambda *_: None)
        small: dict[str, Any] = {"network": "16", "batch_size": 16, "threads": 1, "seed": seed}
        return Imitation(game="connect_four", data=(str(data),), epochs=10**6, patience=10**6, **small)
    config = replace(short(name, seed=seed, **SEARCHES), cycles=10**6, games_per_cycle=200)
    # a small game is soon played by heart: its entropy may fall to 0
    return replace(config, rollback_entropy=0.0) if name in ("ppo", "a2c") else config


# ---- what is left behind ----


@contextmanager
def left_behind(findings: list[str]) -> Iterator[None]:
    """Add a finding for each process, thread, open file and temporary folder that was not there before."""
    threads, files, children = named_threads(), open_files(), descendants()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield
        finally:
            tempfile.tempdir = before
        left = [path.name for path in Path(folder).iterdir() if not path.name.startswith(CACHES)]
        findings += [f"the temporary file {name} is left behind" for name in left]
    checks: dict[str, Callable[[], list[Any]]] = {
        "threads": lambda: sorted(named_threads() - threads),
        "open files": lambda: sorted(open_files() - files),
        "processes": lambda: sorted(descendants() - children),
    }
    for what, look in checks.items():
        left = after_a_while(look)
        findings += [f"{what} left behind: {left}"] if left else []


def use_everything() -> None:
    """Start engines, good and wild ones, and a run that is packed and unpacked."""
    wild = Path(__file__).with_name("wild_engine.py")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # for the engine
    for seed in range(3):
        try:
            uci.Uci(pg.load(ROW), [sys.executable, str(wild), f"left {seed}"], {"time": 0.01}, 0.3)
        except pg.Error:
            continue
    with tempfile.TemporaryDirectory() as folder:
        learner, run = begin(Path(folder) / "run", short("tabular", cycles=1))
        with run:
            train(learner, run, silent)
        pack(Path(folder) / "run", Path(folder) / "run.zip")
        unpack(Path(folder) / "run.zip", Path(folder) / "again")


def after_a_while(look: Callable[[], list[Any]]) -> list[Any]:
    """What is still there after WAIT seconds."""
    until = time.monotonic() + WAIT
    while (found := look()) and time.monotonic() < until:
        gc.collect()
        time.sleep(0.05)
    return found


def named_threads() -> set[str]:
    """The threads, but for the pools that one process keeps for good."""
    return {each.name for each in threading.enumerate() if not each.name.startswith("plyground")}


def open_files() -> set[str]:
    found: set[str] = set()
    for each in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(each.readlink()))
        except OSError:  # the folder itself
            continue
    return {path for path in found if not path.startswith(("/proc/", "/dev/", "anon_inode:"))}


def descendants() -> set[int]:
    """The running processes that this one, or one below it, has started."""
    parents: dict[int, int] = {}
    for pid in processes():
        if group_of(pid) >= 0:
            try:
                parents[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, size = {os.getpid()}, 0
    while size < len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found - {os.getpid()}
