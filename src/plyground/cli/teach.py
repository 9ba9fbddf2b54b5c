"""The commands about teachers: collect a dataset, inspect or convert it, verify what was learned from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from rich.text import Text
from tyro.conf import Positional, arg

from plyground.cli.ctrl_c import stop_at_once, stop_on_signal
from plyground.cli.display import show_report
from plyground.cli.grammar import NO_WORDS, GameWord, Words, game_first, hint, shown_as
from plyground.cli.terminal import console, progress, say, titled
from plyground.errors import InvalidValue, counted
from plyground.game import load
from plyground.report.verify import verify as verify_run
from plyground.runs.directory import trust_run
from plyground.teaching.collect import Collect
from plyground.teaching.collect import collect as collect_games
from plyground.teaching.csv_form import convert as convert_dataset
from plyground.teaching.dataset import BadLines
from plyground.teaching.inspect import inspect as inspect_dataset
from plyground.teaching.lines import Lines

RunPath = Annotated[Path, arg(metavar="RUN", help="an imitation run, or one that was initialised with it")]


def collect(
    words: GameWord = NO_WORDS,
    config: Annotated[Collect, arg(name="")] = Collect(),  # noqa: B008
    out: Annotated[Path, arg(help="the dataset; compressed if the name ends in .gz")] = Path("data/teacher.ndjson"),
) -> None:
    """Let a teacher play itself and write down its evaluation of each position. The same command continues a file."""
    given = "" if config.game == Collect.game else config.game
    config = replace(config, game=game_first(words, given, "collect [GAME]", default=Collect.game)[0])
    collect_into(out, config)


def collect_into(out: Path, config: Collect) -> bool:
    """Collect or continue a dataset, with a progress bar and a summary; returns whether it is complete."""
    with stop_on_signal() as stop, progress(config.games) as show:

        def report(games: int, lines: int, speed: float) -> None:
            show(games, title=f"{config.game}: {lines:,} positions, {speed:,.0f} a second; games")

        found = collect_games(config, out, report, lambda: bool(stop))
    results = ", ".join(f"{name} {count}" for name, count in found["results"].items())
    positions, games = counted(found["lines"], "position"), counted(found["games"], "game")
    size = f"{positions} of {games} ({results}), {found['bytes']:,} bytes"
    say(f"{out}: {size}; {found['positions_per_second']:,.0f} positions a second by {found['teacher']}")
    if found["games"] < config.games:
        say("Stopped; the same command continues.")
    return found["games"] >= config.games


def inspect(
    words: Annotated[Words, shown_as("[GAME] FILE")] = NO_WORDS,
    game: Annotated[str, hint("GAME", "chess")] = "",
    bad_lines: BadLines = "skip",
) -> None:
    """Describe a dataset: size, duplicates, openings, phases, results, entropy of the teacher's policies.

    Args:
        words: a dataset
        game: the game of the dataset, if not given first
        bad_lines: stop at the first invalid line, or skip invalid lines; they go to FILE.rejected
    """
    spec, (file,) = game_first(words, game, "inspect [GAME] FILE", 1, 1, Collect.game)
    table = titled(file, "", "", header=False)
    for name, value in inspect_dataset(Path(file), load(spec), bad_lines).items():
        table.add_row(name, value)
    console.print(table)


def convert(
    words: Annotated[Words, shown_as("[GAME] SOURCE TARGET")] = NO_WORDS,
    game: Annotated[str, hint("GAME", "chess")] = "",
) -> None:
    """Write a dataset as CSV, or a CSV file as a dataset, by the files' names.

    Args:
        words: two files, one of which ends in .csv (or .csv.gz)
        game: the game of the dataset, if not given first
    """
    spec, (source, target) = game_first(words, game, "convert [GAME] SOURCE TARGET", 2, 2, Collect.game)
    say(f"{target}: {counted(convert_dataset(Path(source), Path(target), Lines(load(spec))), 'position')}")


def verify(
    run: Positional[RunPath],
    tuned: Annotated[Path | None, hint("RUN", "none")] = None,
    data: Annotated[Path | None, hint("FILE", "those that the run held out")] = None,
    games: int = 100,
    depth: int = 2,
    quiescence: int = 4,
    trust: bool = False,
) -> None:
    """Report what was learned: before and after imitation, and after fine-tuning; verify.md and verify.png.

    Args:
        tuned: a run that was initialised with this one (`train dqn --init RUN`)
        data: positions to compare on
        games: games against each opponent, in pairs
        depth: of the teacher
        quiescence: of the teacher
        trust: use its positions and the game file that it names, although it was not trained here; remembered
    """
    if trust:
        trust_run(run)
    if games < 2 or games % 2:
        raise InvalidValue(f"games is even and at least 2, not {games}: matches are played in pairs")
    stop_at_once()
    with console.status("") as status:
        text = verify_run(run, tuned, data, games, depth, quiescence, say=lambda words: status.update(Text(words)))
    show_report(text)


COMMANDS = {"collect": collect, "inspect": inspect, "convert": convert, "verify": verify}
