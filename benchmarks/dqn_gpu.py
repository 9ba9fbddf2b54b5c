"""What makes DQN learn chess and Paco Ŝako on a GPU: one change each from a profile, several runs side by side.

    python benchmarks/dqn_gpu.py chess FOLDER 0 1 2 3        these variants of chess_dqn_gpu (none named: list them)
    python benchmarks/dqn_gpu.py paco_sako FOLDER 0 1 2      of paco_sako_dqn_gpu
    python benchmarks/dqn_gpu.py chess FOLDER 0 1 --seconds 240

Prints the score after every cycle with the mean value and the entropy: a run that gets worse is seen here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from plyground.runs.metrics import read_metrics

CHESS = [
    [],
    ["--n-step", "1"],
    ["--n-step", "20"],
    ["--exploration-initial-eps", "0.4", "--exploration-final-eps", "0.4", "--exploration-spread", "3"],
    ["--bootstrap", "next"],
    ["--network", "512-256-128", "--learning-rate", "0.001"],
    ["--shaping-coef", "0"],
    ["--opponents", "0.5 random", "0.5 greedy"],
    ["--learning-rate", "0.0002", "--target-update-interval", "1000"],
    ["--replay-ratio", "4"],
    ["--truncation-penalty", "0.2"],
    ["--opponents", "1 random"],
    ["--gamma", "0.97", "--n-step", "4"],
    ["--seed", "1"],
    ["--seed", "2"],
]
PACO_SAKO = [
    [],
    ["--n-step", "1"],
    ["--n-step", "20"],
    ["--exploration-initial-eps", "0.4", "--exploration-final-eps", "0.4", "--exploration-spread", "3"],
    ["--bootstrap", "next"],
    ["--truncation-penalty", "0.2"],
    ["--learning-rate", "0.0002", "--target-update-interval", "1000"],
    ["--shaping-coef", "0"],
    ["--seed", "1"],
    ["--seed", "2"],
]
VARIANTS = {"chess": CHESS, "paco_sako": PACO_SAKO}


def command(game: str, options: list[str], seconds: float, out: Path) -> list[str]:
    limit = ["--seconds", str(seconds)] if seconds else []
    start = [sys.executable, "-m", "plyground", "train", "--profile", f"{game}_dqn_gpu"]
    return [*start, *limit, *options, "--out", str(out)]


def show(out: Path, options: list[str]) -> None:
    """A line for each evaluation of a run."""
    print(f"\n{out.name}: {' '.join(options) or 'the profile'}")
    for line in read_metrics(out).lines:
        found = line.record
        if found["event"] == "cycle":
            names = ("plies", "updates", "q", "entropy", "td_error", "decided", "truncated")
            numbers = {**found, **found.get("metrics", {})}
            print("  " + ", ".join(f"{name} {numbers[name]:.4g}" for name in names if name in numbers))
        elif found["event"] == "evaluation":
            print(f"  {json.dumps({name: found[name] for name in found if name not in ('event', 'games')})}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=VARIANTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("variants", nargs="*", type=int)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--games", type=int, default=400, help="of the last evaluation of each run")
    given = parser.parse_args()
    variants = VARIANTS[given.game]
    if not given.variants:
        raise SystemExit("\n".join(f"{k}: {' '.join(options) or 'the profile'}" for k, options in enumerate(variants)))
    outs = {k: given.folder / f"{given.game}-{k}" for k in given.variants}
    started = [
        subprocess.Popen(command(given.game, variants[k], given.seconds, out), stdout=subprocess.DEVNULL)
        for k, out in outs.items()
    ]
    for process in started:
        process.wait()
    for k, out in outs.items():
        show(out, variants[k])
        agents = ["random", "greedy"] if given.game == "chess" else ["random"]
        games = ["--games", str(given.games)]
        subprocess.run([sys.executable, "-m", "plyground", "evaluate", str(out), *agents, *games], check=False)


if __name__ == "__main__":
    main()
