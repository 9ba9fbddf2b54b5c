"""What differs between two runs: settings, versions, rules and network code, results. It reads files and imports
nothing that a run names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from plyground.runs.directory import find_checkpoint, read_config, read_metrics

MISSING = "-"


class Difference(NamedTuple):
    """One line: what it is about, its name, and what it is in each run."""

    part: str
    name: str
    first: str
    second: str


def compare_runs(first: Path, second: Path) -> list[Difference]:
    """All that differs, settings first; results are those of the last evaluation."""
    parts = [_parts(run) for run in (first, second)]
    return [
        Difference(part, name, one.get(name, MISSING), other.get(name, MISSING))
        for part in parts[0]
        for one, other in [(parts[0][part], parts[1][part])]
        for name in dict.fromkeys((*one, *other))
        if one.get(name) != other.get(name)
    ]


def _parts(run: Path) -> dict[str, dict[str, str]]:
    """{part: {name: value in words}} of a run."""
    config = read_config(run)
    versions = config.pop("versions", {})
    code = find_checkpoint(run, "last").fingerprints
    found = {"settings": config, "versions": versions, "code": code, "results": _results(run)}
    return {part: {name: _words(value) for name, value in values.items()} for part, values in found.items()}


def _results(run: Path) -> dict[str, str]:
    """Plies and updates so far, and the scores of the last evaluation."""
    records = read_metrics(run)
    newest: dict[str, Mapping[str, Any]] = {each["event"]: each for each in records}
    cycle, tests = newest.get("cycle") or newest.get("epoch") or {}, newest.get("evaluation", {})
    counts = {name: f"{cycle[name]:,}" for name in ("cycle", "plies", "updates") if name in cycle}
    scores = {
        f"against {spec}": f"{one['score']:.1%} [{one['low']:.1%}, {one['high']:.1%}]"
        for spec, one in tests.get("eval_opponents", {}).items()
    }
    return counts | scores


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)  # pyright: ignore
