"""A run's metrics as TensorBoard events: exported from `metrics.jsonl`, or written while the run goes on."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from plyground.errors import InvalidValue, install
from plyground.private_folder import make_folder
from plyground.runs.directory import read_config
from plyground.runs.metrics import Line, RunMetrics, read_metrics

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


def summary_writer() -> Any:
    """TensorBoard's writer, or an error that says how to install it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InvalidValue(f"TensorBoard is not installed; {install('tensorboard')}") from None
    return SummaryWriter


class Events(AbstractContextManager["Events"]):
    """A folder with the events of a run's records. The time of an event is that of the run, in seconds."""

    def __init__(self, metrics: RunMetrics, folder: Path) -> None:
        writer = summary_writer()
        make_folder(folder)
        self.metrics, self.folder, self.count, self._writer = metrics, folder, 0, writer(str(folder))
        self._add(metrics.lines)

    def _add(self, lines: Iterable[Line]) -> None:
        for line in lines:
            for name, value in scalars(line.record):
                self._writer.add_scalar(name, value, line.record["step"], walltime=line.seconds)
                self.count += 1
        self._writer.flush()

    def update(self) -> None:
        """Add the records that a run which goes on has written meanwhile, and let TensorBoard see them now."""
        self._add(self.metrics.update())

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def export(run: Path) -> tuple[Path, int]:
    """Write the events; returns the folder and the number of events."""
    summary_writer()
    read_config(run)
    with record_events(run) as events:
        return events.folder, events.count


def record_events(run: Path) -> Events:
    """The events of all records so far, to which further ones can be added. What an earlier export has written is
    replaced: after a resume, its last records may be gone."""
    metrics = read_metrics(run)
    shutil.rmtree(run / "tensorboard", ignore_errors=True)
    return Events(metrics, run / "tensorboard")
