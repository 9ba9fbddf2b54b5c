"""Paco Ŝako's speed: counting, random play, threats, and what the index form saves on the way to a network.

    python benchmarks/paco_sako.py

Every count that is made is also checked. Times are CPU-seconds of one thread, medians of several rounds; where a GPU is
found, the last table also has the time on the wall from states to a tensor there.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import plyground as pg
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako.encoders import expand
from plyground.games.paco_sako.search import DEEP_WORK
from plyground.kernels.cache import load_kernels

ROUNDS = 5
LEAVES = 4_900_534
TURNS = (20, 20), (400, 400), (8_902, 7_602), (197_792, 101_645), (4_901_417, 1_254_305)  # sequences, positions
console = Console()


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """The median time of a piece of work, after a first run that compiles it."""
    work()
    times: list[float] = []
    for _ in range(ROUNDS):
        begun = clock()
        work()
        times.append(clock() - begun)
    return statistics.median(times)


def main() -> None:
    torch.set_num_threads(1)
    game = pg.load("paco_sako")
    table = Table("what", "measured", title="Paco Ŝako", title_justify="left")
    table.add_row("counting 10 actions", f"{counting(game):.1f} M leaves per CPU-second")
    table.add_row("counting 5 turns, equal positions merged", f"{turns(game):.2f} s of CPU")
    table.add_row("random play with the legal list", f"{random_play(game):.1f} M actions per CPU-second")
    boards = middle_games(game)
    for name, kind in ((f"{len(boards)} random games", boards), ("2000 boards full of unions", crowded_boards(game))):
        everything, king, share = threat_search(kind)
        table.add_row(f"all threats of a side, {name}", f"{everything:.2f} µs")
        table.add_row(f"is the king in Ŝako, the same (in {share:.0%})", f"{king:.2f} µs")
    console.print(table)
    console.print(representations(game, boards))


def counting(game: pg.Game) -> float:
    start = game.start()
    assert start.perft(10) == LEAVES
    return LEAVES / seconds(lambda: start.perft(10)) / 1e6


def turns(game: pg.Game) -> float:
    begun = time.process_time()
    counts = analysis.count_turns(game.start(), 5)
    assert tuple((count.sequences, count.positions) for count in counts) == TURNS
    assert (counts[4].over, counts[4].gifts, counts[4].united) == (269, 220, 58_730)
    return time.process_time() - begun


def random_play(game: pg.Game) -> float:
    batch = pg.Batch(game, 256, threads=1)
    return 256 * 1000 / seconds(lambda: batch.random_play(1000)) / 1e6


def middle_games(game: pg.Game) -> np.ndarray:
    """Running states at the start of a turn, 60 to 160 random actions into their games."""
    found: list[np.ndarray] = []
    batch = pg.Batch(game, 4096, seed=1)
    for _ in range(160):
        batch.step(batch.random_actions())
        fits = (batch.plies >= 60) & (batch.states["required"] == 0)
        found.append(batch.states[fits][::50])
    return np.concatenate(found)


def crowded_boards(game: pg.Game, n: int = 2000) -> np.ndarray:
    """All 32 pieces anywhere, six to nine pairs of them united: the hard kind, as in puzzles."""
    rng, boards = np.random.default_rng(2), np.repeat(game.start().states, n)
    kinds = [1] * 8 + [2, 2, 3, 3, 4, 4, 5]
    for board in boards:
        squares, unions = rng.permutation(np.arange(8, 56)), rng.integers(6, 10)
        places = squares[:15], np.concatenate([squares[:unions], squares[16 : 31 - unions]])
        planes = np.zeros((2, 3), np.uint64)
        for side in (0, 1):
            men = [*zip(places[side], rng.permutation(kinds), strict=True), (squares[-1 - side], 6)]
            for square, kind in men:
                for digit in range(3):
                    planes[side, digit] |= np.uint64(int(kind) >> digit & 1) << np.uint64(square)
        board["planes"], board["rights"] = planes, 0
    return boards


def threat_search(boards: np.ndarray) -> tuple[float, float, float]:
    """Microseconds for a board: every threat of the player to move, and whether it gives Ŝako; how often it does."""
    kernels, work = load_kernels("plyground.games.paco_sako.kernels", {}, "paco_sako"), np.zeros(1, DEEP_WORK)
    sides, squares = boards["to_move"].astype(np.int32), np.empty(len(boards), np.uint64)
    found = np.empty(len(boards), np.int32)
    everything = seconds(lambda: kernels.threats_all(boards, sides, squares, work))
    king = seconds(lambda: kernels.gives_sako_all(boards, sides, found, work))
    return everything / len(boards) * 1e6, king / len(boards) * 1e6, float((found == 1).mean())


def representations(game: pg.Game, boards: np.ndarray) -> Table:
    """From states to a tensor on a device: dense, or as indices that are expanded there."""
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    states = np.resize(boards, 16_384)
    table = Table(
        *("form", "bytes a position", *(f"positions a second, {device}" for device in devices)),
        title=f"{len(states)} states to a tensor",
        title_justify="left",
    )
    expected = torch.from_numpy(game.encode("tensor", states))
    for name, dtype in (("tensor", np.float32), ("index", np.uint32), ("index", np.int16)):
        row = [f"{name}, {np.dtype(dtype)}", str(int(np.prod(game.encoder(name).shape)) * np.dtype(dtype).itemsize)]
        for device in devices:
            send = sender(game, name, dtype, states, device)
            assert torch.equal(send().cpu(), expected)
            row.append(f"{len(states) / seconds(send, time.perf_counter):,.0f}")
        table.add_row(*row)
    return table


def sender(game: pg.Game, name: str, dtype: type, states: np.ndarray, device: str) -> Callable[[], torch.Tensor]:
    def send() -> torch.Tensor:
        encoded = torch.from_numpy(game.encode(name, states).astype(dtype, copy=False)).to(device)
        tensor = encoded if name == "tensor" else expand(encoded)
        if device == "cuda":
            torch.cuda.synchronize()
        return tensor

    return send


if __name__ == "__main__":
    main()
