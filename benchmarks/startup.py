"""How long a person waits: the first start compiles, the second does not. Fresh processes, each with its clock."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def timed(*arguments: str, cache: str) -> tuple[float, float]:
    """Wall and CPU seconds of one command in a fresh process."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "plyground", *arguments]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PLYGROUND_CACHE": cache})
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Medians of several starts."""
    with tempfile.TemporaryDirectory() as cache:
        rows = {
            "plyground --help": ["--help"],
            "perft connect_four --depth 6": ["perft", "connect_four", "--depth", "6"],
            "perft connect_four --depth 9": ["perft", "connect_four", "--depth", "9"],
        }
        first = timed(*rows["perft connect_four --depth 6"], cache=cache)
        print(f"first start, compiling: {first[0]:.2f} s wall, {first[1]:.2f} s CPU")
        for name, arguments in rows.items():
            times = [timed(*arguments, cache=cache) for _ in range(ROUNDS)]
            wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
            slowest = max(wall for wall, _ in times)
            print(f"{name}: {wall:.2f} s wall (slowest {slowest:.2f}), {cpu:.2f} s CPU, median of {ROUNDS}")


if __name__ == "__main__":
    main()
