"""Chess beside Stockfish's perft, python-chess and OpenSpiel: one core, CPU time, medians of interleaved rounds."""

# The peers need not be installed, and have no types:
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable

import numpy as np

import plyground as pg
from plyground.checks.speed import rate
from rules import open_spiel
from startup import timed

ROUNDS, BATCH = 5, 1024
POSITIONS = {
    "start": ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6),
    "Kiwipete": ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5),
}

Rates = dict[str, list[float]]


def _show(title: str, rates: Rates, ours: str) -> None:
    """Medians in millions, and how many times faster ours is."""
    print(title)
    base = statistics.median(rates[ours])
    for name, found in rates.items():
        if not found:
            print(f"  {name} is not installed; left out")
            continue
        middle, low, high = statistics.median(found), min(found), max(found)
        print(
            f"  {name:24} {middle / 1e6:9.3f} M/s [{low / 1e6:.3f} to {high / 1e6:.3f}]   ours is {base / middle:.2f}x"
        )


# ---- perft ----


def _our_perft(fen: str, depth: int) -> float:
    position = pg.load("chess").position(fen)
    position.perft(2)
    begun = time.process_time()
    return position.perft(depth) / (time.process_time() - begun)


def _stockfish_perft(engine: str, fen: str, depth: int) -> float:
    """Its own start and the reading of its network are taken off."""
    seconds: list[float] = []
    nodes = 0
    for deep in (1, depth):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        asked = f"position fen {fen}\ngo perft {deep}\nquit\n"
        answer = subprocess.run([engine], input=asked, capture_output=True, text=True, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        nodes = int(answer.split("Nodes searched:")[1].split()[0])
    return nodes / (seconds[1] - seconds[0])


def _python_chess_perft(fen: str, depth: int) -> float:
    import chess

    def count(board: chess.Board, left: int) -> int:
        if left == 1:
            return board.legal_moves.count()
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += count(board, left - 1)
            board.pop()
        return total

    begun = time.process_time()
    return count(chess.Board(fen), depth) / (time.process_time() - begun)


def perft() -> None:
    engine = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    for name, (fen, depth) in POSITIONS.items():
        rates: Rates = {"Plyground": [], "Stockfish": [], "python-chess": []}
        for _ in range(ROUNDS):
            rates["Plyground"].append(_our_perft(fen, depth))
            if engine:
                rates["Stockfish"].append(_stockfish_perft(engine, fen, depth))
            with contextlib.suppress(ImportError):
                rates["python-chess"].append(_python_chess_perft(fen, 3))
        _show(f"perft, {name}, depth {depth} (python-chess: 3), leaves per CPU-second", rates, "Plyground")


# ---- random play ----


def _fused() -> Callable[[], int]:
    """Legal list, choice, move and every draw rule, in one compiled loop."""
    batch = pg.Batch(pg.load("chess"), BATCH, threads=1)

    def step() -> int:
        batch.random_play(20)
        return 20 * BATCH

    step()
    return step


def _with_mask_and_planes() -> Callable[[], int]:
    game = pg.load("chess")
    batch = pg.Batch(game, BATCH, threads=1, check=False)
    mask = np.empty((BATCH, game.num_actions), np.bool_)
    planes = np.empty((BATCH, *game.encoder("planes").shape), np.float32)

    def step() -> int:
        batch.step(batch.random_actions())
        batch.legal_mask(out=mask)
        batch.encode("planes", out=planes)
        return BATCH

    step()
    return step


def play() -> None:
    fused, whole = _fused(), _with_mask_and_planes()
    rates: Rates = {"Plyground": [], "OpenSpiel": []}
    alone: list[float] = []
    peer = None
    with contextlib.suppress(ImportError):
        peer = open_spiel("chess")
    for _ in range(ROUNDS):
        alone.append(rate(fused, 0.5, time.process_time))
        rates["Plyground"].append(rate(whole, 0.5, time.process_time))
        if peer:
            rates["OpenSpiel"].append(rate(peer, 1.0, time.process_time))
    _show(f"random play, legal list and all draw rules, batch {BATCH}", {"Plyground": alone}, "Plyground")
    _show(f"the same with legal mask and planes written, batch {BATCH}", rates, "Plyground")


# ---- starting ----


def start() -> None:
    with tempfile.TemporaryDirectory() as cache:
        first = timed("perft", "chess", "--depth", "4", cache=cache)
        later = [timed("perft", "chess", "--depth", "4", cache=cache) for _ in range(ROUNDS)]
    wall, cpu = (statistics.median(column) for column in zip(*later, strict=True))
    print(f"first start, compiling: {first[0]:.2f} s wall, {first[1]:.2f} s CPU")
    print(f"later start: {wall:.2f} s wall, {cpu:.2f} s CPU, median of {ROUNDS}")


if __name__ == "__main__":
    perft()
    play()
    start()
