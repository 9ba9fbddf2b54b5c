"""The report of a run: report.md, curves.png and the table of runs. Every number in them was measured."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plyground.agents.registry import load_run, usual
from plyground.arena import puzzles
from plyground.backend.clock import NETWORK
from plyground.errors import Error, MissingPackage, counted, naming_extras, plain_os_errors
from plyground.learners.config import opponent_shares
from plyground.learners.evaluation import evaluate
from plyground.models.model import kind_of
from plyground.report.advice import advice
from plyground.report.scores import Scores, score_table
from plyground.report.seeds import Experiment, experiments, mean_curves, report_of
from plyground.runs.directory import best_of, check_trusted, read_config
from plyground.runs.files import is_file, write_whole
from plyground.runs.groups import runs_of
from plyground.runs.metrics import RunMetrics, Series, read_metrics

LOG = logging.getLogger("plyground")
GAMES = 400
BETWEEN_SCORES = " · "  # in a row of `table_of`
DRAWN = ("loss", "td_error", "entropy", "value_error", "kl")  # metrics in the picture


def write_report(path: Path, games: int = GAMES) -> str:
    """Evaluate a run's best checkpoint, write report.md and curves.png, and return the report."""
    check_trusted(path, cluster=False)  # it names its opponents
    config, metrics, best = read_config(path), read_metrics(path), best_of(path)
    agent, scores = measure_best(path, games)
    step = f"; a step is a ply in each of {config['num_envs']} environments" if "num_envs" in config else ""
    best_step = f"The best checkpoint is step {best.get('step')}{step}."
    paragraphs = [
        f"# {path.name}: {config.get('learner', '?')} on {Path(config.get('game', '?')).name}",
        f"{agent.model.words}, seed {config.get('seed', '?')}. {totals(metrics)} {best_step}",
        *_no_better_than_the_first(path, metrics, best),
        score_table(scores, opponent_shares(tuple(config.get("opponents", ())))),
        *puzzles_solved(agent),
        *graded(agent),
        *_time_by_part(metrics.last, config),
        f"What to try next: {'; '.join(advice(config, metrics, scores))}.",
    ]
    return _write(path, "\n\n".join(paragraphs) + "\n", [path] if has_curves(metrics) else [])


def measure_best(run: Path, games: int) -> tuple[Any, Scores]:
    """The agent of a run's best checkpoint, and its scores in so many games against each evaluation opponent."""
    agent, config = load_run(str(run)), read_config(run)
    opponents = config.get("eval_opponents") or usual(agent.game)
    LOG.info("measuring the best version: %d games against each of %s ...", games, ", ".join(opponents))
    return agent, evaluate(agent.game, agent, opponents, games, config.get("max_plies") or None)


def _write(folder: Path, text: str, drawn: Sequence[Path]) -> str:
    """Write report.md, and the curves of some runs, into a folder; returns the report."""
    with plain_os_errors(f"write {folder / 'report.md'}"):
        write_whole(folder / "report.md", text.encode())
    if drawn:
        try:
            save_curves(folder / "curves.png", drawn, shared=False)
        except MissingPackage as error:
            LOG.info("no picture of the curves: %s", error)
    return text


def write_seeds_report(folder: Path, runs: Sequence[Path]) -> str:
    """Write report.md and curves.png of several seeds into their folder, and return the report."""
    return _write(folder, "\n".join(report_of(each) for each in experiments(runs, labels_of(runs))), runs)


def _no_better_than_the_first(path: Path, metrics: RunMetrics, best: Mapping[str, Any]) -> list[str]:
    """Where the best version is the one of the beginning although others came: say so, and name the last one."""
    if best.get("step") != 0 or not metrics.of("evaluation"):
        return []
    return [
        "The best checkpoint is the one from before the first update: no later one scored half of the points against "
        f"it. The last one plays as `run:{path},checkpoint=last`."
    ]


def totals(metrics: RunMetrics) -> str:
    """What the run has done so far."""
    last, seconds = metrics.last, f"{metrics.seconds:.0f} s"
    if "cycle" in last:
        counts = f"{counted(last['cycle'], 'cycle')}, {counted(last['plies'], 'ply')} played"
        updates = f"{counted(last['updates'], 'update')} in {seconds}"
        return f"{counts}, {updates}; illegal moves: {last['illegal_moves']}."
    if "epoch" in last:
        epochs = metrics.of("epoch")  # the best checkpoint is that of the lowest divergence
        kept = min(epochs, key=lambda each: math.inf if each["kl"] is None else each["kl"])
        kl, matched = (math.nan if kept[name] is None else kept[name] for name in ("kl", "match@1"))
        held_out = f"epoch {kept['epoch']} was kept: on held-out positions KL {kl:.4f}, match@1 {matched:.1%}"
        return f"{counted(last['epoch'], 'epoch')} of {last['examples']:,} examples in {seconds}; {held_out}."
    return "Nothing was learned yet."


def puzzles_solved(agent: Any) -> list[str]:
    """The share of the simplest puzzles that it solves, where a game has them."""
    found = puzzles.solved(agent.game, agent)
    words = " and ".join(f"{share:.1%} of {name.replace('_', '-')}" for name, share in found.items())
    return [f"Puzzles: it solves {words}."] if found else []


def graded(agent: Any) -> list[str]:
    """The perfect player's grade, where there is one."""
    if agent.game.rules.grade is None:
        return []
    whole = agent.game.rules.grade(agent.game, agent, 1000, 0, games=0).wdl["all"]
    return [
        f"Graded by the perfect player: of {whole.cases} positions where the choice decides the result, "
        f"{whole.agent:.1%} of its moves keep the value (a random mover: {whole.random:.1%})."
    ]


def _time_by_part(last: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    if "cycle" not in last:
        return []
    parts = sorted((-value, name) for name, value in last["seconds"].items() if name != "total")
    total = min(sum(value for value, _ in parts), -1e-9)
    names = {NETWORK: kind_of(config) or NETWORK}
    shares = ", ".join(f"{names.get(name, name)} {value / total:.0%}" for value, name in parts)
    return [f"Time by part: {shares}."]


def has_curves(metrics: RunMetrics) -> bool:
    return bool(metrics.of("evaluation") or metrics.of("epoch"))


def save_curves(target: Path, runs: Sequence[Path], shared: bool = True) -> None:
    """Scores and metrics over time: a row for each game; seeds of one experiment as their mean and a band. Of one run
    with a table, pictures of the table."""
    with naming_extras():  # only here: a run that needs no torch needs no matplotlib either
        from plyground.report import table
        from plyground.report.figures import draw_curves, new_figure, save_figure
    labels = labels_of(runs)
    if len(runs) == 1:
        metrics = read_metrics(runs[0])
        if whole := [cycle for cycle in metrics.of("cycle") if cycle.keys() >= table.PICTURED]:
            table.save_pictures(target, labels[0], list(metrics.series(labels[0], table.DRAWN)), whole, shared)
            return
    found = experiments(runs, labels)
    games = list(dict.fromkeys(each.game for each in found))
    figure = new_figure(11, 5 * len(games), _title(found), layout="constrained")
    for game, pair in zip(games, figure.subplots(len(games), 2, squeeze=False), strict=True):
        curves, names = _curves([each for each in found if each.game == game])
        for axes, scores in zip(pair, (True, False), strict=True):
            draw_curves(axes, [curve for curve in curves if curve.is_score == scores], names)
            axes.set(xlabel="seconds of play and updates")
        name = f"{Path(game).name}: " if len(games) > 1 else ""
        titles = (f"{name}wins and half the draws", f"{name}learning")
        titles = titles if name else tuple(title.capitalize() for title in titles)
        pair[0].set(ylabel="score", ylim=(0, 1.02), title=titles[0])
        pair[1].set(title=titles[1], yscale="log")
    save_figure(target, figure, shared)


def _title(found: Sequence[Experiment]) -> str:
    names = (
        ", ".join(each.name for each in found) if len(found) < 4 else f"{sum(len(each.runs) for each in found)} runs"
    )
    several = any(len(each.runs) > 1 for each in found)
    return f"{names}\nlines: mean over seeds; bands: from the lowest to the highest seed" if several else names


def _curves(found: Sequence[Experiment]) -> tuple[list[Series], list[str]]:
    """The scores and the metrics of experiments on one game, and the names of these."""
    curves = list[Series]()
    for each in found:
        seeds = [list(read_metrics(run).series(each.name, DRAWN)) for run in each.runs]
        curves += mean_curves(seeds, each.name) if len(seeds) > 1 else seeds[0]
    return curves, [each.name for each in found]


def labels_of(runs: Sequence[Path]) -> list[str]:
    """Different names for the runs: their folders', with as many parent folders as that takes."""
    paths = [path.resolve().parts for path in runs]
    for length in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-length:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.name} ({place})" for place, path in enumerate(runs, 1)]  # one of them twice


def table_of(folder: Path) -> list[list[str]]:
    """One row for each run in a folder: name, learner, game, progress, best, scores; or what is wrong with it."""
    rows: list[list[str]] = []
    for record in records_of(folder):
        if "error" in record:
            rows.append([record["run"], "?", "?", "?", "?", record["error"]])
            continue
        words = BETWEEN_SCORES.join(f"{spec} {score['score']:.0%}" for spec, score in record["scores"].items())
        done = f"{record['done']}/{record['limit']}" if record["limit"] else str(record["done"])
        best = "" if record["best_step"] is None else str(record["best_step"])
        rows.append([record["run"], record["learner"], record["game"], done, best, words])
    return rows


def records_of(folder: Path) -> list[dict[str, Any]]:
    """The runs in a folder as plain data: `done` cycles, or epochs, of `limit`, and the scores of the best step when it
    was chosen; of a run that cannot be read, `run` and `error`."""
    records: list[dict[str, Any]] = []
    for path in (run for each in sorted(folder.glob("*")) for run in runs_of(each) if is_file(run / "config.toml")):
        name = str(path.relative_to(folder))
        try:
            records.append({"run": name, **_record_of(path)})
        except Error as error:  # whatever one run holds, the others are listed
            records.append({"run": name, "error": str(error).removeprefix(f"{path}/")})
    return records


def _record_of(path: Path) -> dict[str, Any]:
    config, metrics = read_config(path), read_metrics(path)
    unit = "epoch" if "cycles" not in config else "cycle"
    return {
        "learner": config.get("learner", "?"),
        "game": Path(config.get("game", "?")).name,
        "unit": unit,
        "done": metrics.done,
        "limit": config.get(f"{unit}s") or None,
        "best_step": best_of(path).get("step"),
        "scores": metrics.scores,
    }
