"""The commands that learn from a teacher: collect, inspect, imitate, verify."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from tyro.conf import Positional, arg

from plyground.backend.device import explain_out_of_memory
from plyground.cli.display import console
from plyground.cli.training import check_limits, new_run, set_limits, settings_of, wishes_to_stop
from plyground.errors import InvalidValue, command
from plyground.game import load
from plyground.kernels.threads import available
from plyground.runs.directory import EXAMPLES, Run, newest_whole, open_run, steps_of
from plyground.runs.settings import build
from plyground.teaching.collect import Collect
from plyground.teaching.collect import collect as write
from plyground.teaching.dataset import BadLines
from plyground.teaching.imitate import LEARNER, Imitate, Imitation
from plyground.teaching.imitate import imitate as learn
from plyground.teaching.inspect import inspect as look_at
from plyground.teaching.verify import verify as measure

LESS = "try a smaller batch or a smaller network"
DataFile = Annotated[Path, arg(metavar="FILE", help="a dataset")]
RunPath = Annotated[Path, arg(metavar="RUN", help="an imitation run, or one that was begun with it")]


@contextmanager
def _bar(title: str, total: int) -> Generator[Callable[[int, str], None]]:
    """A bar that is told how much is done, and words to go with it."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}")
    with Progress(*columns, console=console, transient=True, disable=not console.is_interactive) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda done, words: bar.update(task, completed=done, words=words)


def collect(
    config: Annotated[Collect, arg(name="")] = Collect(),  # noqa: B008
    out: Annotated[Path, arg(help="the dataset; with .gz at its end it is compressed")] = Path("data/teacher.ndjson"),
) -> None:
    """Let a teacher play itself and write down what it thinks of each position. Stopped, it goes on where it was."""
    with wishes_to_stop() as stop, _bar(f"{config.game}: games", config.games) as show:

        def report(games: int, lines: int, speed: float) -> None:
            show(games, f"{lines:,} positions, {speed:,.0f} a second")

        found = write(config, out, report, lambda: bool(stop))
    results = ", ".join(f"{name} {count}" for name, count in found["results"].items())
    console.print(
        f"{out}: {found['lines']:,} positions of {found['games']:,} games ({results}), {found['bytes']:,} bytes; "
        f"{found['positions_per_second']:,.0f} positions a second by {found['teacher']}",
        soft_wrap=True,
        markup=False,
    )
    if found["games"] < config.games:
        console.print("Stopped; the same command goes on.")


def inspect(
    file: Positional[DataFile],
    game: str = "chess",
    bad_lines: BadLines = "skip",
) -> None:
    """Say what a dataset holds: size, duplicates, openings, phases, results, how sure the teacher was.

    Args:
        game: the game it is about
        bad_lines: stop at the first line that is not right, or skip such lines; they go to FILE.rejected
    """
    table = Table("", "", title=str(file), title_justify="left", show_header=False)
    for name, value in look_at(file, load(game), bad_lines).items():
        table.add_row(name, value)
    console.print(table)


def imitate(
    config: Annotated[Imitate, arg(name="")],
    out: Annotated[
        Path | None,
        arg(metavar="PATH", help="the run's directory", help_behavior_hint="(default: runs/GAME-imitation)"),
    ] = None,
) -> None:
    """Teach a network to choose as the teacher of a dataset does; the result is a run."""
    full = config.resolved()
    path = out or Path("runs") / f"{load(full.game).label}-imitation"
    with new_run(path, LEARNER, full) as run:
        try:
            _learn(_begin(full, path), run)
        except BaseException:
            if not steps_of(path):
                shutil.rmtree(path)  # nothing has come of it, and nothing could go on with it
            raise


def _begin(config: Imitate, path: Path) -> Imitation:
    with console.status("reading and checking the data"), explain_out_of_memory(LESS):
        return Imitation(config, path, available())


def go_on(path: Path, limits: Mapping[str, float]) -> None:
    """Continue an imitation run with the epoch that was not finished, or to a later end."""
    with open_run(path) as run:
        checkpoint, own = newest_whole(path), settings_of(path, limits)
        check_limits(path, limits, {"epochs": checkpoint.state()["epoch"]})
        try:
            learner = _begin(build(Imitate, own, f"{path}/config.toml"), path)
            learner.restore(checkpoint)
        except BaseException:
            (path / EXAMPLES).unlink(missing_ok=True)  # nobody will read what was packed
            raise
        set_limits(run, limits)
        if limits:
            learner.without_gain = 0  # who asks for more has patience
        run.rewind(checkpoint)
        _learn(learner, run)


def _learn(learner: Imitation, run: Run) -> None:
    with wishes_to_stop() as stop, _bar("examples", len(learner.rows)) as show, explain_out_of_memory(LESS):

        def report(record: Mapping[str, Any]) -> None:
            if record["event"] == "tick":
                show(record["done"], f"epoch {learner.epoch + 1}/{learner.config.epochs}, loss {record['loss']:.4f}")
            else:
                console.print(line(record), soft_wrap=True, markup=False)

        finished = learn(learner, run, report, lambda: bool(stop))
    if not finished:
        console.print(f"Stopped. Go on with: {command('resume', run.path)}", soft_wrap=True)
        return
    best = learner.best
    console.print(
        f"The best is epoch {best['epoch']}: KL {best['kl']:.4f}, match@1 {best['match@1']:.1%}. "
        f"Next: {command('teach', 'verify', run.path)}, or longer: {command('resume', run.path, '--epochs', 'N')}",
        soft_wrap=True,
    )


def line(record: Mapping[str, Any]) -> str:
    """An epoch in one line."""
    numbers = " ".join(f"{name} {record[name]:.4f}" for name in ("train_loss", "loss", "kl") if name in record)
    matched = " ".join(f"{name} {value:.1%}" for name, value in record.items() if name.startswith("match@"))
    return (
        f"epoch {record['epoch']}/{record['epochs']}: {numbers} · {matched} · "
        f"value error {record['value_error']:.3f} · "
        f"entropy {record['entropy']:.3f} (even: {record['even_entropy']:.3f}) · "
        f"{record['examples']:,} examples, {record['held_out']:,} held out, {record['rejected']} rejected · "
        f"{record['seconds']:.1f} s"
    )


def verify(
    run: Positional[RunPath],
    tuned: Path | None = None,
    data: Path | None = None,
    games: int = 100,
    depth: int = 2,
    quiescence: int = 4,
) -> None:
    """Report what was learned: before and after imitation, and after fine-tuning; verify.md and verify.png.

    Args:
        tuned: a run that was begun with this one (`train dqn --init RUN`)
        data: positions to compare on, if not those that the run held out
        games: against each opponent, in pairs
        depth: of the teacher
        quiescence: of the teacher
    """
    if games < 2 or games % 2:
        raise InvalidValue(f"games is even and at least 2, not {games}: matches are played in pairs")
    with console.status("") as status:
        text = measure(run, tuned, data, games, depth, quiescence, say=status.update)
    console.print(text, markup=False, soft_wrap=True)


COMMANDS: dict[str, Callable[..., None]] = {
    "collect": collect,
    "inspect": inspect,
    "imitate": imitate,
    "verify": verify,
}
