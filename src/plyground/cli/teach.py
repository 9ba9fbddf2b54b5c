"""The commands about teachers: collect a dataset, inspect or convert it, verify what was learned from it. Each imports
what it needs when it runs."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

from plyground.cli.ctrl_c import SAVED, interruptible, stop_at_once, stop_on_signal
from plyground.cli.parser import On, Settings, Shown, Table, Trust, Words, settings_of
from plyground.cli.words import GameWord, game_first, one_run
from plyground.errors import InvalidValue, counted
from plyground.runs.settings import build
from plyground.teaching.config import BadLines, Collect

TeachGame = Annotated[str, Shown("GAME", Collect.game, "the game of the dataset, if not given first")]


def collect(
    words: GameWord = (),
    out: Path = Path("data/teacher.packed"),
    on: On = "",
    *,
    config: Annotated[Table, Settings(lambda: {"": settings_of(Collect)})],
) -> None:
    """Let a teacher play itself and write down its evaluation of each position. The same command continues a file.

    Args:
        out: the dataset: packed records, or NDJSON if the name ends in .ndjson or, compressed, in .gz
    """
    game, _ = game_first(words, config.get("game", ""), "teach collect [GAME]", default=Collect.game)
    collect_into(out, build(Collect, {**config, "game": game}, "teach collect"), on)


def collect_into(out: Path, config: Collect, on: str = "") -> bool:
    """Collect or continue a dataset, with a progress bar and a summary; returns whether it is complete."""
    from plyground.cli.cluster import cluster_at
    from plyground.cli.terminal import progress, say
    from plyground.teaching.collect import collect as collect_games

    with (
        interruptible(signal.SIGTERM, kept=SAVED),
        stop_on_signal() as stop,
        cluster_at(on, "what was written is there") as cluster,
        progress(config.games) as show,
    ):

        def report(games: int, lines: int, speed: float) -> None:
            show(games, title=f"{config.game}: {lines:,} positions, {speed:,.0f} a second; games")

        if cluster:
            from plyground.cluster.tasks import collect as collect_there

            found = collect_there(cluster, config, out, report, lambda: bool(stop))
        else:
            found = collect_games(config, out, report, lambda: bool(stop))
    results = ", ".join(f"{name} {count}" for name, count in found["results"].items())
    positions, games = counted(found["lines"], "position"), counted(found["games"], "game")
    size = f"{positions} of {games} ({results}), {found['bytes']:,} bytes"
    say(f"{out}: {size}; {found['positions_per_second']:,.0f} positions a second by {found['teacher']}")
    if found["games"] < config.games:
        say("Stopped; the same command continues.")
    return found["games"] >= config.games


def inspect(
    words: Annotated[Words, Shown("[GAME] FILE")] = (), game: TeachGame = "", bad_lines: BadLines = "skip"
) -> None:
    """Describe a dataset: size, duplicates, openings, phases, results, entropy of the teacher's policies.

    Args:
        words: a dataset
        bad_lines: stop at the first invalid line, or skip invalid lines; they go to FILE.rejected
    """
    from plyground.cli.terminal import console, titled
    from plyground.game import load
    from plyground.teaching.inspect import inspect as inspect_dataset

    spec, (file,) = game_first(words, game, "teach inspect [GAME] FILE", 1, 1, Collect.game)
    with interruptible(signal.SIGTERM, kept=SAVED):
        table = titled(file, "", "", header=False)
        for name, value in inspect_dataset(Path(file), load(spec), bad_lines).items():
            table.add_row(name, value)
        console.print(table)


def convert(words: Annotated[Words, Shown("[GAME] SOURCE TARGET")] = (), game: TeachGame = "") -> None:
    """Write a dataset in another form, by the files' names: packed, NDJSON or CSV.

    Args:
        words: two files; names of texts end in .ndjson or .csv, and in .gz if they are compressed
    """
    from plyground.cli.terminal import progress, say
    from plyground.game import load
    from plyground.teaching.dataset import convert as convert_dataset
    from plyground.teaching.lines import Lines

    spec, (source, target) = game_first(words, game, "teach convert [GAME] SOURCE TARGET", 2, 2, Collect.game)
    with interruptible(signal.SIGTERM, kept=SAVED), progress(title=f"{source}: positions") as show:
        written = convert_dataset(Path(source), Path(target), Lines(load(spec)), show)
    say(f"{target}: {counted(written, 'position')}")


def verify(
    words: Annotated[Words, Shown("RUN")] = (),
    tuned: Annotated[Path | None, Shown("RUN", "none")] = None,
    data: Annotated[Path | None, Shown("FILE", "those that the run held out")] = None,
    games: int = 100,
    depth: int = 2,
    quiescence: int = 4,
    trust: Trust = False,
) -> None:
    """Report what was learned: before and after imitation, and after fine-tuning; verify.md and verify.png.

    Args:
        words: an imitation run, or one that was initialised with it
        tuned: a run that was initialised with this one (`train dqn --init RUN`)
        data: positions to compare on
        games: games against each opponent, in pairs
        depth: of the teacher
        quiescence: of the teacher
    """
    if games < 2 or games % 2:
        raise InvalidValue(f"games is even and at least 2, not {games}: matches are played in pairs")
    run = one_run("teach verify", words)

    from rich.text import Text

    from plyground.cli.display import show_report
    from plyground.cli.terminal import console
    from plyground.report.verify import verify as verify_run
    from plyground.runs.directory import trust_run

    if trust:
        trust_run(run)
    stop_at_once()
    with console.status("") as status:
        text = verify_run(run, tuned, data, games, depth, quiescence, say=lambda words: status.update(Text(words)))
    show_report(text)
