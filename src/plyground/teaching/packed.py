"""Packed datasets: records of one size that are mapped into memory, behind a header that says what they are.

The first line is MAGIC and the header's length in bytes, a multiple of BLOCK; JSON follows, padded with spaces:

    game, rules    the game, and the fingerprint of its rules
    columns        [name, type, shape] of each column of a record, in order; a type is numpy's, such as "<f4"
    state          the same of each field of the position, which is the first column

Which columns there are is up to who writes them; a reader says which ones it needs. What another has written is bytes,
so every record is checked before compiled code is given it. The contents of files that were checked, or that this user
has written, are remembered as digests in the private folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, plain_os_errors, shorten, shown_path
from plyground.game import Game
from plyground.private_folder import cache_folder, is_ours, make_folder
from plyground.runs.fingerprints import rules_fingerprint

MAGIC = b"Plyground positions 1 "
BLOCK, MOST = 4096, 1 << 20  # bytes of a header
KINDS = "biufS"  # of numbers, truth values and texts that a column may hold
SUFFIX = ".packed"

Dtype = np.dtype[Any]
Records = NDArray[np.void]


class Packed(NamedTuple):
    """A packed dataset that was opened."""

    records: Records
    """[N] mapped into memory"""
    rest: int
    """bytes behind the last whole record"""
    known: bool
    """whether this user has written it, or it was checked before"""


def is_packed(path: Path) -> bool:
    """Whether a file begins as a packed dataset does; nothing is taken from a pipe."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(MAGIC)) == MAGIC
    return False


def header(game: Game, dtype: Dtype) -> bytes:
    """What stands before records of a type, whose first column is the position."""
    columns, state = _layout(dtype), _layout(game.rules.HEAD)
    content = {"game": str(game), "rules": rules_fingerprint(game), "columns": columns, "state": state}
    text = json.dumps(content).encode()
    size = -(-(len(MAGIC) + 8 + len(text)) // BLOCK) * BLOCK
    return (MAGIC + b"%7d\n" % size + text).ljust(size - 1) + b"\n"


def _layout(dtype: Dtype) -> list[Any]:
    """[[name, type, shape]] of a record's fields; positions as bytes."""
    fields = ((name, dtype[name]) for name in dtype.names or ())
    return [
        [name, kind.base.str if not kind.names else f"|V{kind.itemsize}", list(kind.shape)] for name, kind in fields
    ]


def open_packed(path: Path, game: Game) -> Packed:
    """The records of a file, whatever they hold; a file that is of another game or cannot be read is an error."""
    with plain_os_errors(f"read {shown_path(path)}"):
        with path.open("rb") as file:
            begin = file.read(MOST)
        size = path.stat().st_size
    try:
        length = int(begin[len(MAGIC) : len(MAGIC) + 7])
        if not BLOCK <= length <= min(MOST, size):
            raise ValueError(f"it has {length} bytes")
        found = json.loads(begin[len(MAGIC) + 8 : length])
        written, rules, columns, state = (found[name] for name in ("game", "rules", "columns", "state"))
        head: list[Any] = [["state", f"|V{game.rules.HEAD.itemsize}", []]]
        if columns[:1] != head:
            raise ValueError(f"the first column is {columns[:1]}, not the positions of {game}, {head}")
        named = [(name, np.dtype(kind), tuple(shape)) for name, kind, shape in columns[1:]]
        for name, kind, shape in named:
            if kind.kind not in KINDS or not all(type(size) is int and 0 < size < BLOCK for size in shape):
                raise ValueError(f"the column {name!r} holds {kind}, {shape}")
        dtype = np.dtype([("state", game.rules.HEAD), *named])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidValue(f"{path} has a damaged header: {shorten(str(error))}") from None
    if state != _layout(game.rules.HEAD):
        why = f"{path} holds positions of {shorten(str(written))}, laid out otherwise than {game} is now"
        raise InvalidValue(f"{why}: name its game, or convert it to .ndjson with the version that wrote it")
    count, rest = divmod(size - length, dtype.itemsize)
    records = np.memmap(path, dtype, "c", length, (count,)) if count > 0 else np.empty(0, dtype)  # torch wants to write
    return Packed(records, rest, rules == rules_fingerprint(game) and _is_known(path))


def with_columns(records: Records, dtype: Dtype) -> Records:
    """[N] the records with the columns of another type, which they must have."""
    if records.dtype == dtype:
        return records
    found = np.empty(len(records), dtype)
    for name in dtype.names or ():
        found[name] = records[name]
    return found


# ---- contents that need no check ----


def remember(path: Path) -> None:
    """Remember that all records of the file, as it is now, are right. Where nothing can be written, they are checked
    again."""
    with contextlib.suppress(OSError, InvalidValue):
        mark = _mark(path)
        make_folder(mark.parent)
        mark.touch(mode=0o600)


def _is_known(path: Path) -> bool:
    with contextlib.suppress(OSError, InvalidValue):
        mark = _mark(path)
        return is_ours(mark.parent) and is_ours(mark)
    return False


def _mark(path: Path) -> Path:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
    return cache_folder() / "positions" / content
