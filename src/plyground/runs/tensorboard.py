"""A run's metrics as TensorBoard events: exported from `metrics.jsonl`, or written while the run goes on."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from plyground.errors import InvalidValue, install
from plyground.kernels.private import make_folder
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


def summary_writer() -> Any:
    """TensorBoard's writer, or an error that says how to install it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InvalidValue(f"TensorBoard is not installed; {install('tensorboard')}") from None
    return SummaryWriter


class Events(AbstractContextManager["Events"]):
    """A folder of events that records are added to. The time of an event is that of the run, in seconds."""

    def __init__(self, folder: Path) -> None:
        writer = summary_writer()
        make_folder(folder)
        self.folder, self.count, self._seconds, self._writer = folder, 0, 0.0, writer(str(folder))

    def add(self, record: Mapping[str, Any]) -> None:
        """Every number of a record."""
        spent: Any = record.get("seconds") if record["event"] in RECORDS else None  # checked only there
        total: Any = spent.get("total") if isinstance(spent, dict) else spent  # pyright: ignore
        self._seconds = total if isinstance(total, float) else self._seconds
        for name, value in scalars(record):
            self._writer.add_scalar(name, value, record["step"], walltime=self._seconds)
            self.count += 1

    def show(self, record: Mapping[str, Any]) -> None:
        """Add a record of a run that goes on, and let TensorBoard see it now; the display's ticks are no records."""
        if record["event"] != "tick":
            self.add(record)
            self._writer.flush()

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def export(run: Path, folder: Path | None = None) -> tuple[Path, int]:
    """Write the events; returns the folder and the number of events."""
    summary_writer()
    read_config(run)
    with record_events(run, folder) as events:
        return events.folder, events.count


def record_events(run: Path, folder: Path | None = None) -> Events:
    """The events of all records so far, to which further ones can be added. What an earlier export has written into
    the run's own folder is replaced: after a resume, its last records may be gone."""
    if folder is None:
        shutil.rmtree(run / "tensorboard", ignore_errors=True)
    events = Events(folder or run / "tensorboard")
    for record in read_metrics(run):
        events.add(record)
    return events
