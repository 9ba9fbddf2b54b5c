"""Paco Ŝako's index form against the dense tensor, with a network behind it, by batch size: a table and a picture.

    python benchmarks/index_dense.py --out index_dense                    # on one thread of this machine's CPU
    python benchmarks/index_dense.py --out index_dense --device cuda      # from pinned memory to a GPU

Positions lie in the CPU's memory, as 1,920 float32 or as 38 int16. Timed is all from there to the network's outputs on
the device: the copy, the expansion and the evaluation (`none`: no network). The two forms take turns; a figure is the
median of the rounds, in CPU time on a CPU and in time between two synchronisations on a GPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from plyground.backend.device import is_gpu
from plyground.batch import Batch
from plyground.networks import make_network
from plyground.report.figures import SMALL, label, new_figure, save_figure

SIZES = {"cpu": (1, 16, 256, 2_048), "cuda": (1, 16, 256, 2_048, 16_384, 65_536)}
NETWORKS = ("none", "512-256+value", "b4c64+value")  # no network, that of the original profiles, a small residual net


def positions(size: int, device: str) -> tuple[Batch, Tensor, Tensor]:
    """A batch on the device, and its positions in the CPU's memory: [size, 30, 8, 8] dense, [size, 38] indices."""
    batch = Batch("paco_sako", size, seed=1, device=device)
    batch.random_play(40)
    dense, index = batch.encode("tensor").cpu(), batch.encode("index").to(torch.int16).cpu()
    return (batch, dense.pin_memory(), index.pin_memory()) if is_gpu(device) else (batch, dense, index)


def seconds_of(work: Callable[[], object], device: str, least: float) -> float:
    """Seconds for one call, of as many as take `least` seconds."""
    clock = time.perf_counter if is_gpu(device) else time.process_time
    count, begun = 0, clock()
    while clock() - begun < least:
        work()
        count += 1
        if is_gpu(device):
            torch.cuda.synchronize()
    return (clock() - begun) / count


def measure(size: int, spec: str, device: str, rounds: int, least: float) -> tuple[float, float]:
    """Positions a second of both forms."""
    batch, dense, index = positions(size, device)
    actions = batch.game.num_actions
    network = torch.nn.Identity() if spec == "none" else make_network(spec, (30, 8, 8), actions).to(device).eval()
    works: tuple[Callable[[], object], ...] = (
        lambda: network(dense.to(device, copy=True, non_blocking=True)),
        lambda: network(batch.on.expand("index", index.to(device, non_blocking=True), torch.float32)),
    )
    taken: tuple[list[float], list[float]] = [], []
    with torch.inference_mode():
        for _ in range(rounds + 1):
            for work, found in zip(works, taken, strict=True):
                found.append(seconds_of(work, device, least))
    first, second = (size / statistics.median(found[1:]) for found in taken)  # the first round compiles
    return first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("index_dense"), help="a folder for the picture")
    parser.add_argument("--device", choices=SIZES, default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each form in each round")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| network | positions at once | dense, a second | indices, a second | indices / dense |")
    print("|---|---|---|---|---|")
    figure = new_figure(7, 4, f"Paco Ŝako on {given.device}: indices against dense")
    axes, sizes = figure.subplots(), SIZES[given.device]
    for spec in NETWORKS:
        ratios = list[float]()
        for size in sizes:
            dense, indices = measure(size, spec, given.device, given.rounds, given.seconds)
            ratios.append(indices / dense)
            print(f"| {spec} | {size:,} | {dense:,.0f} | {indices:,.0f} | {ratios[-1]:.2f} |", flush=True)
        axes.plot(range(len(sizes)), ratios, "o-", label=spec)
    axes.axhline(1.0, color="grey", lw=0.8)
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes], fontsize=SMALL)
    axes.legend(title="network", fontsize=SMALL)
    label(axes, "y", xlabel="positions at once", ylabel="positions a second, indices / dense", yscale="log")
    given.out.mkdir(parents=True, exist_ok=True)
    save_figure(given.out / f"{given.device}.png", figure)


if __name__ == "__main__":
    main()
