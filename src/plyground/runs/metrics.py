"""What a run has measured: `metrics.jsonl`, read here for the terminal, pages, pictures, TensorBoard and reports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plyground.runs.directory import best_of
from plyground.runs.files import DamagedFile
from plyground.runs.records import RECORDS, Record, Score, parse_json

HELD_OUT = ("match@1", "loss", "kl")  # of an epoch, on held-out examples
NOTHING: Mapping[str, Any] = {}


class Line(NamedTuple):
    """A line of metrics.jsonl, and where the run was when it was written."""

    record: Mapping[str, Any]
    seconds: float
    """of training; an evaluation comes right after its cycle, so that its time is that of the cycle"""
    plies: int
    """played so far; of an imitation run, examples"""
    speed: float | None = None
    """of a cycle: plies a second since the one before"""


class Series(NamedTuple):
    """A metric, or the score against one opponent, over time: one line of a picture."""

    is_score: bool
    run: str
    name: str
    """the opponent's spec, or the metric"""
    seconds: list[float]
    """of training"""
    values: list[float]
    """null where it was not finite"""
    band: tuple[list[float], list[float]] | None = None
    """the ends of the scores' intervals"""


class RunMetrics:
    """The metrics of a run so far; `update` reads the lines that are new, for those who follow a run."""

    def __init__(self, path: Path) -> None:
        self.path, self.changed = path, 0.0  # when the file was last written, in seconds since 1970
        self._forget()

    def _forget(self) -> None:
        self.lines: list[Line] = []
        self.measured: list[Line] = []  # those of cycles, evaluations and epochs: all but notes
        self.damaged: DamagedFile | None = None  # the first line that cannot be read, which is left out
        self._read, self._last, self._number = 0, b"", 0  # bytes; the last line; its number

    # ---- reading ----

    def update(self) -> list[Line]:
        """Read and return the new lines; one that is not whole yet waits. Of a file that does not go on where it ended,
        as that of a resumed run, all lines are new."""
        try:
            with (self.path / "metrics.jsonl").open("rb") as file:
                self.changed = os.fstat(file.fileno()).st_mtime
                file.seek(self._read - len(self._last))
                if file.read(len(self._last)) != self._last:
                    self._forget()
                    file.seek(0)
                new = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            self.damaged = DamagedFile(f"cannot read {self.path / 'metrics.jsonl'}: {error.strerror or error}")
            return []
        *lines, rest = new.split(b"\n")
        self._read += len(new) - len(rest)
        self._last = lines[-1] + b"\n" if lines else self._last
        found = list[Line]()
        for line in lines:
            self._number += 1
            where = f"line {self._number} of {self.path / 'metrics.jsonl'}"
            try:
                kind = RECORDS.get(parse_json(line, Record, where)["event"])
                found.append(self.add(parse_json(line, kind or Record, where)))
            except DamagedFile as error:
                self.damaged = self.damaged or error
        return found

    def add(self, record: Mapping[str, Any]) -> Line:
        """The next record."""
        line = Line(record, self.seconds, self.measured[-1].plies if self.measured else 0)
        if record["event"] == "cycle":
            seconds, plies = record["seconds"].get("total", line.seconds), record["plies"]
            speed = (plies - line.plies) / (seconds - line.seconds) if seconds > line.seconds else None
            line = Line(record, seconds, plies, speed)
        elif record["event"] == "epoch":
            line = Line(record, record["seconds"], record["examples"])
        self.lines.append(line)
        if record["event"] in RECORDS:
            self.measured.append(line)
        return line

    # ---- what was measured ----

    def of(self, event: str) -> list[Mapping[str, Any]]:
        """The records of one kind."""
        return [line.record for line in self.lines if line.record["event"] == event]

    @property
    def seconds(self) -> float:
        """Of training, so far."""
        return self.measured[-1].seconds if self.measured else 0.0

    @property
    def last(self) -> Mapping[str, Any]:
        """The record of the last cycle or epoch; empty before the first one."""
        return next((line.record for line in reversed(self.measured) if line.record["event"] != "evaluation"), NOTHING)

    @property
    def done(self) -> int:
        """Cycles, or epochs, so far."""
        return self.last.get("cycle", self.last.get("epoch", 0))

    @property
    def scores(self) -> Mapping[str, Score]:
        """Those of the best step in the evaluation that chose it; where that is unknown, of the last evaluation."""
        last = next(reversed(self.of("evaluation")), NOTHING)
        return best_of(self.path).get("eval_opponents") or last.get("eval_opponents", {})

    def series(self, run: str, metrics: Sequence[str]) -> Iterator[Series]:
        """The scores against each opponent of the last evaluation; of cycles those `metrics` that they have; of epochs
        what was measured on held-out examples. `run` is the name of this one among others."""
        for spec in next((record["eval_opponents"] for record in reversed(self.of("evaluation"))), NOTHING):
            found = [line for line in self.measured if spec in line.record.get("eval_opponents", {})]
            scores = [line.record["eval_opponents"][spec] for line in found]
            score, low, high = ([each[end] for each in scores] for end in ("score", "low", "high"))
            yield Series(True, run, spec, [line.seconds for line in found], score, (low, high))
        held_out = [("epoch", name, f"{name}, held out") for name in HELD_OUT]
        for event, name, words in [*(("cycle", name, name) for name in metrics), *held_out]:
            found = [line for line in self.measured if line.record["event"] == event and name in line.record]
            if found:
                values = [line.record[name] for line in found]
                yield Series(name == "match@1", run, words, [line.seconds for line in found], values)


def read_metrics(path: Path) -> RunMetrics:
    """A run's metrics so far; a damaged line is an error."""
    found = RunMetrics(path)
    found.update()
    if found.damaged:
        raise found.damaged
    return found
