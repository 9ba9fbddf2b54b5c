"""What a run has learned, for people: report.md, curves.png, and the closing words. Every number was measured."""

# matplotlib's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib

matplotlib.use("Agg")  # files only: there may be no screen
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plyground.agents.agent import load_run
from plyground.agents.tabular import TableAgent
from plyground.arena import puzzles
from plyground.errors import command
from plyground.games.connect_four.grade import grade
from plyground.games.connect_four.solver.solver import solves
from plyground.learners.evaluation import yardsticks
from plyground.report import table
from plyground.runs import files
from plyground.runs.directory import best_of, game_of, read_config, read_metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAMES = 400
DRAWN = ("loss", "td_error", "entropy", "value_error", "kl")  # a learner's numbers in the picture
STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")  # told apart by nearly every eye


def events(records: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [record for record in records if record["event"] == kind]


def write_report(path: Path, games: int = GAMES) -> str:
    """Measure a run's best checkpoint, write report.md and curves.png, and return the report."""
    config, records, best = read_config(path), read_metrics(path), best_of(path)
    agent, cycles = load_run(str(path)), events(records, "cycle")
    game, limit = agent.game, config["max_steps"] or None
    scores = yardsticks(game, agent, config["yardsticks"], games, limit)
    lines = [
        f"# {path.name}: {config['learner']} on {Path(config['game']).name}",
        "",
        f"{agent_words(agent, config)}, seed {config['seed']}. "
        + (f"{_totals(cycles[-1])} " if cycles else "Nothing was learned yet. ")
        + f"The best checkpoint is step {best.get('step')}; a step is a ply in each of {config['concurrency']} games.",
        "",
        f"| against | score | 95% interval | wins, draws, losses of {games} |",
        "|---|---|---|---|",
        *(
            f"| `{word}` | {one['score']:.1%} | {one['low']:.1%} to {one['high']:.1%} "
            f"| {one['wins']}, {one['draws']}, {one['losses']} |"
            for word, one in scores.items()
        ),
        "",
        *_puzzled(agent),
        *_graded(agent),
        *_where_time_went(cycles),
        "What to try next: " + "; ".join(advice(config, records, scores)) + ".",
    ]
    text = "\n".join(lines) + "\n"
    files.write_whole(path / "report.md", text.encode())
    if events(records, "evaluation"):
        save_curves(path / "curves.png", [path])
    return text


def agent_words(agent: Any, config: Mapping[str, Any]) -> str:
    """What the agent consists of."""
    if isinstance(agent, TableAgent):
        return f"Table of {len(agent.table):,} entries with the key {agent.table.key}"
    weights = sum(each.numel() for each in agent.network.parameters())
    return f"Network {config['network']} ({weights:,} weights) on {agent.view.encoder}"


def _totals(cycle: Mapping[str, Any]) -> str:
    return (
        f"{cycle['cycle']} cycles, {cycle['plies']:,} plies played, {cycle['updates']:,} updates in "
        f"{cycle['seconds']['total']:.0f} s; illegal moves: {cycle['illegal_moves']}."
    )


def _puzzled(agent: Any) -> list[str]:
    """How many of the simplest puzzles it solves, where a game has them."""
    found = puzzles.solved(agent.game, agent)
    words = " and ".join(f"{share:.1%} of {name.replace('_', '-')}" for name, share in found.items())
    return [f"Puzzles: it solves {words}.", ""] if found else []


def _graded(agent: Any) -> list[str]:
    """The perfect player's judgement, where there is one."""
    if not solves(agent.game):
        return []
    report = grade(agent.game, agent, 1000, games=0)
    whole = report.wdl["all"]
    return [
        f"Graded by the perfect player: of {whole.cases} positions where the choice decides the result, "
        f"{whole.agent:.1%} of its moves keep the value (a random mover: {whole.random:.1%}).",
        "",
    ]


def _where_time_went(cycles: Sequence[Mapping[str, Any]]) -> list[str]:
    if not cycles:
        return []
    parts = {name: value for name, value in cycles[-1]["seconds"].items() if name != "total"}
    total = max(sum(parts.values()), 1e-9)
    shares = ", ".join(
        f"{name} {value / total:.0%}" for name, value in sorted(parts.items(), key=lambda item: -item[1])
    )
    return [f"Where the time went: {shares}.", ""]


def advice(
    config: Mapping[str, Any], records: Sequence[Mapping[str, Any]], scores: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """What the numbers suggest."""
    cycles, found = events(records, "cycle"), list[str]()
    last: Mapping[str, Any] = cycles[-1] if cycles else {}
    curve = [e["against_best"]["score"] for e in events(records, "evaluation")]
    if curve and curve[-1] > 0.55:
        found.append(f"train longer: it still scored {curve[-1]:.0%} against its former best")
    if last.get("step_limit", 0) > 0.5:
        found.append("most games reach the limit of plies: raise max_steps, or add shaping or random openings")
    if last.get("distinct", 1) < 0.5:
        found.append("positions repeat: raise opening_plies or epsilon")
    if all(score["score"] > 0.97 for score in scores.values()):
        found.append("it beats its yardsticks: name harder ones, such as minimax:depth=5")
    if scores.get("random", {}).get("score", 1) < 0.9:
        other = "learning_rate, or a wider network" if "network" in config else "alpha, or another key"
        found.append(f"it is not yet sure against random: more cycles, a higher {other}")
    more = f"a wider network than {config['network']}" if "network" in config else "another key or a prior"
    return found or [f"{more}, more cycles, or another seed to see what chance did"]


class Curve(NamedTuple):
    """One line of the picture."""

    right: bool
    """whether it is a number of the learning, not a score"""
    run: str
    word: str
    times: list[float]
    values: list[float]
    band: tuple[list[float], list[float]] | None = None
    """the ends of the scores' intervals"""


def save_curves(target: Path, runs: Sequence[Path]) -> None:
    """Scores and learning numbers over time, of one run or several; of one run with a table, what the table is like."""
    if len(runs) == 1 and read_config(runs[0]).get("learner") == "tabular" and save_table(target, runs[0]):
        return
    labels = labels_of(runs)
    curves = [curve for path, label in zip(runs, labels, strict=True) for curve in _curves(path, label)]
    figure = Figure(figsize=(11, 5), layout="constrained")
    figure.suptitle(", ".join(labels) if len(runs) < 4 else f"{len(runs)} runs")
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        _draw(axes, [curve for curve in curves if curve.right == (axes is right)], labels)
    left.set(xlabel="seconds of playing and learning", ylabel="score", ylim=(0, 1.02), title="Wins and half the draws")
    right.set(xlabel="seconds of playing and learning", title="Learning", yscale="log")
    table.save_figure(target, figure)


def labels_of(runs: Sequence[Path]) -> list[str]:
    """Names that tell runs apart: their folders', with as many above them as that takes."""
    paths = [path.resolve().parts for path in runs]
    for length in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-length:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.name} ({place})" for place, path in enumerate(runs, 1)]  # one of them twice


def _curves(path: Path, name: str) -> Generator[Curve]:
    """All that a run has measured over time."""
    records = read_metrics(path)
    evaluations, cycles, epochs = (events(records, kind) for kind in ("evaluation", "cycle", "epoch"))
    when = {cycle["cycle"]: cycle["seconds"]["total"] for cycle in cycles}
    for word in evaluations[-1]["yardsticks"] if evaluations else ():
        points = [(when[each["cycle"]], each["yardsticks"][word]) for each in evaluations if word in each["yardsticks"]]
        score, low, high = ([point[end] for _, point in points] for end in ("score", "low", "high"))
        yield Curve(False, name, word, [time for time, _ in points], score, (low, high))
    for key in DRAWN:
        points = [(cycle["seconds"]["total"], cycle[key]) for cycle in cycles if key in cycle]
        if points:
            yield Curve(True, name, key, [time for time, _ in points], [value for _, value in points])
    for key in ("match@1", "loss", "kl") if epochs else ():  # of an imitation run
        times = [epoch["seconds"] for epoch in epochs]
        yield Curve(key != "match@1", name, f"{key}, held out", times, [epoch[key] for epoch in epochs])


def _draw(axes: Axes, curves: Sequence[Curve], runs: Sequence[str]) -> None:
    """Curves and, below them, what they are: a colour for each run and a style for what was measured; of one run, a
    colour for that."""
    words = list(dict.fromkeys(curve.word for curve in curves))
    colours = dict(zip(runs if len(runs) > 1 else words, itertools.cycle(COLOURS), strict=False))
    styles = dict(zip(words, itertools.cycle(STYLES), strict=False)) if len(runs) > 1 else {}
    for curve in curves:
        colour, style = colours[curve.run if len(runs) > 1 else curve.word], styles.get(curve.word, "-")
        axes.plot(curve.times, curve.values, ls=style, marker="o", ms=3, color=colour)
        if curve.band:
            axes.fill_between(curve.times, *curve.band, color=colour, alpha=0.12)
    axes.grid(alpha=0.3)
    key = [Line2D([], [], color=colour, label=name) for name, colour in colours.items()]
    key += [Line2D([], [], color="black", ls=style, label=word) for word, style in styles.items()]
    if curves:
        axes.legend(handles=key, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)


def save_table(target: Path, path: Path) -> bool:
    """The pictures of a run with a table, if it has finished a cycle."""
    records = read_metrics(path)
    cycles = events(records, "cycle")
    when = {cycle["cycle"]: cycle["seconds"]["total"] for cycle in cycles}
    scores = [(when[each["cycle"]], each["yardsticks"]) for each in events(records, "evaluation")]
    if cycles:
        table.save_pictures(target, path.name, cycles, scores)
    return bool(cycles)


def table_of(folder: Path) -> list[list[str]]:
    """One row for each run in a folder: name, learner, game, progress, best, scores; or what is wrong with it."""
    rows: list[list[str]] = []
    for path in sorted(each.parent for each in folder.glob("*/config.toml")):
        try:
            rows.append([path.name, *_row_of(path)])
        except Exception as error:  # whatever one run holds, the others are listed
            rows.append([path.name, "?", "?", "?", "?", str(error).removeprefix(f"{path}/") or type(error).__name__])
    return rows


def _row_of(path: Path) -> list[str]:
    config, records = read_config(path), read_metrics(path)
    cycles, evaluations = events(records, "cycle"), events(records, "evaluation")
    done = cycles[-1]["cycle"] if cycles else 0
    progress = f"{done}/{config['cycles']}" if config.get("cycles") else str(done)
    scores: Mapping[str, Mapping[str, float]] = evaluations[-1]["yardsticks"] if evaluations else {}
    words = " · ".join(f"{word} {score['score']:.0%}" for word, score in scores.items())
    game, best = Path(config.get("game", "?")).name, str(best_of(path).get("step", ""))
    return [config.get("learner", "?"), game, progress, best, words]


def how_to_play(path: Path) -> str:
    """How to play against a run."""
    return command("play", game_of(path), "--against", f"run:{path}")
