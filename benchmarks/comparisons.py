"""Comparisons that answer the claims of the documents (docs/documents): runs with several seeds, tables and pictures.

    python benchmarks/comparisons.py --out comparisons --processes 16            # all of them, three seeds
    python benchmarks/comparisons.py encoders tables --out comparisons           # some of them
    python benchmarks/comparisons.py --out comparisons --tables                  # only tables and pictures

encoders   Connect Four, DQN, 128-128-128: relative, signed, planes, onehot, features, the same time for each
networks   Connect Four, DQN on planes: MLPs, windows, residual nets, the same time for each
sides      Connect Four, DQN on relative boards: learned as player 1 only or as both, measured as each of them
masks      chess, DQN, 839-512-256-128-4096: targets with exact masks, with masks of another state, without masks
tables     Sequence: Q-learning and SARSA; the author's key with raw and logarithmic scores, and the key with cards
index      Paco Ŝako: dense tensors and indices, bytes and positions a second, on the CPU and on a GPU if there is one

Each trial is a process of its own on one core and leaves one JSON file; a trial whose file is there is not repeated, so
the command can be stopped and started again. `--seconds` is the time of play and updates of a Connect Four trial; chess
gets three times as much; tables and sides get as many games as one core plays in about that time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import torch
from torch import Tensor

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.arena.rating import mean_and_interval
from plyground.backend.device import is_gpu
from plyground.batch import Batch
from plyground.learners import LEARNERS
from plyground.learners.config import DQN
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner, td_targets
from plyground.learners.evaluation import OPENINGS_SEED
from plyground.learners.replay import Sample
from plyground.learners.selfplay import Transition
from plyground.learners.training import progress
from plyground.report.figures import BLUE, GREY, SMALL, label, new_figure, save_figure
from plyground.runs.files import write_whole
from plyground.runs.settings import build, profile

FOUR = ("random", "punisher", "greedy", "minimax:depth=3")
SEQUENCE = ("random", "greedy", "window")
WITHOUT_EVALUATION = {"checkpoint_interval": 10**9, "games_per_cycle": 10**9}
GAMES_A_SECOND = 250  # of the comparison of sides, which counts games, not seconds
SLOWER = 3  # chess trials get so many times the seconds
SPEED_ROUNDS, POSITIONS = 5, {"cpu": 2_048, "cuda": 65_536}  # at once

CARDS = {"value_scale": 10.0}  # as in the profile sequence_q_rich
RAW = {"score_scale": "raw", "value_scale": 1.0, "reward_weight": 1.0, "prior": 0.0, "gamma": 0.9, "gamma_final": 0.9}
DOCUMENT = {"encoder": "flat839", "outputs": 4096, "rollback_q": 1e9}  # its inputs and outputs; values may grow
ONE, BOTH = "as player 1 only", "as both players"
EXACT, ANOTHER, NONE = "exact", "of another state", "none"
KEYS = {"patterns": {}, "patterns, raw scores": {"key": "patterns", **RAW}, "cards": {"key": "cards", **CARDS}}


@dataclass(frozen=True)
class Comparison:
    """Variants of one profile, and the opponents that measure them."""

    title: str
    base: str
    variants: dict[str, dict[str, Any]]
    opponents: tuple[str, ...]
    max_plies: int = 0


COMPARISONS = {
    "encoders": Comparison(
        "Connect Four, DQN, network 128-128-128",
        "connect_four_dqn_original",
        {name: {"encoder": name} for name in ("relative", "signed", "planes", "onehot", "features")},
        FOUR,
    ),
    "networks": Comparison(
        "Connect Four, DQN on planes",
        "connect_four_dqn_short",
        {name: {"network": name} for name in ("128-128-128", "512-256", "k4c64-128", "b2c32", "b4c64")},
        FOUR,
    ),
    "sides": Comparison(
        "Connect Four, DQN on relative boards, learned",
        "connect_four_dqn_original",
        {variant: {"bootstrap": "own_turn", "opponents": ["1 random", "1 greedy"]} for variant in (ONE, BOTH)},
        ("random", "greedy"),
    ),
    "masks": Comparison(
        "Chess, DQN, 839-512-256-128-4096: the mask of the next state",
        "chess_dqn",
        dict.fromkeys((EXACT, ANOTHER, NONE), DOCUMENT),
        ("random", "greedy"),
        400,
    ),
    "tables": Comparison(
        "Sequence, tables",
        "sequence_q",
        {f"{method}, {key}": {"method": method, **more} for key, more in KEYS.items() for method in ("q", "sarsa")},
        SEQUENCE,
    ),
}
INDEX = "index"


# ---- one trial ----


class FirstPlayer(DQNLearner):
    """Learns from the plies of player 1 alone."""

    def __init__(self, config: DQN) -> None:
        super().__init__(config)
        write = self.replay.write

        def write_first(ply: Transition, usable: Tensor, explored: Tensor | None = None) -> None:
            write(ply, usable & (self.view.on.field(ply.states, "to_move") == 0), explored)

        self.replay.write = write_first


class OtherMasks(DQNLearner):
    """Targets whose mask is not that of the next state: of another one in the minibatch, or none."""

    mask: str

    def targets(self, batch: Sample) -> Tensor:
        legal = self.view.legal(batch.next_states)
        over = ~legal.any(1, keepdim=True)
        legal = torch.ones_like(legal) & ~over if self.mask == NONE else legal.roll(1, 0) & ~over
        with torch.no_grad():
            observations = self.view.observe(batch.next_states)
            chooser = self.q_network(observations) if self.config.double_dqn else None
            next_values = self.target_network(observations)
            return td_targets(batch.returns, batch.bootstrap_discounts, next_values, legal, chooser)


def settings_of(name: str, variant: str, seed: int, seconds: float) -> tuple[str, dict[str, Any]]:
    """The learner of a trial and its settings."""
    comparison = COMPARISONS[name]
    table = profile(comparison.base)
    learner = table.pop("learner")
    table |= comparison.variants[variant] | {"seed": seed, "eval_opponents": ["random"]}
    if learner == "tabular":
        return learner, table | {"games_per_cycle": max(20, round(table["games_per_cycle"] * seconds / 60))}
    if name == "sides":
        games = {"seconds": 0.0, "cycles": 1, "games_per_cycle": round(GAMES_A_SECOND * seconds)}
        return learner, table | {"threads": 1, "device": "cpu", "checkpoint_interval": 10**9, **games}
    own = {"threads": 1, "device": "cpu", "cycles": 0, "seconds": seconds * (SLOWER if name == "masks" else 1)}
    return learner, table | own | WITHOUT_EVALUATION


def trained(name: str, variant: str, seed: int, seconds: float) -> Any:
    """A learner after its time, or all its cycles; no evaluation, no checkpoint."""
    kind, settings = settings_of(name, variant, seed, seconds)
    config = resolve(build(LEARNERS[kind].config, settings, f"{name}, {variant}"))
    if name == "masks" and variant != EXACT:
        learner: Any = OtherMasks(config)
        learner.mask = variant
    elif variant == ONE:
        learner = FirstPlayer(config)
    else:
        learner = LEARNERS[kind].learner(config)
    state = learner.state
    learner.iterate()  # loads compiled code, which takes a second
    while not state.finished(config):
        begun, state.progress = time.perf_counter(), progress(learner)
        state.track_metrics(learner.iterate(), config)
        state.step += 1
        state.seconds += time.perf_counter() - begun
        state.notes.clear()
        if learner.cycle.progress() >= 1:
            state.cycle += 1
            learner.games.results.clear()
    return learner


def run_trial(name: str, variant: str, seed: int, seconds: float, games: int) -> dict[str, Any]:
    """The scores of one trial, as the scores of each pair of games, and how much was learned."""
    if name == INDEX:
        return measure_index(variant)
    begun, comparison = time.process_time(), COMPARISONS[name]
    learner = trained(name, variant, seed, seconds)
    spent, agent = time.process_time() - begun, learner.model.agent()
    pairs: dict[str, list[float]] = {}
    for spec in comparison.opponents:
        opponent, limit = make(spec, learner.game), comparison.max_plies or None
        match = play_match(learner.game, agent, opponent, games, OPENINGS_SEED, max_plies=limit)
        if name == "sides":
            pairs |= {column: match.scores[:, side].tolist() for side, column in enumerate(sides_of(spec))}
        else:
            pairs[spec] = match.scores.mean(axis=1).tolist()
    counts = {
        "seconds": learner.config.seconds,
        "games": games,
        "plies": learner.state.plies,
        "updates": learner.state.updates,
        "cpu_seconds": spent,
    }
    return {"pairs": pairs, **counts, "q": learner.state.averages.get("q")}


def sides_of(spec: str) -> list[str]:
    return [f"{spec}, as player {number}" for number in (1, 2)]


def columns_of(name: str) -> list[str]:
    """What the pairs of a trial are named by: opponents, perhaps on each side."""
    specs = COMPARISONS[name].opponents
    return [column for spec in specs for column in sides_of(spec)] if name == "sides" else list(specs)


# ---- dense and index ----


def measure_index(device: str) -> dict[str, Any]:
    """Bytes and positions a second of both forms: from states to a tensor, and from the CPU's memory to a tensor."""
    game = pg.load("paco_sako")
    batch = Batch(game, POSITIONS[device], device=device)
    batch.random_play(40)
    dense, index = batch.encode("tensor").cpu(), batch.encode("index").to(torch.int16).cpu()
    if is_gpu(device):
        dense, index = dense.pin_memory(), index.pin_memory()
    ways: dict[str, tuple[int, Callable[[], Tensor]]] = {
        "states to dense": (0, lambda: batch.encode("tensor")),
        "states to indices, expanded": (0, lambda: batch.on.expand("index", batch.encode("index"), torch.float32)),
        "dense, copied": (dense[0].nbytes, lambda: dense.to(device, copy=True)),
        "int16 indices, expanded": (index[0].nbytes, lambda: batch.on.expand("index", index, torch.float32)),
    }
    return {"rates": {way: {"bytes": size, "rates": rates(run, device)} for way, (size, run) in ways.items()}}


def rates(run: Callable[[], Tensor], device: str) -> list[float]:
    """Positions a second in each of a few rounds."""
    found: list[float] = []
    for _ in range(SPEED_ROUNDS + 1):
        count, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < 0.3:
            run()
            count += 1
        if is_gpu(device):
            torch.cuda.synchronize()
        found.append(count * POSITIONS[device] / (time.perf_counter() - begun))
    return found[1:]  # the first one compiles


# ---- all trials ----


@dataclass(frozen=True)
class Trial:
    name: str
    variant: str
    seed: int

    def file(self, out: Path) -> Path:
        return out / self.name / f"{self.variant.replace(' ', '_')}-{self.seed}.json"


def trials_of(names: list[str], seeds: int) -> list[Trial]:
    """Every trial, the long ones first."""
    longest = ("masks", "tables", "networks", "encoders", "sides")
    found = [Trial(name, variant, seed) for name in longest if name in names
             for variant in COMPARISONS[name].variants for seed in range(seeds)]  # fmt: skip
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    return found + [Trial(INDEX, device, 0) for device in devices if INDEX in names]


def start(trial: Trial, out: Path, seconds: float, games: int, core: int) -> str:
    """Run a trial in a process of its own, on one core; returns what went wrong."""
    line = [sys.executable, __file__, trial.name, "--trial", trial.variant, str(trial.seed), "--out", str(out)]
    line += ["--seconds", str(seconds), "--games", str(games), "--core", str(core)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return "" if done.returncode == 0 else f"{trial}: {done.stderr.strip().splitlines()[-1:]}"


def run_all(trials: list[Trial], out: Path, processes: int, seconds: float, games: int) -> list[str]:
    """Run the trials that have no file yet, each on a free core; returns the faults."""
    cores: SimpleQueue[int] = SimpleQueue()
    for core in sorted(os.sched_getaffinity(0))[:processes]:
        cores.put(core)

    def on_free_core(trial: Trial) -> str:
        core = cores.get()
        try:
            return start(trial, out, seconds, games, core)
        finally:
            cores.put(core)
            print(f"{trial.name}: {trial.variant}, seed {trial.seed}", file=sys.stderr, flush=True)

    missing = [trial for trial in trials if not trial.file(out).exists()]
    first = list({trial.name: trial for trial in missing}.values())  # one of each kind alone compiles for all others
    with ThreadPoolExecutor(processes) as pool:
        faults = list(pool.map(on_free_core, first))
        faults += pool.map(on_free_core, [trial for trial in missing if trial not in first])
    return [fault for fault in faults if fault]


# ---- tables and pictures ----


def results_of(name: str, out: Path) -> dict[str, list[dict[str, Any]]]:
    """{variant: the results of its seeds} of the trials that are done."""
    variants = ["cpu", "cuda"] if name == INDEX else list(COMPARISONS[name].variants)
    found = {variant: [Trial(name, variant, seed).file(out) for seed in range(100)] for variant in variants}
    return {
        variant: [json.loads(path.read_text()) for path in paths if path.exists()]
        for variant, paths in found.items()
        if any(path.exists() for path in paths)
    }


def percent(results: list[dict[str, Any]], spec: str) -> str:
    """The mean over all games with its 95% interval, and the lowest and highest seed."""
    mean, (low, high) = mean_and_interval([pair for each in results for pair in each["pairs"][spec]])
    seeds = [100 * statistics.mean(each["pairs"][spec]) for each in results]
    return f"{100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}] ({min(seeds):.1f} to {max(seeds):.1f})"


def table(name: str, out: Path) -> str:
    found = results_of(name, out)
    if name == INDEX:
        rows = ["| device | way | bytes a position | M positions/s, median [lowest, highest] |", "|---|---|---|---|"]
        for device, (result,) in found.items():
            for way, each in result["rates"].items():
                low, middle, high = (f(each["rates"]) / 1e6 for f in (min, statistics.median, max))
                rows.append(f"| {device} | {way} | {each['bytes'] or ''} | {middle:.2f} [{low:.2f}, {high:.2f}] |")
        return "\n".join(rows)
    comparison = COMPARISONS[name]
    columns = columns_of(name)
    specs = " | ".join(f"`{spec}`" for spec in columns)
    rows = [f"| {comparison.title} | seeds | updates | {specs} |", "|---" * (3 + len(columns)) + "|"]
    for variant, results in found.items():
        updates = round(statistics.mean(each["updates"] for each in results))
        scores = " | ".join(percent(results, spec) for spec in columns)
        rows.append(f"| {variant} | {len(results)} | {updates:,} | {scores} |")
    first = next(iter(found.values()))[0]
    each = f"{first['seconds']:g} s of play and updates on one core" if first["seconds"] else "one core each"
    rows += [
        "",
        f"{each}; {first['games']} games against each opponent for each seed: score in percent, 95% interval of",
    ]
    return "\n".join([*rows, "all seeds together, and in brackets the lowest and the highest seed."])


def save_picture(name: str, out: Path) -> None:
    """Bars with 95% intervals, a dot for each seed; for `index` positions a second."""
    found = results_of(name, out)
    if name == INDEX:
        bars = {
            f"{way}\n{device}": each["rates"] for device, (one,) in found.items() for way, each in one["rates"].items()
        }
        figure = new_figure(9, 4, "Paco Ŝako: positions a second")
        axes = figure.subplots()
        axes.bar(range(len(bars)), [statistics.median(each) for each in bars.values()], color=BLUE)
        axes.set_xticks(range(len(bars)), list(bars), fontsize=SMALL)
        label(axes, "y", yscale="log", ylabel="positions a second")
        save_figure(out / f"{name}.png", figure)
        return
    comparison = COMPARISONS[name]
    columns = columns_of(name)
    figure = new_figure(3 * len(columns), 4, comparison.title)
    for axes, spec in zip(figure.subplots(1, len(columns), squeeze=False)[0], columns, strict=True):
        for place, results in enumerate(found.values()):
            mean, (low, high) = mean_and_interval([pair for each in results for pair in each["pairs"][spec]])
            axes.bar(place, mean, color=GREY, yerr=[[mean - low], [high - mean]], capsize=3)
            seeds = [statistics.mean(each["pairs"][spec]) for each in results]
            axes.plot([place] * len(seeds), seeds, "o", color=BLUE, ms=4)
        axes.set_xticks(range(len(found)), list(found), rotation=45, ha="right", fontsize=SMALL)
        label(axes, "y", title=f"against {spec}", ylim=(0, 1.02))
    save_figure(out / f"{name}.png", figure)


def write_tables(names: list[str], out: Path) -> None:
    parts = [f"## {name}\n\n{table(name, out)}\n" for name in names if results_of(name, out)]
    for name in names:
        if results_of(name, out):
            save_picture(name, out)
    text = "\n".join(parts)
    write_whole(out / "comparisons.md", text.encode())
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*COMPARISONS, INDEX]
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(known)} (default: all)")
    parser.add_argument("--out", type=Path, default=Path("comparisons"))
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--games", type=int, default=1000, help="against each opponent")
    parser.add_argument("--tables", action="store_true", help="only write tables and pictures")
    parser.add_argument("--trial", nargs=2, metavar=("VARIANT", "SEED"), help="run this trial here, and nothing else")
    parser.add_argument("--core", type=int, default=-1, help="the core of a trial")
    given = parser.parse_args()
    names = given.names or known
    odd = [name for name in names if name not in known]
    if odd:
        parser.error(f"no comparison {odd[0]}; known: {', '.join(known)}")
    if given.trial:
        if given.core >= 0 and given.trial[0] != "cuda":
            os.sched_setaffinity(0, {given.core})
        trial = Trial(names[0], given.trial[0], int(given.trial[1]))
        result = run_trial(trial.name, trial.variant, trial.seed, given.seconds, given.games)
        trial.file(given.out).parent.mkdir(parents=True, exist_ok=True)
        write_whole(trial.file(given.out), json.dumps(result).encode())
        return
    trials = [] if given.tables else trials_of(names, given.seeds)
    faults = run_all(trials, given.out, given.processes, given.seconds, given.games)
    given.out.mkdir(parents=True, exist_ok=True)
    write_tables(names, given.out)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
