"""Small datasets of Connect Four, shared by the tests of datasets and their statistics."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from plyground.teaching.collect import collect
from plyground.teaching.config import Collect

FOUR = Collect(game="connect_four", games=12, opening_plies=4, threads=1)


def collected(config: Collect, path: Path) -> list[dict[str, Any]]:
    """The lines of a file, but for their times."""
    collect(config, path, lambda *_: None)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    found = [json.loads(line) for line in content.splitlines()]
    return [{name: value for name, value in line.items() if name != "ts"} for line in found]
