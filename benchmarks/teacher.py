"""How many chess positions a teacher judges and writes down in a second: on one thread of CPU time, and on all cores.

python benchmarks/teacher.py            # about a minute on two cores
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from plyground.kernels.threads import available
from plyground.teaching.collect import Collect, collect

CASES = [  # depth, quiescence, games
    (2, 4, 200),
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
        cpu, clock = time.process_time(), time.perf_counter()
        found = collect(config, Path(folder) / "data.ndjson", lambda *_: None)
        return (
            found["lines"] / (time.process_time() - cpu),
            found["lines"] / (time.perf_counter() - clock),
            found["lines"],
        )


def main() -> None:
    print(f"chess positions collected a second, {available()} cores\n")
    print("| depth | captures beyond | positions | one thread, CPU-second | all cores, second |")
    print("|---|---|---|---|---|")
    for depth, quiescence, games in CASES:
        one, _, lines = measure(depth, quiescence, games, 1)
        _, together, _ = measure(depth, quiescence, games, available())
        print(f"| {depth} | {quiescence} | {lines:,} | {one:,.0f} | {together:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
