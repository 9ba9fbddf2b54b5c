"""How many chess positions a teacher judges and writes in a second of CPU time and of all cores, and how many are read
from datasets of each form.

    python benchmarks/teacher.py            about a minute on two cores
    python benchmarks/teacher.py read       reading alone

CPU time is that of this process and those that it starts, start-up included where there are several.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plyground.game import load
from plyground.kernels.threads import available
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import convert, map_packed, read_all
from plyground.teaching.lines import Lines
from plyground.teaching.packed import header, remember

LARGE, ROUNDS = 1_000_000, 5  # packed positions; of which the best counts, the machine may be busy
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
        collect(small, Path(folder) / "warm.packed", lambda *_: None)
        config = Collect(games=games, depth=depth, quiescence=quiescence, threads=threads)
        cpu, clock = cpu_seconds(), time.perf_counter()
        found = collect(config, Path(folder) / "data.packed", lambda *_: None)
        lines, cpu, clock = found["lines"], cpu_seconds() - cpu, time.perf_counter() - clock
        return lines / cpu, lines / clock, lines


def cpu_seconds() -> float:
    return sum(os.times()[:4])


def read(games: int) -> None:
    """Print how many positions of chess are read and written in a second of CPU time."""
    lines = Lines(load("chess"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own, packed, foreign = folder / "own.ndjson", folder / "own.packed", folder / "foreign.ndjson"
        collect(Collect(games=games, depth=1, quiescence=0), packed, lambda *_: None)
        convert(packed, own, lines)
        with own.open() as each:
            foreign.write_text("".join(map(as_another_writes, each)))
        large, unknown, records = (
            folder / "large.packed",
            folder / "unknown.packed",
            np.array(map_packed(packed, lines)),
        )
        copies = -(-LARGE // len(records))
        for path in (large, unknown):
            path.write_bytes(header(lines.game, records.dtype) + records.tobytes() * copies)
            records["time"] += 1  # the same positions, other bytes
        remember(large)
        row("NDJSON of our own form", lambda: len(read_all(own, lines)), time.process_time)
        row("NDJSON of others: other order, spaces, FENs", lambda: len(read_all(foreign, lines)), time.process_time)
        row("NDJSON written from records", lambda: len(lines.write(records)), time.process_time)
        row("packed, another's, checked on one core", lambda: len(lines.check(records)), time.process_time)
        row(
            "packed, another's, mapped and checked",
            lambda: len(map_packed(unknown, lines)),
            time.perf_counter,
            1,
        )
        row("packed, known: mapped, its digest compared", lambda: len(map_packed(large, lines)), time.process_time)
        row("and each byte read again", lambda: summed(map_packed(large, lines)), time.process_time)


def summed(records: NDArray[np.void]) -> int:
    """Every column of every record is read."""
    records.view(np.uint8).sum()
    return len(records)


def as_another_writes(line: str) -> str:
    found = json.loads(line)
    pieces, side, rights, *rest = found["fen"].split()
    found["fen"] = "  ".join((pieces, side, rights[::-1], *rest))
    return json.dumps(dict(reversed(found.items())), separators=(",", ":")) + "\n"


def row(what: str, work: Callable[[], int], clock: Callable[[], float], rounds: int = ROUNDS) -> None:
    """Print the best of several rounds."""
    best = 0.0
    for _ in range(rounds):
        begun = clock()
        best = max(best, work() / (clock() - begun))
    print(f"| {what} | {best:,.0f} |", flush=True)


def main() -> None:
    if sys.argv[1:] != ["read"]:
        print(f"chess positions collected a second, {available()} cores\n")
        print("| depth | captures beyond | positions | one core, CPU-second | all cores, second |")
        print("|---|---|---|---|---|")
        for depth, quiescence, games in CASES:
            one, _, lines = measure(depth, quiescence, games, 1)
            _, together, _ = measure(depth, quiescence, games, available())
            print(f"| {depth} | {quiescence} | {lines:,} | {one:,.0f} | {together:,.0f} |", flush=True)
    print("\n| chess positions read | a second |")
    print("|---|---|")
    read(400)


if __name__ == "__main__":
    main()
