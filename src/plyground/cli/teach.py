"""The commands about teachers: collect a dataset, inspect it, verify what was learned from it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from tyro.conf import Positional, arg

from plyground.cli.display import console
from plyground.cli.grammar import NO_WORDS, Words, game_first, hint, shown_as
from plyground.cli.training import stop_on_signal
from plyground.errors import InvalidValue
from plyground.game import load
from plyground.report.verify import verify as verify_run
from plyground.teaching.collect import Collect
from plyground.teaching.collect import collect as collect_games
from plyground.teaching.dataset import BadLines
from plyground.teaching.inspect import inspect as inspect_dataset

RunPath = Annotated[Path, arg(metavar="RUN", help="an imitation run, or one that was initialised with it")]


@contextmanager
def _bar(title: str, total: int) -> Generator[Callable[[int, str], None]]:
    """A progress bar; the function takes the number done and a text."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}")
    with Progress(*columns, console=console, transient=True, disable=not console.is_interactive) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda done, words: bar.update(task, completed=done, words=words)


def collect(
    words: Positional[Annotated[Words, shown_as("[GAME]", "the game, or --game")]] = NO_WORDS,
    config: Annotated[Collect, arg(name="")] = Collect(),  # noqa: B008
    out: Annotated[Path, arg(help="the dataset; compressed if the name ends in .gz")] = Path("data/teacher.ndjson"),
) -> None:
    """Let a teacher play itself and write down its evaluation of each position. The same command continues a file."""
    given = "" if config.game == Collect.game else config.game
    config = replace(config, game=game_first(words, given, "collect [GAME]", 0, 0, Collect.game)[0])
    with stop_on_signal() as stop, _bar(f"{config.game}: games", config.games) as show:

        def report(games: int, lines: int, speed: float) -> None:
            show(games, f"{lines:,} positions, {speed:,.0f} a second")

        found = collect_games(config, out, report, lambda: bool(stop))
    results = ", ".join(f"{name} {count}" for name, count in found["results"].items())
    console.print(
        f"{out}: {found['lines']:,} positions of {found['games']:,} games ({results}), {found['bytes']:,} bytes; "
        f"{found['positions_per_second']:,.0f} positions a second by {found['teacher']}",
        soft_wrap=True,
        markup=False,
    )
    if found["games"] < config.games:
        console.print("Stopped; the same command continues.")


def inspect(
    words: Positional[Annotated[Words, shown_as("[GAME] FILE", "a dataset")]] = NO_WORDS,
    game: Annotated[str, hint("GAME", "chess")] = "",
    bad_lines: BadLines = "skip",
) -> None:
    """Describe a dataset: size, duplicates, openings, phases, results, entropy of the teacher's policies.

    Args:
        game: the game of the dataset, if not given first
        bad_lines: stop at the first invalid line, or skip invalid lines; they go to FILE.rejected
    """
    spec, (file,) = game_first(words, game, "inspect [GAME] FILE", 1, 1, Collect.game)
    table = Table("", "", title=file, title_justify="left", show_header=False)
    for name, value in inspect_dataset(Path(file), load(spec), bad_lines).items():
        table.add_row(name, value)
    console.print(table)


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
        tuned: a run that was initialised with this one (`train dqn --init RUN`)
        data: positions to compare on (default: those that the run held out)
        games: games against each opponent, in pairs
        depth: of the teacher
        quiescence: of the teacher
    """
    if games < 2 or games % 2:
        raise InvalidValue(f"games is even and at least 2, not {games}: matches are played in pairs")
    with console.status("") as status:
        text = verify_run(run, tuned, data, games, depth, quiescence, say=status.update)
    console.print(text, markup=False, soft_wrap=True)


COMMANDS: dict[str, Callable[..., None]] = {
    "collect": collect,
    "inspect": inspect,
    "verify": verify,
}
