"""How many chess positions a teacher judges and writes in a second of CPU time and of all cores, and how many lines are
read and checked in a second of one core.

    python benchmarks/teacher.py            about a minute on two cores

CPU time is that of this process and those that it starts, start-up included where there are several.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from plyground.game import load
from plyground.kernels.threads import available
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import read_all
from plyground.teaching.lines import Lines

CASES = [  # depth, quiescence, games
    (2, 4, 400),
    (2, 0, 400),
    (3, 4, 20),
    (3, 0, 100),
]


def measure(depth: int, quiescence: int, games: int, threads: int) -> tuple[float, float, int]:
    """Positions for each second of CPU and of the clock, and how many there were; compiling is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        small = Collect(games=1, max_plies=2, depth=depth, quiescence=quiescence, threads=threads)
        collect(small, Path(folder) / "warm.ndjson", lambda *_: None)
        config = Collect(games=games, depth=depth, quiescence=quiescence, threads=threads)
        cpu, clock = cpu_seconds(), time.perf_counter()
        found = collect(config, Path(folder) / "data.ndjson", lambda *_: None)
        lines, cpu, clock = found["lines"], cpu_seconds() - cpu, time.perf_counter() - clock
        return lines / cpu, lines / clock, lines


def cpu_seconds() -> float:
    return sum(os.times()[:4])


def read(games: int) -> float:
    """Lines of chess read and checked in a second of CPU time."""
    lines = Lines(load("chess"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.ndjson"
        collect(Collect(games=games, depth=1, quiescence=0), path, lambda *_: None)
        read_all(path, lines)  # compiles
        begun = time.process_time()
        return len(read_all(path, lines)) / (time.process_time() - begun)


def main() -> None:
    print(f"chess positions collected a second, {available()} cores\n")
    print("| depth | captures beyond | positions | one core, CPU-second | all cores, second |")
    print("|---|---|---|---|---|")
    for depth, quiescence, games in CASES:
        one, _, lines = measure(depth, quiescence, games, 1)
        _, together, _ = measure(depth, quiescence, games, available())
        print(f"| {depth} | {quiescence} | {lines:,} | {one:,.0f} | {together:,.0f} |", flush=True)
    print(f"\nlines read and checked in a second of one core: {read(400):,.0f}")


if __name__ == "__main__":
    main()
