"""Several seeds of one experiment: runs that differ in nothing but their seed, and the mean and spread over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plyground.runs.directory import best_of, read_config
from plyground.runs.groups import is_seed
from plyground.runs.metrics import Series

NOT_COMPARED = ("seed", "threads", "versions")  # of two runs that are seeds of one experiment
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Student's t for a two-sided 95% interval, for 1 to 9 degrees of freedom"""
POINTS = 50  # times at which the curves of several seeds are averaged


class Spread(NamedTuple):
    """Scores of several seeds: their mean with its 95% interval, and their range."""

    mean: float
    interval: tuple[float, float] | None
    """Student's t over seeds, cut to [0, 1]; None for one seed"""
    lowest: float
    highest: float


def spread_of(scores: Sequence[float]) -> Spread:
    n, mean = len(scores), math.fsum(scores) / len(scores)
    if n == 1:
        return Spread(mean, None, mean, mean)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (n - 1))
    radius = _student(n - 1) * deviation / math.sqrt(n)
    return Spread(mean, (max(0.0, mean - radius), min(1.0, mean + radius)), min(scores), max(scores))


def _student(freedom: int) -> float:
    """Student's t for a two-sided 95% interval; above 9 degrees of freedom by an expansion, right to 0.005."""
    return T95[freedom - 1] if freedom <= len(T95) else 1.96 + 2.372 / freedom + 2.823 / freedom**2


class Experiment(NamedTuple):
    """Runs with the same settings and different seeds; often one run alone."""

    name: str
    game: str
    runs: tuple[Path, ...]


def experiments(runs: Sequence[Path], labels: Sequence[str]) -> list[Experiment]:
    """The runs by experiment, in the order of their first ones: seeds in one folder, or other runs with the same
    settings, unless a seed occurs twice among them."""
    found: dict[tuple[str, str], list[tuple[Path, str]]] = {}
    for path, label in zip(runs, labels, strict=True):
        settings = {name: value for name, value in read_config(path).items() if name not in NOT_COMPARED}
        folder = path.resolve().parent.name if is_seed(path) else ""
        found.setdefault((folder, repr(sorted(settings.items()))), []).append((path, label))
    return [each for (folder, _), members in found.items() for each in _experiments_of(members, folder)]


def _experiments_of(members: Sequence[tuple[Path, str]], folder: str) -> list[Experiment]:
    """One experiment of runs with equal settings, or one for each of them where a seed occurs twice."""
    seeds = {read_config(path).get("seed") for path, _ in members}
    game = str(read_config(members[0][0]).get("game", "?"))
    if len(members) == 1 or len(seeds) < len(members):
        return [Experiment(label, game, (path,)) for path, label in members]
    name = f"{folder or members[0][1]} ({len(members)} seeds)"
    return [Experiment(name, game, tuple(path for path, _ in members))]


def mean_curves(curves: Sequence[Sequence[Series]], name: str) -> list[Series]:
    """The mean of each curve over seeds, with a band from the lowest to the highest; `curves` holds those of each seed.

    Seeds measure at different times, so that curves are interpolated at times which all of them have reached.
    """
    found: list[Series] = []
    for kind in dict.fromkeys((curve.is_score, curve.name) for each in curves for curve in each):
        members = [curve for each in curves for curve in each if (curve.is_score, curve.name) == kind]
        begin, end = max(curve.seconds[0] for curve in members), min(curve.seconds[-1] for curve in members)
        times = np.linspace(min(begin, end), end, POINTS)
        points = [(curve.seconds, np.array(curve.values, float)) for curve in members]  # null becomes NaN
        rows = np.array([np.interp(times, *each) for each in points])  # [seeds, points]
        band = rows.min(0).tolist(), rows.max(0).tolist()
        found.append(Series(kind[0], name, kind[1], times.tolist(), rows.mean(0).tolist(), band))
    return found


# ---- the report of several seeds ----


def best_scores(runs: Sequence[Path]) -> dict[str, list[float]]:
    """{opponent: [score of each seed]} when its best checkpoint was found; opponents that all of them have met."""
    tests = [best_of(run).get("eval_opponents", {}) for run in runs]
    return {spec: [test[spec]["score"] for test in tests] for spec in tests[0] if all(spec in test for test in tests)}


def report_of(experiment: Experiment) -> str:
    """The scores of the seeds' best checkpoints as they were measured during the runs, in Markdown."""
    config, scores = read_config(experiment.runs[0]), best_scores(experiment.runs)
    title = f"# {experiment.name}: {config.get('learner', '?')} on {Path(experiment.game).name}"
    if not scores:
        return f"{title}\n\nNo opponent was met by all of them: nothing to compare yet.\n"
    how = (
        f"Scores of each seed's best checkpoint in {config.get('eval_games')} games, measured when it was found. The "
        "interval is that of the mean over seeds (Student's t): how much chance matters in training."
    )
    rows = list[str]()
    for place, run in enumerate(experiment.runs):
        cells = (f"{found[place]:.1%}" for found in scores.values())
        rows.append(f"| {read_config(run).get('seed', '?')} | {' | '.join(cells)} |\n")
    header = f"| seed | {' | '.join(f'`{spec}`' for spec in scores)} |\n|---|{'---|' * len(scores)}"
    return f"{title}\n\n{how}\n\n{spread_table(scores)}\n\n{header}\n{''.join(rows)}"


def spread_table(scores: Mapping[str, Sequence[float]]) -> str:
    """A Markdown table of mean, interval and range for each opponent."""
    rows = ["| against | mean | 95% interval | lowest | highest |", "|---|---|---|---|---|"]
    for spec, found in scores.items():
        mean, interval, lowest, highest = spread_of(found)
        words = f"{interval[0]:.1%} to {interval[1]:.1%}" if interval else "-"
        rows.append(f"| `{spec}` | {mean:.1%} | {words} | {lowest:.1%} | {highest:.1%} |")
    return "\n".join(rows)


def spread_record(scores: Sequence[float]) -> dict[str, Any]:
    """The same for one opponent as plain data."""
    found = spread_of(scores)
    low, high = found.interval or (None, None)
    return {"score": found.mean, "low": low, "high": high, "lowest": found.lowest, "highest": found.highest}
