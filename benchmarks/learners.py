"""How fast each learner plays and updates: plies and updates a second, on the CPU and, where there is one, on a GPU.

    python benchmarks/learners.py [--seconds 6] [--rounds 3] [--device cpu] [--checkouts PATH ...]

Each run is a fresh process of `plyground train`; the figures come from the run's own metrics, without evaluation.
With several checkouts of this repository the runs are interleaved and the medians' ratio to the first one is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from plyground.runs.metrics import read_metrics

HERE = Path(__file__).parents[1]
COMMON = {"games-per-cycle": 10_000_000, "eval-games": 2, "eval-opponents": "random", "threads": 1}
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "dqn": ("dqn", "connect_four", {"network": "512-256", "num-envs": 512, "opening-plies": 24}),
    "dqn prioritized": ("dqn", "connect_four", {"network": "512-256", "prioritized-replay": True, "n-step": 3}),
    "dqn chess": ("dqn", "chess", {"network": "256", "num-envs": 256, "max-plies": 200, "replay-ratio": 0.25}),
    "reinforce": ("reinforce", "connect_four", {"network": "512-256+value", "opponents": ("0.7 self", "0.3 greedy")}),
    "a2c": ("a2c", "connect_four", {"network": "k4c64-128+value", "rollout-length": 8}),
    "ppo": ("ppo", "connect_four", {"network": "512-256+value", "batch-size": 1024}),
    "tabular": ("tabular", "sequence", {"threads": None, "opponents": ("1 self", "1 greedy")}),
}


def arguments(settings: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in settings.items():
        if value is True:
            found.append(f"--{name}")
        elif isinstance(value, tuple):
            found += [f"--{name}", *value]
        elif value is not None:
            found += [f"--{name}", str(value)]
    return found


def measure(checkout: Path, case: str, options: argparse.Namespace) -> tuple[float, float]:
    """Plies and updates a second of one run."""
    learner, game, own = CASES[case]
    settings = {**COMMON, "seconds": options.seconds, **own}
    if learner != "tabular":
        settings["device"] = options.device
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "plyground", "train", learner, game, "--out", str(run), *arguments(settings)]
        path = os.pathsep.join([str(checkout / "src"), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{checkout}: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        last = read_metrics(run).last
    return last["plies"] / last["seconds"]["total"], last["updates"] / last["seconds"]["total"]


def main(options: argparse.Namespace) -> None:
    print(f"{options.device}, {options.rounds} rounds of {options.seconds:g} s, medians [lowest, highest]")
    for case in options.cases:
        found: dict[Path, list[tuple[float, float]]] = {checkout: [] for checkout in options.checkouts}
        for round_number in range(options.rounds + 1):
            for checkout in options.checkouts:
                speed = measure(checkout, case, options)
                if round_number:  # the first round compiles
                    found[checkout].append(speed)
        first = statistics.median(plies for plies, _ in found[options.checkouts[0]])
        for checkout, values in found.items():
            plies, updates = [each for each, _ in values], statistics.median(each for _, each in values)
            middle = statistics.median(plies)
            spread = f"[{min(plies):,.0f}, {max(plies):,.0f}]"
            ratio = f"  x{middle / first:.2f}" if len(found) > 1 else ""
            print(f"{case:16} {checkout.name:12} {middle:12,.0f} plies/s {spread} {updates:10,.1f} updates/s{ratio}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="of play and updates in each run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--checkouts", type=Path, nargs="*", default=[HERE])
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    main(parser.parse_args())
