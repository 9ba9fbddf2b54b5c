"""The adapters beside the peers' own environments and beside Batch, in interleaved rounds: medians and ranges.

.venv/bin/python benchmarks/interop.py        (needs the extras bench and peers; --int8: strength of int8 networks)
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import contextlib
import io
import random
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import plyground as pg

ROUNDS, SECONDS, GAMES = 5, 1.0, 400
TRAINED = Path(pg.__file__).parent / "trained"


def agent_loop(env: Any) -> Callable[[], int]:
    """A function that plays 200 plies with random legal actions, as PettingZoo's performance_benchmark does."""
    rng = random.Random(0)
    env.reset(seed=0)

    def run() -> int:
        for _ in range(200):
            observation, _, terminated, truncated, _ = env.last()
            done = terminated or truncated
            env.step(None if done else rng.choice(np.flatnonzero(observation["action_mask"]).tolist()))
            if not env.agents or all(env.terminations.values()) or all(env.truncations.values()):
                env.reset()
        return 200

    return run


def batch_loop(game: pg.Game, n: int) -> Callable[[], int]:
    """A step of a batch, with masks and observations."""
    batch, encoder = pg.Batch(game, n, threads=1), str(game.encoder())

    def run() -> int:
        batch.step(batch.random_actions())
        batch.legal_mask()
        batch.encode(encoder)
        return n

    return run


def vector_loop(game: pg.Game, n: int, opponent: str | None = None) -> Callable[[], int]:
    """A step of a vector environment; the actions are drawn as quickly as those of the batch."""
    from plyground.agents.scripted import Random
    from plyground.interop.gymnasium import GameVectorEnv

    envs, player, rngs = GameVectorEnv(game, n, opponent, threads=1), Random(game), np.arange(n, dtype=np.uint64)
    envs.reset(seed=0)

    def run() -> int:
        states = envs._games.states
        envs.step(envs.encoded.numbers(states, player.act(states, rngs)))
        return n

    return run


def rate(run: Callable[[], int]) -> float:
    """Plies per CPU-second."""
    plies, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        plies += run()
    return plies / (time.process_time() - start)


def compare(loops: Mapping[str, Callable[[], int]]) -> dict[str, list[float]]:
    """The rates of every loop in interleaved rounds."""
    for run in loops.values():
        run()  # compile
    found: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(ROUNDS):
        for name, run in loops.items():
            found[name].append(rate(run))
    return found


def show(found: Mapping[str, list[float]], reference: str) -> None:
    base = statistics.median(found[reference])
    for name, rates in found.items():
        middle = statistics.median(rates)
        print(f"{name:44} {middle:12,.0f} plies/s ({min(rates):,.0f} to {max(rates):,.0f}), {middle / base:.2f} times")
    print()


def performance_benchmark(env: Any) -> float:
    """Turns per second by PettingZoo's own benchmark, which prints them."""
    from pettingzoo.test import performance_benchmark as own

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        own(env)
    return float(re.findall(r"([\d.]+) turns per second", said.getvalue())[0])


def speed() -> None:
    from pettingzoo.classic import chess_v6, connect_four_v3

    from plyground.interop.pettingzoo import env

    for name, own in (("chess", chess_v6), ("connect_four", connect_four_v3)):
        loops = {f"PettingZoo's {name}": agent_loop(own.env()), f"PettingZoo adapter, {name}": agent_loop(env(name))}
        show(compare(loops), f"PettingZoo's {name}")
    for name, own in (("chess", chess_v6), ("connect_four", connect_four_v3)):
        theirs, ours = performance_benchmark(own.env()), performance_benchmark(env(name))
        print(f"performance_benchmark, {name}: {theirs:,.0f} and {ours:,.0f} turns/s, {ours / theirs:.1f} times")
    print()
    for name, n in (("connect_four", 4096), ("connect_four", 1024), ("chess", 1024), ("sequence", 1024)):
        game = pg.load(name)
        loops = {
            f"Batch, {name}, {n} games": batch_loop(game, n),
            "GameVectorEnv, both sides": vector_loop(game, n),
            "GameVectorEnv against random": vector_loop(game, n, "random"),
        }
        show(compare(loops), f"Batch, {name}, {n} games")


def int8_strength() -> None:
    """Networks in int8 against themselves in float32, and graded by the perfect player."""
    from plyground.interop.onnx import export, load_agent

    for name in ("connect_four", "chess", "paco_sako"):
        game, agents = pg.load(name), {}
        with tempfile.TemporaryDirectory() as folder:
            for int8 in (False, True):
                file = Path(folder) / f"{int8}.onnx"
                found = export(TRAINED / name, file, int8=int8)
                agents[int8] = load_agent(file)
                print(f"{name}, int8 {int8}: {found.size:,} bytes, agreement {found.agreement:.1%}")
        match = pg.match(game, agents[True], agents[False], games=GAMES)
        low, high = match.interval
        print(f"{name}: int8 scores {match.score:.1%} [{low:.1%}, {high:.1%}] against float32 in {GAMES} games")
        if game.rules.grade is not None:
            for int8, agent in agents.items():
                whole = game.rules.grade(game, agent, 1000, 0, games=0).wdl["all"]
                print(f"{name}, int8 {int8}: {whole.agent:.1%} of {whole.cases} deciding moves keep the value")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    int8_strength() if "--int8" in sys.argv else speed()
