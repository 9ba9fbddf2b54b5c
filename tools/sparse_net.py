"""A sparse network on a machine with many cores: data, training and a match in one go, with numba and numpy alone.

    python tools/sparse_net.py make GAME FOLDER --seconds 270 --nets 64:0 64:0.1 --games 400
    python tools/sparse_net.py run GAME FOLDER/64_0.npz RUN      # the network as a run, for model=RUN

`make` collects searched positions into --data for so many seconds (the same command goes on where it was stopped), then
for each net, UNITS:RESULT_SHARE, trains, plays against the game's own evaluation at equal nodes, and writes
FOLDER/UNITS_SHARE.npz; report.txt says all figures. `--teacher minimax:nodes=1000,model=RUN` makes the next generation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from plyground.arena.match import play_match
from plyground.game import load
from plyground.kernels.threads import available
from plyground.learners.config import Sparse as Config
from plyground.learners.sparse import SparseLearner
from plyground.learners.training import progress
from plyground.models.sparse import Sparse
from plyground.search.timed import TimedMinimax
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect


def make(options: argparse.Namespace) -> None:
    begun, folder = time.time(), Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    report = (folder / "report.txt").open("a")

    def say(text: str) -> None:
        line = f"[{time.time() - begun:6.1f} s] {text}"
        print(line, flush=True)
        print(line, file=report, flush=True)

    load(options.game).kernels()
    data = Path(options.data)
    config = Collect(
        game=options.game, games=10**8, teacher=options.teacher, opening_plies=options.opening_plies, seed=options.seed
    )
    shown = [time.time()]

    def show(games: int, positions: int, speed: float) -> None:
        if time.time() - shown[0] > 20:
            shown[0] = time.time()
            say(f"{games:,} games, {positions:,} positions, {speed:,.0f} a second")

    if options.seconds:
        end = time.time() + options.seconds
        found = collect(config, data, show, lambda: time.time() > end)
        say(f"{available()} cores: {found['lines']:,} positions, {found['results']}, by {found['teacher']}")
    for net in options.nets:
        train_and_play(net, options, data, folder, say)
    report.close()


def train_and_play(net: str, options: argparse.Namespace, data: Path, folder: Path, say: Callable[[str], None]) -> None:
    units, share = net.split(":")
    config = Config(
        game=options.game, data=(str(data),), units=int(units), result_share=float(share), cycles=options.cycles,
        seed=options.seed,
    )  # fmt: skip
    learner = SparseLearner(config)
    state, trained = learner.state, time.time()
    while not state.finished(config):
        state.progress = progress(learner)
        state.track_metrics(learner.iterate(), config)
        state.step += 1
        if learner.cycle.progress() >= 1:
            state.cycle += 1
            (record,) = learner.cycle.end()
            names = ("positions", "held_out", "train_loss", "loss", "hand_loss")
            say(f"{net} cycle {state.cycle}: {', '.join(f'{name} {record[name]:.6g}' for name in names)}")
    say(f"{net}: {state.plies / (time.time() - trained):,.0f} positions a second in {learner.threads} threads")
    best = learner.model.best
    arrays: Any = best.state()
    np.savez(folder / f"{units}_{share}.npz", **arrays)
    game, threads = learner.game, available()
    own = TimedMinimax(game, nodes=options.nodes, threads=threads, model=best)
    other = TimedMinimax(game, nodes=options.nodes, threads=threads)
    match = play_match(game, own, other, options.games, seed=options.seed + 1, max_plies=300)
    low, high = match.interval
    counts = f"{match.wins} won, {match.draws} drawn, {match.losses} lost"
    say(f"{net}: {match.score:.1%} [{low:.1%}, {high:.1%}] of {match.games} games at {options.nodes} nodes, {counts}")


def as_run(options: argparse.Namespace) -> None:
    """Write a network as a run of the learner `sparse`."""
    from plyground.learners.launch import new_run
    from plyground.learners.versions import Versions

    game, arrays = load(options.game), dict(np.load(options.net))
    network = Sparse(game, len(arrays["bias"]))
    network.load_state(arrays)
    config = Config(game=game.full, units=network.units)
    with new_run(Path(options.run), "sparse", config) as run:
        versions = Versions(network)
        run.save(1, versions.identity, {"sparse": dict(network.state())}, {"config": asdict(config), "parts": {}})
        run.write("best.json", '{"step": 1}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("make")
    one.add_argument("game")
    one.add_argument("folder")
    one.add_argument("--data", default="data/searched.packed")
    one.add_argument("--seconds", type=float, default=0.0)
    one.add_argument("--teacher", default="minimax:nodes=1000")
    one.add_argument("--opening-plies", type=int, default=12)
    one.add_argument("--nets", nargs="+", default=["64:0"])
    one.add_argument("--cycles", type=int, default=12)
    one.add_argument("--nodes", type=int, default=10000)
    one.add_argument("--games", type=int, default=400)
    one.add_argument("--seed", type=int, default=0)
    one.set_defaults(does=make)
    other = commands.add_parser("run")
    for name in ("game", "net", "run"):
        other.add_argument(name)
    other.set_defaults(does=as_run)
    options = parser.parse_args()
    options.does(options)


if __name__ == "__main__":
    main()
