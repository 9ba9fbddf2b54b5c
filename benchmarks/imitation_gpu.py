"""Chess by imitation on one GPU and many cores: two million positions, targets compared, matches, fine-tuning.

    python benchmarks/imitation_gpu.py collect FOLDER               2 M positions of four seeds, 10,000 of another
    python benchmarks/imitation_gpu.py compare FOLDER               targets, side by side, on a quarter of them
    python benchmarks/imitation_gpu.py train FOLDER RUN [OPTIONS]   on all of them; options of `train imitation`
    python benchmarks/imitation_gpu.py play RUN                     held-out positions, 400 games against each opponent
    python benchmarks/imitation_gpu.py tune RUN TUNED [OPTIONS]     PPO from RUN, 400 games against RUN and the teacher

Each takes less than ten minutes on 16 cores and an H200. Tables are Markdown, also in FOLDER or RUN.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from plyground.runs.metrics import read_metrics

SEEDS, HELD_OUT_SEED = (0, 1, 2, 3), 1000
GAMES, HELD_OUT_GAMES = 8000, 160  # a game gives about 64 positions
TEACHER = "minimax:depth=2,quiescence=4"
TRAIN = ["--encoder", "planes", "--batch-size", "1024", "--learning-rate", "0.001", "--device", "auto"]
PAIRS = ["--network", "b8c96-pairs"]
TARGETS = {  # the options of each variant
    "best 5 actions, as before": ["--target-top-k", "5"],
    "best 5, temperature 0.5": ["--target-top-k", "5", "--target-temperature", "0.5"],
    "best 16": [],
    "best 16, temperature 0.5": ["--target-temperature", "0.5"],
    "best 16, temperature 0.25": ["--target-temperature", "0.25"],
    "best 16, temperature 0.5, no smoothing": ["--target-temperature", "0.5", "--label-smoothing", "0"],
    "best 16, temperature 0.5, action values": ["--target-temperature", "0.5", "--action-value-coef", "1"],
    "best 16, temperature 0.5, weight decay": ["--target-temperature", "0.5", "--weight-decay", "0.05"],
}
TOGETHER = 4  # runs side by side
TUNE = ["--profile", "chess_ppo_imitation"]


def plyground(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "plyground", *map(str, words)]


def run(*words: str | Path) -> None:
    begun = time.perf_counter()
    subprocess.run(plyground(*words), check=True)
    print(f"({time.perf_counter() - begun:.0f} s: plyground {' '.join(map(str, words[:3]))})", flush=True)


def collect(folder: Path, games: int) -> None:
    options = ["--top-k", "16"]
    for seed in SEEDS:
        run("teach", "collect", "--seed", str(seed), "--games", str(games), *options, "--out", data(folder, seed))
    few = ["--seed", str(HELD_OUT_SEED), "--games", str(HELD_OUT_GAMES)]
    run("teach", "collect", *few, *options, "--out", data(folder, HELD_OUT_SEED))


def data(folder: Path, seed: int) -> Path:
    return folder / f"teacher-{seed}.ndjson"


def imitation(folder: Path, seeds: Sequence[int], out: Path, options: Sequence[str]) -> list[str]:
    """The command of a run."""
    files = [str(data(folder, seed)) for seed in seeds]
    held_out = ["--validation-data", str(data(folder, HELD_OUT_SEED))]
    return plyground("train", "imitation", "chess", "--data", *files, *held_out, *TRAIN, *options, "--out", out)


def compare(folder: Path, epochs: int) -> None:
    waiting = [
        (folder / f"targets-{k}", [*PAIRS, "--epochs", str(epochs), *options])
        for k, options in enumerate(TARGETS.values())
    ]
    for first in range(0, len(waiting), TOGETHER):
        part = waiting[first : first + TOGETHER]
        commands = [imitation(folder, SEEDS[:1], out, options) for out, options in part]
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
        if any([process.wait() for process in running]):  # noqa: C419  (all of them are waited for)
            raise SystemExit("a run has failed")
    names = dict(zip(TARGETS, (out for out, _ in waiting), strict=True))
    show(folder / "targets.md", {name: read_metrics(out).of("epoch")[-1] for name, out in names.items()})
    for name, out in names.items():
        print(f"{name}: KL", *(f"{each['kl']:.4f}" for each in read_metrics(out).of("epoch")))


def train(folder: Path, out: Path, options: Sequence[str]) -> None:
    begun = time.perf_counter()
    subprocess.run(imitation(folder, SEEDS, out, [*PAIRS, *options]), check=True)
    print(f"({time.perf_counter() - begun:.0f} s)")
    show(out / "epochs.md", {f"epoch {each['epoch']}": each for each in read_metrics(out).of("epoch")})


def show(path: Path, rows: Mapping[str, Mapping[str, float]]) -> None:
    """Print a table of held-out measures, and write it to a file."""
    shares = ("match@1", "match@3", "equal_match@1", "equal_match@3", "weak_match@1", "weak_match@3")
    numbers = ("kl", "equal_kl", "weak_kl", "value_error", "train_loss", "seconds")
    table = [f"| | {' | '.join((*shares, *numbers))} |", "|---" * (len(shares) + len(numbers) + 1) + "|"]
    for name, found in rows.items():
        cells = [f"{found[key]:.1%}" if key in found else "" for key in shares]
        cells += [f"{found[key]:.4g}" if key in found else "" for key in numbers]
        table.append(f"| {name} | {' | '.join(cells)} |")
    path.write_text("\n".join(table) + "\n", encoding="utf-8")
    print("\n".join(table), flush=True)


def tune(start: Path, out: Path, options: Sequence[str]) -> None:
    run("train", *TUNE, "--init", start, *options, "--out", out)
    run("evaluate", out, f"run:{start}", TEACHER, "random", "greedy", "--games", "400")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=["collect", "compare", "train", "play", "tune"])
    parser.add_argument("folders", nargs="+", type=Path, help="FOLDER, FOLDER RUN, RUN or RUN TUNED")
    parser.add_argument("--games", type=int, default=GAMES, help="games of each seed")
    parser.add_argument("--compared-epochs", type=int, default=6)
    given, options = parser.parse_known_args()
    if given.stage == "collect":
        collect(given.folders[0], given.games)
    elif given.stage == "compare":
        compare(given.folders[0], given.compared_epochs)
    elif given.stage == "train":
        train(given.folders[0], given.folders[1], options)
    elif given.stage == "play":
        run("teach", "verify", given.folders[0], "--games", "400")
    else:
        tune(given.folders[0], given.folders[1], options)


if __name__ == "__main__":
    main()
