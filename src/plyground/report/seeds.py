"""Several seeds of one experiment: runs that differ in nothing but their seed, and the mean and spread over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plyground.report.scores import markdown_table, spread_table
from plyground.runs.directory import best_of, read_config
from plyground.runs.groups import is_seed
from plyground.runs.metrics import Series

NOT_COMPARED = ("seed", "threads", "versions")  # of two runs that are seeds of one experiment
POINTS = 50  # times at which the curves of several seeds are averaged


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
    made: list[Experiment] = []
    for (folder, _), members in found.items():
        game, count = str(read_config(members[0][0]).get("game", "?")), len(members)
        if count == 1 or len({read_config(path).get("seed") for path, _ in members}) < count:
            made += [Experiment(label, game, (path,)) for path, label in members]
        else:
            name = f"{folder or members[0][1]} ({count} seeds)"
            made.append(Experiment(name, game, tuple(path for path, _ in members)))
    return made


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
    rows = list[Sequence[object]]()
    for place, run in enumerate(experiment.runs):
        rows.append((read_config(run).get("seed", "?"), *(f"{found[place]:.1%}" for found in scores.values())))
    of_seeds = markdown_table(("seed", *(f"`{spec}`" for spec in scores)), rows)
    return f"{title}\n\n{how}\n\n{spread_table(scores)}\n\n{of_seeds}\n"
