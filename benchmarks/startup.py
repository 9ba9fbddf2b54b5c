"""How long a person waits: for an answer, and for the first board, with an empty cache and with a filled one.

Fresh processes, each with its clock.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from plyground.games import GAMES

ROUNDS = 5


def timed(*arguments: str, cache: str) -> tuple[float, float]:
    """Wall and CPU seconds of one command in a fresh process."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "plyground", *arguments]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PLYGROUND_CACHE": cache})
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_board(game: str, cache: str) -> float:
    """Wall seconds until `play GAME` asks for the first move."""
    begun, command = time.perf_counter(), [sys.executable, "-u", "-m", "plyground", "play", game]
    env, pipe = os.environ | {"PLYGROUND_CACHE": cache}, subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        shown = b""
        while not shown.endswith(b"> "):
            read = process.stdout.read(1) if process.stdout else b""
            if not read:
                raise SystemExit(f"play {game} ended before its first board: {shown.decode()}")
            shown += read
        seconds = time.perf_counter() - begun
        process.communicate()
    return seconds


def main() -> None:
    """Medians of several starts."""
    for game in GAMES:
        with tempfile.TemporaryDirectory() as cache:
            times = [first_board(game, tempfile.mkdtemp(dir=cache)) for _ in range(ROUNDS)]
            print(f"play {game}, first board, empty cache: {spread(times)}")
    with tempfile.TemporaryDirectory() as cache:
        rows = {
            "plyground --help": ["--help"],
            "perft connect_four --depth 6": ["perft", "connect_four", "--depth", "6"],
            "perft connect_four --depth 9": ["perft", "connect_four", "--depth", "9"],
        }
        first = timed(*rows["perft connect_four --depth 6"], cache=cache)
        print(f"first start, compiling: {first[0]:.2f} s wall, {first[1]:.2f} s CPU")
        boards = [first_board("connect_four", cache) for _ in range(ROUNDS)]
        print(f"play connect_four, first board, filled cache: {spread(boards)}")
        for name, arguments in rows.items():
            times = [timed(*arguments, cache=cache) for _ in range(ROUNDS)]
            wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
            slowest = max(wall for wall, _ in times)
            print(f"{name}: {wall:.2f} s wall (slowest {slowest:.2f}), {cpu:.2f} s CPU, median of {ROUNDS}")


def spread(times: list[float]) -> str:
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f}, {len(times)} starts)"


if __name__ == "__main__":
    main()
