"""The control experiment: PPO and AlphaZero with the same network, opponents, restarts and seconds of one GPU.

    python benchmarks/control.py connect_four --seeds 1 2 --seconds 240 --out control     # train both, then measure
    python benchmarks/control.py connect_four --seeds 1 2 --out control --measure         # only what is trained
    python benchmarks/control.py connect_four --seeds 1 2 --seconds 300 --out control --cpu   # on two cores

Everything else is each learner's own profile for a GPU (`GAME_ppo_gpu`, `GAME_alphazero_gpu`). With `--cpu` networks
and batches are small enough for a core, and the two learners run side by side, one thread each. A run whose folder is
there is not trained again, so that one call may train what another measures. Measured by outsiders: in Connect Four the
share of moves that keep the value, in four phases; in the others games against scripted agents; and games between the
two, each with the network alone and, where `sims` is given, with search.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import multiprocessing.process
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import connect_four_phases as phases
import plyground as pg
from plyground.agents.registry import make
from plyground.runs.settings import profile

SAME: dict[str, dict[str, Any]] = {  # for both learners; without normalisation, which only AlphaZero's updates learn
    "connect_four": {
        "encoder": "planes",
        "network": "b6c128-slim+value",
        "opening_plies": 16,
        "opponents": ["0.8 self", "0.2 snapshot"],
    },
    "paco_sako": {
        "encoder": "turned",
        "network": "b6c96-slim+value",
        "opening_plies": 60,
        "max_plies": 200,
        "opponents": ["0.8 self", "0.1 snapshot", "0.1 greedy"],
    },
    "chess": {
        "encoder": "planes",
        "network": "b6c128-slim-pairs+value",
        "opening_plies": 40,
        "max_plies": 300,
        "opponents": ["0.7 self", "0.1 snapshot", "0.1 random", "0.1 greedy"],
    },
}
LEARNERS = ("ppo", "alphazero")
SMALL: dict[str, dict[str, Any]] = {  # with --cpu, for both and for each; in Connect Four as in the profiles for a CPU
    "both": {"device": "cpu", "threads": 1, "network": "512-256+value"},
    "ppo": {"num_envs": 512, "rollout_length": 16, "batch_size": 1024, "learning_rate": 1e-3},
    "alphazero": {
        "num_envs": 256,
        "simulations": 16,
        "simulations_initial": 8,
        "buffer_size": 200_000,
        "learning_starts": 5_000,
        "batch_size": 512,
    },
}
AGAINST = {"paco_sako": ("random", "greedy"), "chess": ("random", "greedy")}
ONE_CYCLE = {"cycles": 0, "games_per_cycle": 0, "eval_opponents": ["random"], "eval_games": 100}


# ---- training ----


def settings_of(
    game: str, learner: str, seed: int, seconds: float, changed: Sequence[str], cpu: bool
) -> dict[str, Any]:
    """A learner's own profile, what both have, and NAME=VALUE from the command line, values as in JSON."""
    own = cpu and game == "connect_four"  # the only game with profiles of both for a CPU
    table = profile(f"{game}_{learner}" if own else f"{game}_{learner}_gpu")
    del table["learner"]
    small = SMALL["both"] | ({} if own else SMALL[learner]) if cpu else {}
    times = {"seed": seed, "seconds": seconds, "seconds_per_cycle": seconds}
    words = dict(each.split("=", 1) for each in changed)
    return table | SAME[game] | small | ONE_CYCLE | times | {name: json.loads(value) for name, value in words.items()}


def train(chosen: argparse.Namespace, seed: int) -> None:
    """Train those that are not there yet, on a CPU side by side, each in a process of its own."""
    processes = list[multiprocessing.process.BaseProcess]()
    for learner in chosen.learners:
        run = run_of(chosen.out, chosen.game, learner, seed)
        if run.exists():
            continue
        settings = settings_of(chosen.game, learner, seed, chosen.seconds, chosen.set, chosen.cpu)
        if chosen.cpu:
            processes.append(
                multiprocessing.get_context("spawn").Process(target=train_one, args=(learner, run, settings))
            )
            processes[-1].start()
        else:
            train_one(learner, run, settings)
    for process in processes:
        process.join()


def train_one(learner: str, run: Path, settings: dict[str, Any]) -> None:
    pg.train(learner, out=run, **settings)


def run_of(out: Path, game: str, learner: str, seed: int) -> Path:
    return out / f"{game}-{learner}-{seed}"


# ---- measuring ----


def agents_of(run: Path, sims: int) -> Iterator[tuple[str, str]]:
    """How a run plays, and the agent."""
    yield "alone", f"run:{run},checkpoint=last"
    if sims:
        yield f"{sims} simulations", f"search:model={run},sims={sims}"  # one cycle: the best checkpoint is the last


def measured(game: pg.Game, out: Path, seed: int, sims: int, games: int) -> Iterator[dict[str, Any]]:
    """One row for each figure of a seed."""
    runs = {learner: run_of(out, str(game), learner, seed) for learner in LEARNERS}
    for learner, run in runs.items():
        for how, spec in agents_of(run, sims):
            row = {"game": str(game), "seed": seed, "agent": f"{learner}, {how}"}
            if str(game) == "connect_four":
                found = phases.shares(make(spec, game), phases.all_positions(game, 100 + seed, out))
                yield row | {"by": "value kept", "score": float(np.mean(found)), "phases": np.round(found, 4).tolist()}
            for opponent in AGAINST.get(str(game), ()):
                yield row | {"by": opponent} | score(game, spec, opponent, games)
    for (how, first), (_, second) in zip(*(agents_of(run, sims) for run in runs.values()), strict=True):
        row = {"game": str(game), "seed": seed, "agent": f"{LEARNERS[0]}, {how}", "by": f"{LEARNERS[1]}, {how}"}
        yield row | score(game, first, second, games)


def score(game: pg.Game, agent: str, opponent: str, games: int) -> dict[str, Any]:
    match = pg.match(game, agent, opponent, games=games, seed=7)
    return {"score": match.score, "interval": list(match.interval), "games": games}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=SAME)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--out", type=Path, default=Path("control"))
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=LEARNERS)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="other settings, in JSON")
    parser.add_argument("--measure", action="store_true", help="train nothing")
    parser.add_argument("--train", action="store_true", help="measure nothing")
    parser.add_argument("--cpu", action="store_true", help="small networks, both learners side by side")
    parser.add_argument("--sims", type=int, default=32, help="simulations of the search; 0: the networks alone")
    parser.add_argument("--games", type=int, default=400)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    for seed in chosen.seeds:
        if not chosen.measure:
            train(chosen, seed)
        if not chosen.train:
            for row in measured(pg.load(chosen.game), chosen.out, seed, chosen.sims, chosen.games):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
