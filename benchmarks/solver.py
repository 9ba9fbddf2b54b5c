"""The Connect Four solver beside bitbully, and its promises: times, nodes a second, a grade.

    python benchmarks/solver.py

The public test sets are read from the folder that PLYGROUND_TEST_DATA names; without it, random positions of 16 to 40
plies take their place. Both solvers run on one thread, without a book, over the same positions, in CPU time.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import numpy as np

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import openings
from plyground.games.connect_four.grade import grade
from plyground.games.connect_four.solver.book import shipped
from plyground.games.connect_four.solver.solver import Solver

SETS = ("Test_L3_R1", "Test_L2_R1", "Test_L1_R1")
ROUNDS = 3


def texts_of(name: str) -> list[str]:
    """The columns of each position of a public set."""
    path = Path(os.environ["PLYGROUND_TEST_DATA"]) / "connect_four" / name
    return [line.split()[0] for line in path.read_text().splitlines()]


def ours(states: np.ndarray) -> tuple[float, int]:
    """CPU seconds and nodes, in a table that knows nothing."""
    solver = Solver(threads=1)
    begun = time.process_time()
    solver.scores(states)
    return time.process_time() - begun, solver.nodes


def theirs(texts: list[str]) -> float | None:
    """bitbully's CPU seconds for the same, boards made beforehand."""
    try:
        from bitbully import bitbully_core as core
    except ImportError:
        return None
    boards = [core.BoardCore() for _ in texts]
    for board, text in zip(boards, texts, strict=True):
        for column in text:
            board.play(int(column) - 1)
    solver, begun = core.BitBullyCore(), time.process_time()
    for board in boards:
        solver.mtdf(board, 0)
    return time.process_time() - begun


def compare(game: pg.Game) -> None:
    """Mean time per position on the public sets."""
    sums = np.zeros(2)
    for name in SETS if "PLYGROUND_TEST_DATA" in os.environ else ():
        texts = texts_of(name)
        states = np.concatenate([game.position(text).states for text in texts])
        runs = [(ours(states), theirs(texts)) for _ in range(ROUNDS)]
        mine, nodes = statistics.median(run[0][0] for run in runs), runs[0][0][1]
        line = f"{name}: {1e3 * mine / len(texts):.4f} ms a position, {nodes / len(texts):.0f} nodes, "
        line += f"{nodes / mine / 1e6:.1f} M nodes per CPU-second"
        if runs[0][1] is not None:
            other = statistics.median(run[1] or 0.0 for run in runs)
            sums += mine, other
            line += f"; bitbully {1e3 * other / len(texts):.4f} ms, {other / mine:.2f} times as long"
        print(line)
    if sums.all():
        print(f"all three sets: bitbully takes {sums[1] / sums[0]:.1f} times as long")


def with_book(game: pg.Game) -> None:
    """The empty board, and the slowest of 1,000 random positions."""
    begun = time.perf_counter()
    shipped()
    print(f"reading the book: {time.perf_counter() - begun:.3f} s")
    solver, empty = Solver(shipped()), game.start().states
    begun = time.perf_counter()
    scores = solver.move_scores(empty)[0]
    print(f"the empty board's moves {scores.tolist()}: {time.perf_counter() - begun:.3f} s")
    times = list[tuple[float, float, int]]()
    for ply in range(9, 15):
        for state in openings(game, 167, ply, ply)[0]:
            begun, cpu = time.perf_counter(), time.process_time()
            solver.scores(np.array([state]))
            times.append((time.perf_counter() - begun, time.process_time() - cpu, ply))
    mean = statistics.mean(wall for wall, _, _ in times)
    wall, cpu, ply = max(times)
    print(
        f"{len(times)} random positions of 9 to 14 plies: mean {mean:.3f} s, slowest {wall:.2f} s "
        f"({cpu:.2f} s of CPU, {ply} plies)"
    )


def grading(game: pg.Game) -> None:
    agent = make("greedy", game)
    begun, cpu = time.perf_counter(), time.process_time()
    grade(game, agent, 1000, seed=1)
    wall = time.perf_counter() - begun
    print(f"grade of greedy on 1,000 positions with 20 games: {wall:.1f} s, {time.process_time() - cpu:.1f} s of CPU")


if __name__ == "__main__":
    connect_four = pg.load("connect_four")
    ours(connect_four.position("4455").states)  # compiles
    compare(connect_four)
    with_book(connect_four)
    grading(connect_four)
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
