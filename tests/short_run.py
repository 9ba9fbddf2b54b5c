"""A short run of DQN on three in a row, which the tests of `train` and `resume` share."""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import ROOT

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SHORT = ["--network", "16", "--games-per-cycle", "40", "--num-envs", "8", "--buffer-size", "400"]
SHORT += ["--learning-starts", "32", "--batch-size", "16", "--eval-games", "4", "--eval-opponents", "random"]
SHORT += ["--threads", "1"]


def train_command(path: Path, cycles: int, *more: str) -> list[str]:
    """The command that trains it, for a process of its own."""
    train = [sys.executable, "-m", "plyground", "train", "dqn", ROW, *SHORT]
    return [*train, "--cycles", str(cycles), "--out", str(path), *more]
