"""Speed of the rules, measured as a learner uses them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TypedDict

import numpy as np

from plyground.batch import Batch
from plyground.game import Game
from plyground.kernels.threads import CHUNK, available

ROUNDS = 5


class Speed(TypedDict):
    """The result of `bench rules`: medians of several rounds."""

    game: str
    encoder: str
    batch: int
    """games of the single thread whose CPU time is measured"""
    threads: int
    batch_of_a_thread: int
    """games of each thread where wall time is measured: enough to outweigh the cost of starting it"""
    plies_per_cpu_second: float
    plies_per_second: float


def measure_rules(game: Game, encoder: str | None, batch: int, seconds: float) -> Speed:
    """Plies per CPU-second on one thread, and per second of wall time on all of them."""
    name = str(game.encoder(encoder or ""))
    threads = available()
    each = max(batch, 4 * CHUNK)
    alone, together = stepper(game, name, batch, 1), stepper(game, name, each * threads, threads)
    share = seconds / (2 * ROUNDS)
    return Speed(
        game=str(game),
        encoder=name,
        batch=batch,
        threads=threads,
        batch_of_a_thread=each,
        plies_per_cpu_second=statistics.median(rate(alone, share, time.process_time) for _ in range(ROUNDS)),
        plies_per_second=statistics.median(rate(together, share, time.perf_counter) for _ in range(ROUNDS)),
    )


def stepper(game: Game, encoder: str, batch: int, threads: int) -> Callable[[], int]:
    """A function that plays one random ply in every game, writes mask and observation, and returns how many plies."""
    games = Batch(game, batch, threads=threads)
    chosen = game.encoder(encoder)
    mask = np.empty((batch, game.num_actions), np.bool_)
    observation = np.empty((batch, *chosen.shape), chosen.dtype)

    def step() -> int:
        games.step(games.random_actions())
        games.legal_mask(out=mask)
        games.encode(encoder, out=observation)
        return batch

    step()  # compiles
    return step


def rate(step: Callable[[], int], seconds: float, clock: Callable[[], float]) -> float:
    """Plies per second of `clock`."""
    plies, begun, until = 0, clock(), time.perf_counter() + seconds
    while True:
        plies += step()
        if time.perf_counter() >= until:
            return plies / (clock() - begun)
