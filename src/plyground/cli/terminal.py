"""Output in the terminal: tables, progress bars and boards."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from plyground import specs
from plyground.agents.agent import Entry, entries, known
from plyground.arena.match import Match
from plyground.arena.rating import Sprt, Verdict
from plyground.checks.speed import Speed
from plyground.errors import command
from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.games.interface import Setting
from plyground.position import Position

SIDES = ("first", "second")

console = Console(highlight=False)


# ---- tables ----


def show_games(games: list[Game]) -> None:
    """Each game with its settings, encoders and agents."""
    for game in games:
        console.print(game.word, style="bold", markup=False)
        settings = [_choices(name, setting) for name, setting in game.rules.SETTINGS.items()]
        for title, found in (("settings", settings), ("encoders", _encoders(game)), ("agents", known(game))):
            if found:
                _fold(f"  {title:10}", ", ".join(found))
    console.print(f"Defaults come first. The meanings: {command('games', 'NAME')}", soft_wrap=True)


def show_game(game: Game) -> None:
    """One game: its settings, its encoders and its agents, with what they mean."""
    rules = game.rules
    console.print(f"{game}: {game.num_actions} actions", style="bold", markup=False)
    parts = {
        "settings": [(_choices(name, setting), setting.meaning) for name, setting in rules.SETTINGS.items()],
        "encoders": [
            (f"{name} [{' x '.join(map(str, encoder.shape))}]", encoder.meaning)
            for name, encoder in _encoders(game).items()
        ],
        "agents": [
            (" or ".join(entry.examples(game)) or f"{name}:{entry.path}", _agent_meaning(entry))
            for name, entry in entries(game).items()
            if entry.examples(game) or name == "run"
        ],
    }
    for title, rows in parts.items():
        console.print(f"\n{title}{'' if rows else ': none'}", style="bold")
        for name, meaning in rows:
            console.print(f"  {name}", markup=False)
            if meaning:
                _fold("      ", meaning)


def _agent_meaning(entry: Entry) -> str:
    options = "; ".join(f"{name}: {meaning}" for name, meaning in entry.options.items())
    return f"{entry.meaning} ({options})" if options else entry.meaning


def _choices(name: str, setting: Setting) -> str:
    """`seats=2|4`, the default first."""
    others = [choice for choice in setting.choices if choice != setting.default]
    return f"{name}={'|'.join(str(specs.text(choice)) for choice in (setting.default, *others))}"


def _encoders(game: Game) -> dict[str, Encoder]:
    """Each encoder once, by its full name."""
    return {str(encoder): encoder for encoder in game.encoders.values()}


def _fold(lead: str, text: str) -> None:
    """A text after its lead, folded between words only."""
    indent = " " * len(lead)
    folded = textwrap.fill(
        text,
        console.width,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    console.print(folded, markup=False, soft_wrap=True)


@contextmanager
def progress(total: int, title: str, hide: bool = False) -> Generator[Callable[[int], None]]:
    """A progress bar on standard error; the function takes the number done."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with _bar(columns, hide) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def steps(hide: bool = False) -> Generator[Callable[[int, int, str], None]]:
    """A progress bar on standard error with a changing title."""
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    with _bar(columns, hide) as bar:
        task = bar.add_task("")
        yield lambda done, total, title: bar.update(task, completed=done, total=total, description=title)


def _bar(columns: Iterable[ProgressColumn], hide: bool) -> Progress:
    """A bar that is hidden where standard error is not a terminal: there it would leave an empty line."""
    there = Console(stderr=True)
    return Progress(*columns, console=there, transient=True, disable=hide or not there.is_interactive)


def show_match(
    result: Match,
    a: str,
    b: str,
    game: Game,
    as_json: bool,
    sprt: Sprt | None = None,
    verdict: Verdict | None = None,
) -> None:
    if as_json:
        test = {"sprt": {"elo0": sprt.elo0, "elo1": sprt.elo1, "verdict": verdict}} if sprt else {}
        print(json.dumps({"game": str(game), "a": a, "b": b, **match_numbers(result), **test}))
        return
    low, high = result.interval
    table = Table(
        "", "games", "wins", "draws", "losses", "score", title=f"{a} against {b}, {game}", title_justify="left"
    )
    for column, name in enumerate((*(f"{a} as {side}" for side in SIDES), f"{a} in all")):
        part = result.scores[:, column] if column < 2 else result.scores
        counts = [str((part == value).sum()) for value in (1, 0.5, 0)]
        table.add_row(name, str(part.size), *counts, f"{part.mean():.1%}")
    console.print(table)
    console.print(f"score of {a}: {result.score:.1%}, 95% interval {low:.1%} to {high:.1%}")
    elo_low, elo_high = (_elo(end) for end in result.elo_interval)
    console.print(f"Elo difference: {_elo(result.elo)}, 95% interval {elo_low} to {elo_high}")
    if result.unfinished:
        console.print(f"{result.unfinished} games were stopped at {game.rules.MAX_PLIES} plies and count as draws")
    for fault in dict.fromkeys(result.faults):
        console.print(f"a game was given up: {fault}", markup=False)
    if sprt and verdict:
        pairs = result.scores.mean(axis=1)
        console.print(
            f"SPRT, {sprt.elo0:+g} against {sprt.elo1:+g} Elo: "
            f"{_decided(sprt, verdict, a, b)} after {result.games} games "
            f"(log-likelihood ratio {sprt.ratio(pairs):.2f}, decided at ±{sprt.limit:.2f})"
        )


def _decided(sprt: Sprt, verdict: Verdict, a: str, b: str) -> str:
    """The hypothesis that a sequential test has accepted."""
    nearer, other = (sprt.elo1, sprt.elo0) if verdict == Verdict.STRONGER else (sprt.elo0, sprt.elo1)
    return verdict if verdict == Verdict.OPEN else f"{a} is {nearer:+g} rather than {other:+g} Elo above {b},"


def match_numbers(result: Match) -> Mapping[str, object]:
    """A match for machines; an infinite rating is null."""
    names = ("games", "wins", "draws", "losses", "score", "interval", "plies", "unfinished", "faults")
    elo, low, high = (value if math.isfinite(value) else None for value in (result.elo, *result.elo_interval))
    return {name: getattr(result, name) for name in names} | {"elo": elo, "elo_interval": (low, high)}


def _elo(value: float) -> str:
    return f"{value:+.0f}" if math.isfinite(value) else ("+" if value > 0 else "-") + "∞"


def show_speed(speed: Speed, as_json: bool) -> None:
    if as_json:
        print(json.dumps(speed))
        return
    cpu, wall = speed["plies_per_cpu_second"] / 1e6, speed["plies_per_second"] / 1e6
    console.print(f"{speed['game']}: random play, legal mask and {speed['encoder']} written at each ply")
    console.print(f"  {cpu:7.2f} M plies per CPU-second, one thread with {speed['batch']} games")
    console.print(
        f"  {wall:7.2f} M plies per second, {speed['threads']} threads with {speed['batch_of_a_thread']} games each"
    )


# ---- boards ----


def board(position: Position, seat: int | None = None, last: int = -1) -> Text:
    """The drawn board in colours. For a seat: what it may see and, where the game draws them, its choices or the last
    action."""
    rules = position.game.rules
    if seat is None:
        drawn = Text(str(position))
    elif rules.draw_choices is not None:
        drawn = Text(rules.draw_choices(position.state, position.legal()))
    elif rules.draw_last is not None:
        drawn = Text(rules.draw_last(position.state, seat, last))
    else:
        drawn = Text(rules.observe(position.state, seat))
    for pattern, style in rules.STYLES.items():
        drawn.highlight_regex(pattern, style)
    return drawn
