"""Dataset files: NDJSON, plain or gzip, crash-safe while they are written.

Beside a dataset lies `FILE.progress.json` with its settings and the numbers of games, lines and bytes. Lines are
appended in blocks of complete games and synced before the progress file is replaced; bytes beyond the recorded size are
from an interrupted write and are cut off. A compressed file is a sequence of gzip members, one for each block.

Invalid lines go to `FILE.rejected`, with their number and the reason.
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
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, counted, plain_os_errors, shown_path
from plyground.game import load
from plyground.runs import files
from plyground.teaching.config import BadLines
from plyground.teaching.lines import LONGEST_LINE, MANY_CHARACTERS, Fault, Lines

CHUNK = 4096  # lines that are read together
LARGE = 32 << 20  # bytes from which several processes read a file


# ---- writing ----


class Writer:
    """Appends blocks of complete games to a dataset."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Start a file, or continue one that was made with the same settings."""
        self.path, self.settings = path, dict(settings)
        self.progress: dict[str, Any] = {"games": 0, "lines": 0, "bytes": 0, "results": {}}
        if path.is_dir():
            raise InvalidValue(f"cannot write {path}: it is a folder")
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

    def add(self, lines: Sequence[bytes], games: int, results: Mapping[str, int]) -> None:
        """Append the lines of complete games; `games` and `results` are the totals so far."""
        block = b"".join(lines)
        if block and self.path.suffix == ".gz":
            block = gzip.compress(block, 6)
        before, size = self.progress["lines"], self.progress["bytes"] + len(block)
        progress = {"games": games, "lines": before + len(lines), "bytes": size, "results": dict(results)}
        content = json.dumps({"settings": self.settings, "progress": progress}, indent=1)
        with plain_os_errors(f"write {self.path}", f"; the {before} lines before are complete"):
            if block:
                self._append(block)
            files.write_whole(self.progress_file, content.encode(), shared=True)
        self.progress = progress

    def _append(self, block: bytes) -> None:
        """Write and sync a block; on any error the file is cut back."""
        try:
            with self.path.open("r+b") as file:
                file.seek(self.progress["bytes"])
                file.write(block)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            os.truncate(self.path, self.progress["bytes"])
            raise


# ---- reading ----


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes] | Fault]:
    """The lines of a file with their numbers, from 1; an unreadable line is a fault."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    while not (rest := file.readline(LONGEST_LINE)).endswith(b"\n") and rest:
                        pass
                    yield Fault(number, f"the line is longer than {LONGEST_LINE} bytes", line[:MANY_CHARACTERS])
                else:
                    yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Fault(number + 1, f"the compressed file is cut or damaged here: {error}", b"")
    except OSError as error:
        raise InvalidValue(f"cannot read {shown_path(path)}: {error.strerror}") from None


def read_dataset(
    path: Path, lines: Lines, bad_lines: BadLines = "stop", processes: int = 1
) -> Iterator[tuple[NDArray[np.void], int]]:
    """Chunks of records, and the number of lines read. Faults go to `FILE.rejected`, and are errors with `stop`."""
    with plain_os_errors(f"read {shown_path(path)}"):
        if path.is_dir():
            raise InvalidValue(f"cannot read {path}: it is a folder")
        path.stat()
    rejected, done = _rejected_of(path), 0
    with plain_os_errors(f"write {rejected}"):
        rejected.unlink(missing_ok=True)
    for found, faults, count in _chunks_read(path, lines, processes):
        if faults:
            _reject(rejected, faults)
            if bad_lines == "stop":
                others = f", and {len(faults) - 1} more near it" if len(faults) > 1 else ""
                where = f"{path}, line {faults[0].line}: {faults[0].reason}{others}"
                raise InvalidValue(f"{where}; see {rejected.name}; --bad-lines skip leaves them out")
        done += count
        yield found, done


def read_all(path: Path, lines: Lines, bad_lines: BadLines = "stop") -> NDArray[np.void]:
    """[N] all records of a dataset; no records are an error."""
    parts = [found for found, _ in read_dataset(path, lines, bad_lines) if len(found)]
    if not parts:
        raise InvalidValue(f"{path} holds no examples; rejected: {counted(rejected_lines(path), 'line')}")
    return np.concatenate(parts)


Chunk = tuple[NDArray[np.void], list[Fault], int]  # records, faults, lines


def _chunks_read(path: Path, lines: Lines, processes: int) -> Iterator[Chunk]:
    """The lines of a file, read in chunks; a large file is read by several processes where `processes` allows it."""
    coming = numbered_lines(path)
    chunks = iter(lambda: list(islice(coming, CHUNK)), [])
    if processes == 1 or not path.is_file() or path.stat().st_size < LARGE:
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
    """The number of lines that were rejected when a dataset was last read."""
    return _rejected_of(path).read_bytes().count(b"\n") if _rejected_of(path).exists() else 0


def _reject(path: Path, faults: Sequence[Fault]) -> None:
    with plain_os_errors(f"write {path}"), path.open("ab") as file:
        for fault in faults:
            text = fault.text[:MANY_CHARACTERS].decode(errors="replace").rstrip("\n")
            file.write(json.dumps({"line": fault.line, "reason": fault.reason, "text": text}).encode() + b"\n")
