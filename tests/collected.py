"""Small datasets of Connect Four, shared by the tests of datasets and their statistics."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import plyground as pg
from plyground.teaching.collect import Report, Stop, collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import form_of, read_all
from plyground.teaching.lines import Lines

FOUR = Collect(game="connect_four", games=12, opening_plies=4, threads=1)


def silent(*_: Any) -> None:
    pass


def collected(config: Collect, path: Path, report: Report = silent, stop: Stop = lambda: False) -> list[dict[str, Any]]:
    """The positions of a file as lines, but for their times."""
    collect(config, path, report, stop)
    return lines_of(path, config.game)


def lines_of(path: Path, game: str = "connect_four") -> list[dict[str, Any]]:
    if form_of(path) == "packed":
        content = Lines(pg.load(game)).write(read_all(path, Lines(pg.load(game)))) if path.stat().st_size else []
    else:
        content = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).splitlines()
    return [{name: value for name, value in json.loads(line).items() if name != "ts"} for line in content]
