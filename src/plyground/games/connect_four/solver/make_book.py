"""Make an opening book with the solver:

    python -m plyground.games.connect_four.solver.make_book 8 book.xz --minutes 30

It may be stopped at any moment; started again, it solves the positions that the file lacks.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plyground.games.connect_four.solver.book import UNKNOWN, Book, read
from plyground.games.connect_four.solver.solver import Solver, kernels

Bits = NDArray[np.uint64]

PORTION = 64  # positions solved between two reads of the clock


def boards(ply: int) -> tuple[Bits, Bits, Bits]:
    """[B] the stones of the side to move, the other's, and the keys of all positions of a book, by ascending key."""
    mine, theirs = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    for _ in range(ply):
        mine, theirs = children(mine, theirs)
    keys = mine + (mine | theirs)
    needed = np.empty(len(mine), np.bool_)
    kernels().worth_knowing(mine, theirs, needed)
    return mine[needed], theirs[needed], keys[needed]


def children(mine: Bits, theirs: Bits) -> tuple[Bits, Bits]:
    """The boards one move later, each once; of two mirror images only one."""
    room = np.empty((2, 7 * len(mine)), np.uint64)
    mine, theirs = room[:, : kernels().boards_after_a_move(mine, theirs, *room)]
    first = np.unique(mine + (mine | theirs), return_index=True)[1]
    return mine[first], theirs[first]


def main(ply: int, out: Path, minutes: float = 60, threads: int | None = None) -> None:
    """Solve the positions of so many plies and write them to a file."""
    mine, theirs, keys = boards(ply)
    scores = np.full(len(keys), UNKNOWN, np.int8)
    if out.exists():
        old = read(out).known()
        scores[np.isin(keys, old.keys)] = old.scores[np.isin(old.keys, keys)]
    solver, until, saved = Solver(threads=threads), time.monotonic() + 60 * minutes, time.monotonic()
    missing = np.flatnonzero(scores == UNKNOWN)
    for start in range(0, len(missing), PORTION):
        rows = missing[start : start + PORTION]
        scores[rows] = solver.solve(mine[rows], theirs[rows])
        if time.monotonic() > min(until, saved + 60):
            Book(ply, keys, scores).save(out)
            saved = time.monotonic()
            print(f"{(scores != UNKNOWN).sum()} of {len(keys)} positions, {solver.nodes / 1e9:.1f} G nodes", flush=True)
        if time.monotonic() > until:
            return
    Book(ply, keys, scores).save(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("ply", type=int, help="how many stones lie on the boards of the book")
    parser.add_argument("out", type=Path, help="the book's file; if it exists, what it knows is kept")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to stop, finished or not")
    parser.add_argument("--threads", type=int, help="how many (default: all)")
    main(**vars(parser.parse_args()))
