"""A run's metrics as TensorBoard events, exported from `metrics.jsonl` on demand."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plyground.errors import InvalidValue, install
from plyground.runs.directory import read_config, read_metrics
from plyground.runs.records import RECORDS

NOT_NUMBERS = ("event", "step", "cycle", "cycles", "epoch", "epochs")
LARGEST = 2.0**1000  # numbers that a float holds; JSON has larger ones


def scalars(record: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a record with its path: `evaluation/eval_opponents/random/score`."""
    path = path or record["event"]
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from scalars(value, f"{path}/{name}")  # pyright: ignore
        elif isinstance(value, int | float) and abs(value) < LARGEST and name not in NOT_NUMBERS:
            yield f"{path}/{name}", float(value)


def export(run: Path, folder: Path | None = None) -> tuple[Path, int]:
    """Write the events; returns the folder and the number of events."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InvalidValue(f"TensorBoard is not installed; {install('tensorboard')}") from None
    read_config(run)
    target, count, seconds = folder or run / "tensorboard", 0, 0.0
    if folder is None:
        shutil.rmtree(target, ignore_errors=True)  # made by an earlier export
    with SummaryWriter(str(target)) as writer:
        for record in read_metrics(run):
            spent: Any = record.get("seconds") if record["event"] in RECORDS else None  # checked only there
            total: Any = spent.get("total") if isinstance(spent, dict) else spent  # pyright: ignore
            seconds = total if isinstance(total, float) else seconds
            for name, value in scalars(record):
                writer.add_scalar(name, value, record["step"], walltime=seconds)
                count += 1
    return target, count
