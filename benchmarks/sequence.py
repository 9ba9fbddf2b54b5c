"""Sequence's numbers: random play, features, agents. One thread, CPU time, medians of several rounds.

python benchmarks/sequence.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.games.rng import seeds

GAMES, PLIES, ROUNDS = 500, 100, 7


def rate(work: Callable[[], int]) -> float:
    """Things done per CPU-second: the median of the rounds, after one that compiles."""
    work()
    rates: list[float] = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        done = work()
        rates.append(done / (time.process_time() - begun))
    return statistics.median(rates)


def random_play(word: str) -> float:
    """Random actions from the legal list, game after game."""
    batch = pg.Batch(pg.load(word), GAMES, threads=1)

    def work() -> int:
        batch.random_play(PLIES)
        return GAMES * PLIES

    return rate(work)


def midgame(game: pg.Game) -> np.ndarray:
    """[4000] states from all stages of random games."""
    parts: list[np.ndarray] = []
    batch = pg.Batch(game, GAMES, seed=1, threads=1)
    for _ in range(8):
        batch.random_play(10)
        parts.append(batch.states.copy())
    return np.concatenate(parts)


def main() -> None:
    for word in ("sequence", "sequence:seats=4", "sequence:rules=boxed", "sequence:rules=boxed,seats=4"):
        print(f"{word}: random play with the legal list {random_play(word) / 1e6:.2f} M actions per CPU-second")
    game = pg.load("sequence")
    states = midgame(game)
    for name in ("features", "planes"):
        encoder = game.encoder(name)
        kernels, out = game.encode_kernels(encoder), np.empty((len(states), int(np.prod(encoder.shape))), encoder.dtype)

        def encode(kernels: object = kernels, out: np.ndarray = out) -> int:
            kernels.encode_all(states, out)  # type: ignore[attr-defined]
            return len(states)

        print(f"{encoder}: {1e6 / rate(encode):.2f} µs a state")
    agents = {name: make(name, game) for name in ("random", "greedy", "window")}
    for name in ("greedy", "window"):
        speed = rate(lambda name=name: len(agents[name].act(states, seeds(0, len(states)))))
        print(f"{name}: {speed:,.0f} moves per CPU-second")
    for one, other in (("window", "random"), ("window", "greedy"), ("greedy", "random")):
        result = play_match(game, agents[one], agents[other], 1000, seed=3)
        low, high = result.interval
        print(
            f"{one} against {other}, 1000 games: {result.score:.1%} ({low:.1%} to {high:.1%}), {result.plies:.0f} plies"
        )


if __name__ == "__main__":
    main()
