"""The commands that list, move, measure and draw runs; imported when one of them is called, for torch is slow."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table
from tyro.conf import Positional

from plyground.agents.agent import load_run, make, usual
from plyground.arena.match import play_match
from plyground.cli.ctrl_c import stop_at_once
from plyground.cli.grammar import NO_WORDS, Words, shown_as
from plyground.cli.terminal import console, progress, say, show_match, titled
from plyground.cli.training import RunPath
from plyground.errors import InvalidValue, command, unknown
from plyground.learners.evaluation import OPENINGS_SEED, summary
from plyground.report import publish as publishing
from plyground.report import table as table_report
from plyground.report.compare import compare_runs
from plyground.report.figures import check_picture
from plyground.report.inspect import inspect_run
from plyground.report.run import save_curves, table_of
from plyground.runs import pack as packing
from plyground.runs.directory import find_checkpoint, read_config, trust_run
from plyground.runs.tensorboard import export

ACTIONS = "[pack RUN FILE | unpack FILE RUN | publish RUN DIR | inspect RUN | diff RUN RUN | tensorboard RUN]"
WIDE, SCORES = 1000, 12  # columns of a table in a file; of scores, at least


def runs(
    words: Annotated[Words, shown_as(ACTIONS)] = NO_WORDS,
    folder: Path = Path("runs"),
    without_replay: bool = False,
    license: str = "mit",  # noqa: A002 (the option's name)
    games: int = publishing.GAMES,
) -> None:
    """List the runs; or pack, unpack, publish or inspect one, say what differs between two, or export metrics.

    Args:
        words: nothing: list
        folder: where the runs are
        without_replay: leave the replay buffer out of the packed file: the run can then play, but not be resumed
        license: of what is published, for its model card
        games: games against each opponent, for the model card
    """
    if not words:
        _list(folder)
        return
    action, *names = words
    wanted = {"pack": 2, "unpack": 2, "publish": 2, "inspect": 1, "diff": 2, "tensorboard": 1}
    if action not in wanted:
        raise unknown("action of runs", action, wanted)
    if len(names) != wanted[action]:
        how = command("runs", "--help")
        raise InvalidValue(f"runs {action} takes {wanted[action]} names, not {len(names)}; see {how}")
    source, target = Path(names[0]), Path(names[-1])
    if action == "pack":
        say(f"{source} packed into {target}: {packing.pack(source, target, not without_replay):,} bytes")
    elif action == "unpack":
        say(f"{source} unpacked into {target}: checkpoints {', '.join(map(str, packing.unpack(source, target)))}")
    elif action == "publish":
        say(f"{source} published in {target}: {', '.join(publishing.publish(source, target, license, games))}")
    elif action == "inspect":
        _inspect(source)
    elif action == "diff":
        _show_differences(source, target)
    else:
        where, count = export(source)
        say(f"{count:,} numbers for TensorBoard: tensorboard --logdir {where}")


def _list(folder: Path) -> None:
    """A table of runs; on a narrow screen only the column of scores is folded."""
    rows = table_of(folder)
    if not rows:
        say(f"no runs in {folder}")
        return
    table = Table(box=None)
    for place, name in enumerate(("run", "learner", "game", "cycles", "best step")):
        table.add_column(name, no_wrap=True, min_width=max(len(row[place]) for row in rows))
    table.add_column("scores", min_width=SCORES)
    for row in rows:
        table.add_row(*row)
    wide = (
        console if console.is_terminal else Console(highlight=False, markup=False, emoji=False, width=WIDE)
    )  # a file has room
    wide.print(table, crop=False)


def _inspect(run: Path) -> None:
    """What the newest checkpoint holds. Nothing that the run names is imported or started."""
    found = inspect_run(run)
    say(found.words)
    table = titled(f"experience of {run} at step {found.step}", "", "", header=False)
    for name, value in found.experience.items():
        table.add_row(name.replace("_", " "), _number(value, ".4f"))
    console.print(table) if table.row_count else say(f"{run} has stored nothing yet")


def _show_differences(first: Path, second: Path) -> None:
    found = compare_runs(first, second)
    if not found:
        say(f"{first} and {second} have the same settings, versions, code and results")
        return
    table = titled(f"what differs between {first} and {second}", "", "", *_short_names(first, second))
    for before, each in zip([None, *found], found, strict=False):
        table.add_row("" if before and before.part == each.part else each.part, *each[1:])
    console.print(table)


def _short_names(first: Path, second: Path) -> tuple[str, str]:
    return (str(first), str(second)) if first.name == second.name else (first.name, second.name)


def _number(value: Any, form: str) -> str:
    return format(value, form) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def evaluate(
    run: Positional[RunPath],
    agents: Annotated[Words, shown_as("[AGENT ...]")] = NO_WORDS,
    games: int = 1000,
    checkpoint: str = "best",
    seed: int = OPENINGS_SEED,
    json: bool = False,
    trust: bool = False,
) -> None:
    """Evaluate a run in paired matches against agents.

    Args:
        agents: the opponents (default: random, greedy)
        games: number of games against each
        checkpoint: best, last, or a step
        seed: seed of the openings
        json: print one JSON object instead
        trust: trust its game file, programs and positions, although it was not trained here; remembered
    """
    if trust:
        trust_run(run)
    agent, config = load_run(str(run), None, checkpoint), read_config(run)
    game, limit, results = agent.game, config.get("max_plies") or None, dict[str, Any]()
    opponents = {spec: make(spec, game) for spec in agents or usual(game)}
    stop_at_once(agent, *opponents.values())
    for spec, opponent in opponents.items():
        with progress(games, f"{run.name} against {spec}", hide=json) as advance:
            match = play_match(game, agent, opponent, games, seed, progress=advance, max_plies=limit)
        results[spec] = summary(match)
        if not json:
            show_match(match, run.name, spec, game, as_json=False)
    if json:
        step = find_checkpoint(run, checkpoint).step
        print(json_module.dumps({"run": str(run), "checkpoint": step, "against": results}))


def plot(runs: Positional[tuple[Path, ...]], out: Path = Path("curves.png")) -> None:
    """Draw the learning curves of one or several runs.

    Args:
        runs: run directories
        out: the picture
    """
    if not runs:
        raise InvalidValue("plot needs at least one run")
    for path in runs:
        read_config(path)
    check_picture(out)
    save_curves(out, runs)
    print(f"wrote {out}", file=sys.stderr)


def table(
    run: Positional[RunPath], top: int = 20, checkpoint: str = "best", json: bool = False, trust: bool = False
) -> None:
    """Print the entries of a run's table in words: the most visited and the most valuable.

    Args:
        top: number of entries of each kind
        checkpoint: best, last, or a step
        json: print one JSON object instead
        trust: trust its game file, programs and positions, although it was not trained here; remembered
    """
    if trust:
        trust_run(run)
    config = read_config(run)
    if config.get("learner") != "tabular":
        raise InvalidValue(f"{run} was trained by {config.get('learner')}, not with a table")
    if top < 1:
        raise InvalidValue(f"top is at least 1, not {top}")
    held = load_run(str(run), None, checkpoint).table
    parts = table_report.ranked(held, top)
    if json:
        print(json_module.dumps({**table_report.summary(held), **parts}))
        return
    for name, value in table_report.summary(held).items():
        console.print(f"{name.replace('_', ' ')}: {_number(value, '.1%')}")
    for title, rows in parts.items():
        if rows:
            shown = titled(title, "visits", "value", "state", "action")
            for row in rows:
                shown.add_row(f"{row['visits']:,}", f"{row['value']:+.3f}", row["state"], row["action"])
            console.print(shown)


COMMANDS = {"runs": runs, "evaluate": evaluate, "plot": plot, "table": table}
