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
    parts = [_parts(path) for path in (first, second)]
    return [
        Difference(part, name, one.get(name, MISSING), other.get(name, MISSING))
        for part in parts[0]
        for one, other in [(parts[0][part], parts[1][part])]
        for name in dict.fromkeys((*one, *other))
        if one.get(name) != other.get(name)
    ]


def _parts(path: Path) -> dict[str, dict[str, str]]:
    """{part: {name: value in words}} of a run: scores of the best checkpoint, plies, updates and seconds so far; of
    several seeds settings of the first, all seeds, and mean scores of their best checkpoints."""
    seeds = seed_runs(path)
    run = seeds[0] if seeds else path
    config, metrics = read_config(run), read_metrics(run)
    versions, code = config.pop("versions", {}), find_checkpoint(run, "last").fingerprints
    if seeds:
        config["seed"] = [read_config(seed).get("seed", "?") for seed in seeds]
        means = {f"against {spec}": spread(scores) for spec, scores in best_scores(seeds).items()}
        results = {
            name: f"{in_brackets(one)}, {one['lowest']:.0%} to {one['highest']:.0%}" for name, one in means.items()
        }
    else:
        results = {f"against {spec}": in_brackets(one) for spec, one in metrics.scores.items()}
        counted = (name for name in ("cycle", "plies", "updates") if name in metrics.last)
        results |= {name: f"{metrics.last[name]:,}" for name in counted}
        results |= {"seconds": f"{metrics.seconds:.0f}"} if "cycle" in metrics.last else {}
    found: dict[str, dict[str, Any]] = {
        "results": results,
        "settings": config,
        "versions": versions,
        "code": dict(code),
    }
    return {
        part: {
            name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)  # pyright: ignore
            for name, value in values.items()
        }
        for part, values in found.items()
    }
