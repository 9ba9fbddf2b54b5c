"""The documents' own configurations (profiles `…_original`), several seeds, two cores each: a table of their scores.

    python benchmarks/originals.py --out originals                 # all profiles, three seeds, one run after the other
    python benchmarks/originals.py --out originals --processes 7   # seven runs side by side, on 14 cores

A run that is finished is not repeated. Each last network or table plays 400 games against each opponent of its profile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.arena.rating import mean_and_interval
from plyground.learners.evaluation import OPENINGS_SEED
from plyground.runs.settings import profile

PROFILES = (
    "connect_four_dqn_original",
    "connect_four_reinforce_original",
    "connect_four_a2c_original",
    "paco_sako_tensor_original",
    "paco_sako_index_original",
    "sequence_q_original",
    "sequence_sarsa_original",
)
GAMES = 400


def train(name: str, seed: int, out: Path, cores: set[int]) -> None:
    line = [sys.executable, "-m", "plyground", "train", "--profile", name, "--seed", str(seed), "--out", str(out)]
    with (out.parent / f"{out.name}.log").open("w", encoding="utf-8") as log:
        subprocess.run(line, check=False, stdout=log, stderr=log, preexec_fn=lambda: os.sched_setaffinity(0, cores))


def train_all(folder: Path, seeds: int, processes: int) -> None:
    """Every run that is not there yet, each on two cores of its own."""
    free: SimpleQueue[set[int]] = SimpleQueue()
    cores = sorted(os.sched_getaffinity(0))
    for k in range(processes):
        free.put(set(cores[2 * k : 2 * k + 2]))

    def on_free_cores(name: str, seed: int) -> None:
        out = folder / f"{name}-{seed}"
        if not out.exists():
            mine = free.get()
            train(name, seed, out, mine)
            free.put(mine)

    with ThreadPoolExecutor(processes) as pool:
        for seed in range(seeds):
            for name in PROFILES:
                pool.submit(on_free_cores, name, seed)


def line(folder: Path, name: str, seeds: int) -> str:
    """A row of the table: the score against each opponent over all seeds, and the lowest and highest seed."""
    settings, cells = profile(name), list[str]()
    game = pg.load(settings["game"])
    limit = settings.get("max_plies")
    for spec in settings["eval_opponents"]:
        pairs = list[list[float]]()
        for seed in range(seeds):
            agent = make(f"run:{folder / f'{name}-{seed}'},checkpoint=last", game)
            match = play_match(game, agent, make(spec, game), GAMES, OPENINGS_SEED, max_plies=limit)
            pairs.append(match.scores.mean(axis=1).tolist())
        mean, (low, high) = mean_and_interval([each for seed in pairs for each in seed])
        means = [100 * sum(each) / len(each) for each in pairs]
        score = f"{100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}] ({min(means):.1f} to {max(means):.1f})"
        cells.append(f"{spec} {score}")
    return f"{name}: " + "; ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    train_all(given.out, given.seeds, given.processes)
    for name in PROFILES:
        print(line(given.out, name, given.seeds), flush=True)


if __name__ == "__main__":
    main()
