"""Dataset files: packed records (`packed.py`), NDJSON or CSV, plain or gzip; crash-safe while they are written.

Beside a dataset that is collected lies `FILE.progress.json` with its settings and the numbers of games, positions and
bytes. Positions are appended in blocks of complete games and synced before the progress file is replaced; bytes beyond
the recorded size are from an interrupted write and are cut off. A compressed file is a sequence of gzip members, one
for each block.

Invalid lines and records go to `FILE.rejected`, with their number and the reason.
"""

from __future__ import annotations

import functools
import gzip
import json
import multiprocessing
import os
import signal
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, counted, plain_os_errors, shorten, shown_path
from plyground.game import load
from plyground.kernels.threads import available
from plyground.runs import files
from plyground.teaching.config import BadLines
from plyground.teaching.csv_form import NO_LINE, csv_of, csv_row, lines_of_csv
from plyground.teaching.lines import LONGEST_LINE, MANY_CHARACTERS, Fault, Lines
from plyground.teaching.packed import header, is_packed, open_packed, remember

CHUNK = 4096  # positions that are read together
LARGE = 32 << 20  # bytes of text from which several processes read a file
TEXTS = (".ndjson", ".jsonl", ".json")

Form = Literal["packed", "ndjson", "csv"]
Records = NDArray[np.void]
Report = Callable[[int, int], None]
"""called with the lines or positions that were read, and about how many there are"""


def form_of(path: Path) -> Form:
    """A file's form, by its content or, if it is to be written, by its name."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".csv"):
        return "csv"
    if path.is_file() and path.stat().st_size:
        return "packed" if is_packed(path) else "ndjson"
    return "ndjson" if name != path.name or name.endswith(TEXTS) else "packed"


# ---- writing ----


class Writer:
    """Appends the positions of complete games to a dataset."""

    def __init__(self, path: Path, lines: Lines, settings: Mapping[str, Any]) -> None:
        """Start a file, or continue one that was made with the same settings."""
        if path.is_dir():
            raise InvalidValue(f"cannot write {path}: it is a folder")
        self.path, self.lines, self.settings, self.form = path, lines, dict(settings), form_of(path)
        if self.form == "csv":
            raise InvalidValue(f"cannot collect into {path}: collect a dataset, and `teach convert` writes it as CSV")
        self.progress: dict[str, Any] = {"games": 0, "lines": 0, "bytes": 0, "results": {}}
        self.progress_file = path.with_name(f"{path.name}.progress.json")
        with plain_os_errors(f"write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and (path.stat().st_size or self.progress_file.exists()):
                self._continue()
            path.open("ab").close()

    def _continue(self) -> None:
        try:
            found = json.loads(self.progress_file.read_text(encoding="utf-8"))
            settings, progress = dict(found["settings"]), found["progress"]
            counts = {name: int(progress[name]) for name in ("games", "lines", "bytes")}
            self.progress = {**counts, "results": dict(progress["results"])}
        except (OSError, ValueError, KeyError, TypeError):
            why = f"{self.path} exists, but {self.progress_file.name} cannot be read"
            raise InvalidValue(f"{why}, so it cannot be continued: choose another --out") from None
        if odd := [f"{k}: {settings.get(k)!r}" for k in self.settings if settings.get(k) != self.settings[k]]:
            raise InvalidValue(f"{self.path} was started with other settings ({', '.join(odd)}): choose another --out")
        size = self.progress["bytes"]
        if self.path.stat().st_size < size:
            raise InvalidValue(f"{self.path} is shorter than the {size} bytes that were written: choose another --out")
        os.truncate(self.path, size)

    def add(self, records: Records, games: int, results: Mapping[str, int]) -> None:
        """Append the positions of complete games; `games` and `results` are the totals so far."""
        before, start = self.progress["lines"], self.progress["bytes"]
        if self.form == "packed":
            block = header(self.lines.game, self.lines.dtype) * (start == 0) + records.tobytes()
        else:
            block = b"".join(self.lines.write(records))
            block = gzip.compress(block, 6) if block and self.path.suffix == ".gz" else block
        progress = {"games": games, "lines": before + len(records), "bytes": start + len(block)}
        progress["results"] = dict(results)
        content = json.dumps({"settings": self.settings, "progress": progress}, indent=1)
        with plain_os_errors(f"write {self.path}", f"; the {before} positions before are complete"):
            if block:
                try:
                    with self.path.open("r+b") as file:
                        file.seek(start)
                        file.write(block)
                        file.truncate()
                        file.flush()
                        os.fsync(file.fileno())
                except BaseException:  # the file is cut back
                    os.truncate(self.path, start)
                    raise
            files.write_whole(self.progress_file, content.encode(), shared=True)
        self.progress = progress

    def close(self) -> None:
        """Nothing follows for now."""
        if self.form == "packed" and self.progress["lines"]:
            remember(self.path)


# ---- reading ----

Chunk = tuple[Records, list[Fault], int]  # records, faults, lines


def _silent(done: int, total: int) -> None:
    pass


def read_dataset(
    path: Path, lines: Lines, bad_lines: BadLines = "stop", processes: int = 1, report: Report = _silent
) -> Iterator[Records]:
    """Chunks of valid records. Faults go to `FILE.rejected`, and are errors with `stop`."""
    if is_packed(path):
        records = map_packed(path, lines, bad_lines, report)
        yield from (records[first : first + CHUNK] for first in range(0, len(records), CHUNK))
        return
    _check_readable(path)
    with plain_os_errors(f"read {shown_path(path)}"), path.open("rb") as raw:
        done, size = 0, os.fstat(raw.fileno()).st_size  # 0 of a pipe
        for found, faults, count in _chunks_read(
            numbered_lines(path, raw, lines), lines, processes if size > LARGE else 1
        ):
            _reject(path, faults, bad_lines, "line")
            done += count
            report(done, done * size // max(1, raw.tell()) if size else 0)
            yield found


def map_packed(
    path: Path,
    lines: Lines,
    bad_lines: BadLines = "stop",
    report: Report = _silent,
    needed: Sequence[str] | None = None,
) -> Records:
    """[N] the records of a packed file, mapped into memory; copies if some are not valid and left out. They are checked
    unless the file is known. `needed` are columns that it must have, otherwise all that a network learns from."""
    _check_readable(path)
    records, rest, known = open_packed(path, lines.game)
    there = {name: records.dtype[name] for name in records.dtype.names or ()}
    for name in lines.dtype.names or ():
        if name in there and there[name] != lines.dtype[name]:
            raise InvalidValue(f"{path}: the column {name} is {lines.dtype[name]}, not {there[name]}")
    if missing := [name for name in (needed or lines.learned.names or ()) if name not in there]:
        raise InvalidValue(f"{path} has no column {', '.join(missing)}, which is needed here")
    good = np.ones(len(records), np.bool_)
    if not known:
        parts = [records[first : first + CHUNK] for first in range(0, len(records), CHUNK)]
        with ThreadPoolExecutor(available()) as threads:
            for number, found in enumerate(threads.map(lines.check, parts)):
                good[number * CHUNK :][: len(found)] = found
                report(number * CHUNK + len(found), len(records))
    why = "no position that runs, with a teacher's evaluation of it"
    faults = [Fault(row + 1, why, b"") for row in np.flatnonzero(~good).tolist()]
    faults += [Fault(len(records) + 1, "the file ends within it", b"")] if rest else []
    _reject(path, faults, bad_lines, "position")
    if not (faults or known):
        remember(path)
    return records if good.all() else records[good]


def read_all(path: Path, lines: Lines, bad_lines: BadLines = "stop") -> Records:
    """[N] all records of a dataset; no records are an error."""
    if is_packed(path):
        found = map_packed(path, lines, bad_lines)
    else:
        found = np.concatenate([np.empty(0, lines.dtype), *read_dataset(path, lines, bad_lines)])
    if not len(found):
        raise InvalidValue(f"{path} holds no examples; rejected: {counted(rejected_lines(path), 'line')}")
    return found


def _check_readable(path: Path) -> None:
    """A folder or a missing file is an error; what an earlier reading has rejected is forgotten."""
    with plain_os_errors(f"read {shown_path(path)}"):
        if path.is_dir():
            raise InvalidValue(f"cannot read {path}: it is a folder")
        path.stat()
    with plain_os_errors(f"write {_rejected_of(path)}"):
        _rejected_of(path).unlink(missing_ok=True)


def numbered_lines(path: Path, raw: IO[bytes], lines: Lines) -> Iterator[tuple[int, bytes] | Fault]:
    """The lines of an open NDJSON or CSV file with their numbers, from 1; an unreadable line is a fault."""
    number, content = 0, cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if path.suffix == ".gz" else raw
    if form_of(path) == "csv":
        yield from lines_of_csv(path, content, lines.fields)
        return
    try:
        while line := content.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                while not (rest := content.readline(LONGEST_LINE)).endswith(b"\n") and rest:
                    pass
                yield Fault(number, f"the line is longer than {LONGEST_LINE} bytes", line[:MANY_CHARACTERS])
            else:
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Fault(number + 1, f"the compressed file is cut or damaged here: {error}", b"")


def _chunks_read(coming: Iterator[tuple[int, bytes] | Fault], lines: Lines, processes: int) -> Iterator[Chunk]:
    """Lines, read in chunks by one process or several."""
    chunks = iter(lambda: list(islice(coming, CHUNK)), [])
    if processes == 1:
        yield from (_read_chunk(lines, chunk) for chunk in chunks)
        return
    spawn, waiting = multiprocessing.get_context("spawn"), deque[Future[Chunk]]()
    no_interrupts = signal.SIGINT, signal.SIG_IGN  # this process stops the others
    with ProcessPoolExecutor(processes, spawn, signal.signal, no_interrupts) as others:
        for chunk in chunks:
            waiting.append(others.submit(_read_elsewhere, str(lines.game), chunk))
            if len(waiting) > 2 * processes:  # limits the chunks in memory
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _read_chunk(lines: Lines, chunk: list[tuple[int, bytes] | Fault]) -> Chunk:
    found, faults = lines.read([each for each in chunk if not isinstance(each, Fault)])
    return found, sorted([*faults, *(each for each in chunk if isinstance(each, Fault))]), len(chunk)


def _read_elsewhere(game: str, chunk: list[tuple[int, bytes] | Fault]) -> Chunk:
    return _read_chunk(_lines_of(game), chunk)


@functools.cache
def _lines_of(game: str) -> Lines:
    return Lines(load(game))


def _rejected_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.rejected")


def rejected_lines(path: Path) -> int:
    """The number of lines (or packed records) that were rejected when a dataset was last read."""
    return _rejected_of(path).read_bytes().count(b"\n") if _rejected_of(path).exists() else 0


def _reject(path: Path, faults: Sequence[Fault], bad_lines: BadLines, what: str) -> None:
    if not faults:
        return
    rejected = _rejected_of(path)
    with plain_os_errors(f"write {rejected}"), rejected.open("ab") as file:
        for fault in faults:
            text = fault.text[:MANY_CHARACTERS].decode(errors="replace").rstrip("\n")
            file.write(json.dumps({"line": fault.line, "reason": fault.reason, "text": text}).encode() + b"\n")
    if bad_lines == "stop":
        others = f", and {len(faults) - 1} more near it" if len(faults) > 1 else ""
        where = f"{path}, {what} {faults[0].line}: {faults[0].reason}{others}"
        raise InvalidValue(f"{where}; see {rejected.name}; --bad-lines skip leaves them out")


# ---- converting ----


def convert(source: Path, target: Path, lines: Lines, report: Report = _silent) -> int:
    """Write a dataset in another form, by the target's name; returns the number of positions.

    A line that cannot be converted is an error. Between NDJSON and CSV nothing else is checked, and nothing changes:
    that positions and moves are right is checked when a dataset is packed, or read to learn from it.
    """
    forms = form_of(source), form_of(target)
    if forms[0] == forms[1]:
        raise InvalidValue(
            f"{source} and {target} have the same form, {forms[0]}: name the target .packed, .ndjson or .csv"
        )
    if target.exists():
        raise InvalidValue(f"{target} exists already: name another file")
    part, count = target.with_name(f"{target.name}.part"), 0
    with plain_os_errors(f"write {target}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with gzip.open(part, "wb") if target.suffix == ".gz" else part.open("wb") as out:
                if forms[1] == "packed":
                    out.write(header(lines.game, lines.dtype))
                    for records in read_dataset(source, lines, report=report):
                        out.write(records.tobytes())
                        count += len(records)
                else:
                    out.write(csv_row(lines.fields) if forms[1] == "csv" else b"")
                    for number, line in _all_numbered(source, lines, report):
                        try:
                            out.write(csv_of(line, lines.fields) if forms[1] == "csv" else line)
                        except NO_LINE as error:
                            why = f"no line of a dataset: {shorten(repr(error))}"
                            raise InvalidValue(f"{source}, line {number} is {why}") from None
                        count += 1
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    if forms[1] == "packed":
        remember(target)
    return count


def _all_numbered(source: Path, lines: Lines, report: Report) -> Iterator[tuple[int, bytes]]:
    """The lines of a dataset of any form; a fault is an error."""
    if is_packed(source):
        records = map_packed(source, lines, report=report, needed=lines.dtype.names or ())
        for first in range(0, len(records), CHUNK):
            yield from enumerate(lines.write(records[first : first + CHUNK]), start=first + 1)
            report(min(first + CHUNK, len(records)), len(records))
        return
    _check_readable(source)
    with plain_os_errors(f"read {shown_path(source)}"), source.open("rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        for done, each in enumerate(numbered_lines(source, raw, lines), start=1):
            if isinstance(each, Fault):
                raise InvalidValue(f"{source}, line {each.line}: {each.reason}")
            yield each
            if done % CHUNK == 0:
                report(done, done * size // max(1, raw.tell()) if size else 0)
