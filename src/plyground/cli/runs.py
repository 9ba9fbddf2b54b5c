"""The commands that list, move, measure, draw and export runs. Each imports what it needs when it runs."""

from __future__ import annotations

import json as json_module
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

from plyground.cli.ctrl_c import interruptible, stop_at_once
from plyground.cli.parser import Json, Picture, Shown, Trust, Words
from plyground.cli.words import check_picture, is_game, is_run, newest_run, one_run, run_path
from plyground.errors import InvalidValue, command, counted, unknown
from plyground.runs.groups import runs_of

NAMES = {
    "pack": "RUN FILE",
    "unpack": "FILE RUN",
    "publish": "RUN DIR",
    "inspect": "RUN",
    "diff": "RUN RUN",
    "tensorboard": "RUN",
}
"""what follows each action of `runs`"""
ACTIONS = f"[{' | '.join(' '.join(each) for each in NAMES.items())}]"
ENTRIES, PATTERNS = 20, 6  # that `table` shows
WIDE = 1000  # columns of the table in a file
COLUMNS = ("run", "learner", "game", "cycles", "best step", "scores")


def runs(
    words: Annotated[Words, Shown(ACTIONS)] = (),
    folder: Path = Path("runs"),
    without_replay: bool = False,
    license: str = "mit",  # noqa: A002 (the option's name)
    games: int = 400,
    json: Json = False,
) -> None:
    """List the runs; or pack, unpack, publish, inspect, compare or export them.

    Args:
        words: nothing: list
        folder: where the runs are
        without_replay: leave the replay buffer out of the packed file: the run can then play, but not be resumed
        license: of what is published, for its model card
        games: games against each opponent, for the model card
        json: print the list as JSON
    """
    action, *names = words or ("",)
    if action and json:
        raise InvalidValue(f"--json is for the list of runs: {command('runs', '--json')}")
    if action and action not in NAMES:
        raise unknown("action of runs", action, NAMES)
    if action and len(names) != len(NAMES[action].split()):
        number = counted(len(NAMES[action].split()), "name")
        raise InvalidValue(f"runs {action} takes {number}, not {len(names)}: plyground runs {action} {NAMES[action]}")

    from plyground.cli.terminal import say
    from plyground.report import publish as publishing
    from plyground.report.run import records_of
    from plyground.runs import pack as packing
    from plyground.runs.tensorboard import export

    source, target = (run_path(name) for name in (names[0], names[-1])) if action else (folder, folder)
    with interruptible(signal.SIGTERM):
        if not action and json:
            print(json_module.dumps(records_of(folder)))
        elif not action:
            _list(folder)
        elif action == "pack":
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
    """The runs as a table or, where the terminal is too narrow for one, as some lines for each."""
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    from plyground.cli.terminal import console, say, say_command
    from plyground.report.run import BETWEEN_SCORES, table_of

    rows = table_of(folder)
    if not rows:
        say(f"no runs in {folder}")
        return
    file = Console(highlight=False, markup=False, emoji=False, width=WIDE)
    wide = console if console.is_terminal else file
    table = Table(*COLUMNS, box=None)
    for row in rows:
        table.add_row(*row)
    if Measurement.get(file, file.options, table).maximum <= wide.width:
        wide.print(table)
    else:
        for name, *facts, scores in rows:
            say(name)  # whole, so that it can be copied
            told = [f"{title} {fact}" for title, fact in zip(COLUMNS[1:], facts, strict=False) if fact not in ("", "?")]
            say("\n".join(f"  {each}" for each in [", ".join(told), *scores.split(BETWEEN_SCORES)] if each))
    chosen = "the last that did not lose its match against the best before it (imitation: nearest to the teacher)"
    say(f"Best step: {chosen}; an earlier one may have higher scores.")
    say_command("Scores: of the best step, when it was chosen. To measure it in more games:", command("report", "RUN"))


def _inspect(run: Path) -> None:
    """What the newest checkpoint holds. Nothing that the run names is imported or started."""
    from plyground.cli.terminal import console, say, titled
    from plyground.report.inspect import inspect_run

    found = inspect_run(run)
    say(found.words)
    table = titled(f"experience of {run} at step {found.step}", "", "", header=False)
    for name, value in found.experience.items():
        table.add_row(name.replace("_", " "), _number(value, ".4f"))
    console.print(table) if table.row_count else say(f"{run} has stored nothing yet")
    if "quality" in found.experience:
        say("decided: share of games with a winner; quality: mean of decided, distinct and action diversity")
        say("actions: their numbers, from 0; nothing that a run names is imported to name them")


def _show_differences(first: Path, second: Path) -> None:
    from plyground.cli.terminal import console, say, titled
    from plyground.report.compare import compare_runs

    found = compare_runs(first, second)
    if not found:
        say(f"{first} and {second} have the same settings, versions, code and results")
        return
    names = (str(first), str(second)) if first.name == second.name else (first.name, second.name)
    table = titled(f"what differs between {first} and {second}", "", "", *names)
    for before, each in zip([None, *found], found, strict=False):
        table.add_row("" if before and before.part == each.part else each.part, *each[1:])
    console.print(table)


def _number(value: Any, form: str) -> str:
    return format(value, form) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def evaluate(
    words: Annotated[Words, Shown("RUN ... [AGENT ...]")] = (),
    games: int = 1000,
    checkpoint: str = "best",
    seed: Annotated[int | None, Shown("INT", "that of the evaluations during a run")] = None,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Evaluate a run in paired matches against agents; of several seeds, also their mean.

    Args:
        words: runs, or the folder of several seeds; then the opponents (default: random, greedy)
        games: number of games against each
        checkpoint: best, last, or a step
        seed: seed of the openings
    """
    if not words:
        how = command("evaluate", newest_run())
        raise InvalidValue(f"evaluate takes RUN ... [AGENT ...]; nothing was given; for example: {how}")
    if is_game(words[0]):
        raise InvalidValue(f"a run knows its game: {command('evaluate', *(words[1:] or [newest_run()]))}")

    from plyground.agents.registry import load_run, make, usual
    from plyground.arena.match import play_match
    from plyground.cli.display import show_report
    from plyground.cli.terminal import progress, show_match
    from plyground.learners.evaluation import OPENINGS_SEED, summary
    from plyground.report.scores import spread, spread_table
    from plyground.runs.directory import find_checkpoint, read_config, trust_run

    count = next((k for k, word in enumerate(words) if k and not is_run(run_path(word))), len(words))
    runs = [run for word in words[:count] for run in runs_of(run_path(word))]
    learned = {read_config(run).get("game", "") for run in runs}
    if len(learned) > 1:
        raise InvalidValue(f"these runs have learned {' and '.join(sorted(learned))}: evaluate the runs of one game")
    found = list[dict[str, Any]]()
    for run in runs:
        if trust:
            trust_run(run)
        agent, limit = load_run(str(run), None, checkpoint), read_config(run).get("max_plies") or None
        game, results = agent.game, dict[str, Any]()
        opponents = {spec: make(spec, game) for spec in words[count:] or usual(game)}
        stop_at_once(agent, *opponents.values())
        for spec, opponent in opponents.items():
            openings = OPENINGS_SEED if seed is None else seed
            with progress(games, f"{run.name} against {spec}", hide=json) as advance:
                match = play_match(game, agent, opponent, games, openings, progress=advance, max_plies=limit)
            results[spec] = summary(match)
            if not json:
                show_match(match, run.name, spec, game, as_json=False)
        found.append({"run": str(run), "checkpoint": find_checkpoint(run, checkpoint).step, "against": results})
    scores = {spec: [one["against"][spec]["score"] for one in found] for spec in found[0]["against"]}
    if json and len(found) == 1:
        print(json_module.dumps(found[0]))
    elif json:
        mean = {spec: spread(each) for spec, each in scores.items()}
        print(json_module.dumps({"runs": found, "mean": mean}))
    elif len(found) > 1:
        show_report(f"Over {len(found)} runs, with Student's interval of their mean:\n\n{spread_table(scores)}\n")


def plot(words: Annotated[Words, Shown("RUN ...")] = (), out: Path = Path("curves.png")) -> None:
    """Draw the learning curves of runs; seeds of one experiment as their mean and a band.

    Args:
        words: run directories, or folders of several seeds
        out: the picture
    """
    if not words:
        raise InvalidValue(f"plot needs at least one run: {command('plot', newest_run())}")

    from plyground.report.run import save_curves
    from plyground.runs.directory import read_config

    paths = [path for word in words for path in runs_of(run_path(word))]
    for path in paths:
        read_config(path)
    check_picture(out)
    save_curves(out, paths)
    print(f"wrote {out}", file=sys.stderr)


def report(
    words: Annotated[Words, Shown("RUN")] = (),
    games: Annotated[int | None, Shown("INT", "400")] = None,
    trust: Trust = False,
) -> None:
    """Write and print the report of a run again; of several seeds mean, interval and range.

    Args:
        words: a run's directory
        games: number of games against each evaluation opponent; of several seeds, those of their evaluations count
    """
    run = one_run("report", words)

    from plyground.cli.display import show_report
    from plyground.cli.terminal import say_command
    from plyground.report import run as run_report
    from plyground.runs.directory import trust_run

    seeds = runs_of(run)
    for path in seeds if trust else ():
        trust_run(path)
    if len(seeds) == 1:
        show_report(run_report.write_report(run, run_report.GAMES if games is None else games))
        return
    show_report(run_report.write_seeds_report(run, seeds))
    if games is not None:
        again = command("evaluate", run, "--games", games)
        say_command(f"These scores were measured during the runs, without --games {games}. To measure them now:", again)


def table(
    words: Annotated[Words, Shown("RUN")] = (),
    top: Annotated[int | None, Shown("INT", "20, or 6 patterns")] = None,
    checkpoint: str = "best",
    picture: Picture = None,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Print what a run's tables hold: entries in words, or the patterns of n-tuples.

    Args:
        words: a run's directory
        top: number of entries of each kind
        checkpoint: best, last, or a step
        picture: write the patterns of n-tuples to this file (.png, .svg)
    """
    run = one_run("table", words)

    from plyground.agents.registry import load_run
    from plyground.models.model import kind_of
    from plyground.runs.directory import read_config, trust_run

    if trust:
        trust_run(run)
    kind = kind_of(read_config(run))
    if kind not in ("table", "ntuple"):
        raise InvalidValue(f"{run} was trained by {read_config(run).get('learner')}, not with a table")
    if top is not None and top < 1:
        raise InvalidValue(f"top is at least 1, not {top}")
    if picture and kind == "table":
        raise InvalidValue(f"the picture is of n-tuples; that of a table is the run's own: {command('report', run)}")
    check_picture(picture)
    agent = load_run(str(run), None, checkpoint)
    if kind == "table":
        _show_entries(agent.table, top or ENTRIES, json)
    else:
        _show_patterns(agent.model, top or PATTERNS, json, picture)


def _show_entries(held: Any, top: int, json: bool) -> None:
    from plyground.cli.terminal import console, titled
    from plyground.report import table as table_report

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


def _show_patterns(model: Any, top: int, json: bool, picture: Path | None) -> None:
    from rich.columns import Columns

    from plyground.cli.terminal import characters, console, titled
    from plyground.models.ntuple_explained import in_words, learned, scene_of

    found = learned(model, top)
    if json:
        parts = [
            {
                "title": each.title,
                "patterns": [
                    {"weight": pattern.weight, "share": pattern.share, "cells": in_words(model, pattern)}
                    for pattern in [*each.boards, *each.single]
                ],
            }
            for each in found
        ]
        print(json_module.dumps(parts))
    else:
        console.print(f"{model.words}: what it has learned, by what it adds to the values of positions.")
        for each in found:
            console.print(f"\n{each.title}", style="bold")
            scenes = [scene_of(model, pattern) for pattern in each.boards]
            drawn = [f"{scene.status}\n{characters(scene.zones[0])}\n" for scene in scenes]
            console.print(Columns(drawn, padding=(0, 4)) if drawn else "No pattern stands out.")
            if each.single:
                shown = titled("single cells", "adds", "met in", "cell", "holds")
                for pattern in each.single:
                    ((cell, holds),) = in_words(model, pattern).items()
                    shown.add_row(f"{pattern.weight:+.3f}", f"{pattern.share:.1%}", cell, holds)
                console.print(shown)
        what = (
            "A pattern adds to the sum of which the value is tanh; it is met in games against itself with random moves."
        )
        console.print(f"\n[ ] is empty, · anything. {what}")
    if picture:
        from plyground.report.pictures import save_patterns

        save_patterns(picture, model, found)
        print(f"wrote {picture}", file=sys.stderr)


def export(
    words: Annotated[Words, Shown("onnx RUN FILE")] = (),
    checkpoint: str = "best",
    int8: bool = False,
    trust: Trust = False,
) -> None:
    """Export a run's network, after comparing it with torch on 1,000 positions.

    Args:
        words: the format, a run's directory, and the file to write, such as network.onnx
        checkpoint: best, last, or a step
        int8: weights and activations of 8 bits: a quarter of the size, a little weaker
    """
    if words and words[0] != "onnx":
        raise unknown("format of export", words[0], ("onnx",))
    if len(words) != 3:
        raise InvalidValue(f"export takes onnx RUN FILE: {command('export', 'onnx', newest_run(), 'network.onnx')}")

    from plyground.cli.terminal import say
    from plyground.interop.onnx import export as export_onnx
    from plyground.runs.directory import trust_run

    run, file = run_path(words[1]), Path(words[2])
    if trust:
        trust_run(run)
    found = export_onnx(run, file, checkpoint, int8)
    same = f"the same action as torch in {found.agreement:.1%} of {found.positions:,} positions"
    say(f"{file}: {found.size:,} bytes; {same}, scores differ by at most {found.difference:.2g}")
