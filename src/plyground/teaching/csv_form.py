"""Lines of a dataset as CSV, for spreadsheets and data frames: the fields of `lines.py` as columns, and back.

`top_k` and `valid_actions` are numbers with spaces between them, `teacher_policy` is `action:probability` likewise.
Numbers have a decimal point in every locale.
"""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from plyground.errors import InvalidValue, shorten
from plyground.teaching.lines import Fault

LISTS, COUNTS, NUMBERS = ("top_k", "valid_actions"), ("best_action", "ply"), ("value",)
POLICY = "teacher_policy"
NO_LINE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""what is raised where a line or row has other cells than a dataset's"""


def csv_row(cells: Sequence[str]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(cells)
    return written.getvalue().encode()


def csv_of(line: bytes, fields: Sequence[str]) -> bytes:
    """A line of a dataset as a row; one that is none raises NO_LINE."""
    found = json.loads(line)
    return csv_row([_cell(name, found[name]) for name in fields])


def _cell(name: str, value: Any) -> str:
    if name in LISTS:
        return " ".join(map(str, value))
    if name == POLICY:
        return " ".join(f"{action}:{chance!r}" for action, chance in value.items())
    return str(value)


def lines_of_csv(path: Path, content: IO[bytes], fields: Sequence[str]) -> Iterator[tuple[int, bytes] | Fault]:
    """The rows of a file as numbered lines of a dataset; one that cannot be read is a fault."""
    text = io.TextIOWrapper(content, encoding="utf-8", newline="")
    rows = csv.DictReader(text)
    try:
        missing = [name for name in fields if name not in (rows.fieldnames or ())]
        if missing:
            raise InvalidValue(f"{path} has no column {', '.join(missing)}; its first line names the columns")
        for row in rows:
            try:
                whole = {name: _value(name, row[name]) for name in fields}
                yield rows.line_num, json.dumps(whole, allow_nan=False).encode() + b"\n"
            except NO_LINE as error:
                yield Fault(rows.line_num, shorten(str(error)), b"")
    except (ValueError, csv.Error, EOFError, zlib.error, OSError) as error:
        yield Fault(max(1, rows.line_num), shorten(str(error)), b"")
    finally:
        text.detach()  # who has opened the file closes it


def _value(name: str, cell: str) -> Any:
    if name in LISTS:
        return [int(each) for each in cell.split()]
    if name in COUNTS:
        return int(cell)
    if name in NUMBERS:
        return float(cell)
    if name == POLICY:
        pairs = (each.split(":") for each in cell.split())
        return {action: float(chance) for action, chance in pairs}
    return cell
