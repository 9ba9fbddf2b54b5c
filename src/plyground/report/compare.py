"""What differs between two runs, or between two experiments of several seeds: results, settings, versions, rules and
network code. It reads files and imports nothing that a run names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from plyground.report.scores import in_brackets, spread
from plyground.report.seeds import best_scores
from plyground.runs.directory import find_checkpoint, read_config
from plyground.runs.groups import seed_runs
from plyground.runs.metrics import read_metrics

MISSING = "-"


class Difference(NamedTuple):
    """One line: what it is about, its name, and what it is in each run."""

    part: str
    name: str
    first: str
    second: str


def compare_runs(first: Path, second: Path) -> list[Difference]:
    """All that differs, results first; they are those of the best checkpoint, or means over seeds."""
    parts = [_parts_of_seeds(path) if seed_runs(path) else _parts(path) for path in (first, second)]
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
    found = {"results": _results(run), "settings": config, "versions": versions, "code": code}
    return {part: {name: _words(value) for name, value in values.items()} for part, values in found.items()}


def _parts_of_seeds(folder: Path) -> dict[str, dict[str, str]]:
    """The same of several seeds: settings of the first, all seeds, and mean scores of their best checkpoints."""
    runs = seed_runs(folder)
    found = _parts(runs[0])
    found["settings"]["seed"] = ", ".join(str(read_config(run).get("seed", "?")) for run in runs)
    means = {f"against {spec}": spread(scores) for spec, scores in best_scores(runs).items()}
    found["results"] = {
        name: f"{in_brackets(one)}, {one['lowest']:.0%} to {one['highest']:.0%}" for name, one in means.items()
    }
    return found


def _results(run: Path) -> dict[str, str]:
    """The scores of the best checkpoint; plies, updates and seconds so far."""
    metrics = read_metrics(run)
    counts = {name: f"{metrics.last[name]:,}" for name in ("cycle", "plies", "updates") if name in metrics.last}
    if "cycle" in metrics.last:
        counts["seconds"] = f"{metrics.seconds:.0f}"
    return {f"against {spec}": in_brackets(one) for spec, one in metrics.scores.items()} | counts


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)  # pyright: ignore
