"""Datasets as CSV, for spreadsheets and data frames: the fields of `lines.py` as columns, and back.

`top_k` and `valid_actions` are numbers with spaces between them, `teacher_policy` is `action:probability` likewise.
Numbers have a decimal point in every locale. A name that ends in .gz is compressed.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from plyground.errors import InvalidValue, plain_os_errors, shorten
from plyground.teaching.dataset import numbered_lines
from plyground.teaching.lines import Fault, Lines

LISTS, COUNTS, NUMBERS = ("top_k", "valid_actions"), ("best_action", "ply"), ("value",)
POLICY = "teacher_policy"


def convert(source: Path, target: Path, lines: Lines) -> int:
    """Write a dataset in the other form, NDJSON or CSV by its name; returns the number of positions.

    A line that cannot be converted is an error; whether positions and moves are right is checked when a dataset is
    read to learn from it.
    """
    forms = [_form(path) for path in (source, target)]
    if forms[0] == forms[1]:
        raise InvalidValue(f"{source} and {target} have the same form: one ends in .csv, the other does not")
    if target.exists():
        raise InvalidValue(f"{target} exists already: name another file")
    part, count = target.with_name(f"{target.name}.part"), 0
    with plain_os_errors(f"write {target}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _open(part, "wt", target) as out:
                for text in _from_ndjson(source, lines) if forms[1] == "csv" else _from_csv(source, lines):
                    out.write(text)
                    count += 1
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    return count - (forms[1] == "csv")  # its first line has the names of the columns


def _form(path: Path) -> str:
    return "csv" if path.name.removesuffix(".gz").endswith(".csv") else "ndjson"


def _open(path: Path, mode: str, named: Path) -> TextIO:
    opened: Any = gzip.open if named.suffix == ".gz" else open
    return opened(path, mode, encoding="utf-8", newline="")


def _from_ndjson(source: Path, lines: Lines) -> Iterator[str]:
    """CSV lines of a dataset, the names of the columns first."""
    yield _row(list(lines.fields))
    for each in numbered_lines(source):
        if isinstance(each, Fault):
            raise InvalidValue(f"{source}, line {each.line}: {each.reason}")
        number, text = each
        try:
            found = json.loads(text)
            row = _row([_cell(name, found[name]) for name in lines.fields])
            row.encode()  # half of a surrogate pair has no bytes
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidValue(f"{source}, line {number} is no line of a dataset: {shorten(repr(error))}") from None
        yield row


def _row(cells: list[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(cells)
    return written.getvalue()


def _cell(name: str, value: Any) -> str:
    if name in LISTS:
        return " ".join(map(str, value))
    if name == POLICY:
        return " ".join(f"{action}:{chance!r}" for action, chance in value.items())
    return str(value)


def _from_csv(source: Path, lines: Lines) -> Iterator[str]:
    """NDJSON lines of a CSV file."""
    with plain_os_errors(f"read {source}"), _open(source, "rt", source) as file:
        rows = csv.DictReader(file)
        try:
            missing = [name for name in lines.fields if name not in (rows.fieldnames or ())]
            if missing:
                raise InvalidValue(f"{source} has no column {', '.join(missing)}; its first line names the columns")
            for row in rows:
                whole = {name: _value(name, row[name]) for name in lines.fields}
                yield json.dumps(whole, allow_nan=False) + "\n"
        except (ValueError, TypeError, AttributeError, csv.Error, EOFError, zlib.error) as error:
            raise InvalidValue(f"{source}, line {max(1, rows.line_num)}: {shorten(str(error))}") from None


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
