"""Output in the terminal: sentences, tables, progress bars and boards; or one JSON object."""

from __future__ import annotations

import json
import math
import sys
import textwrap
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from plyground import specs
from plyground.errors import command, counted
from plyground.games.svg import PIECES

if TYPE_CHECKING:  # the modules that know these are there, whoever shows one
    from plyground.arena.grade import Grade, Share
    from plyground.arena.ladder import Ladder
    from plyground.arena.match import Match
    from plyground.arena.rating import Sprt, Verdict
    from plyground.checks.speed import Speed
    from plyground.game import Game
    from plyground.games.encoder import Encoder
    from plyground.games.interface import Setting
    from plyground.games.scene import Cell, Zone
    from plyground.position import Position

console = Console(highlight=False, markup=False, emoji=False)  # paths and names are shown as they are


def say(text: str) -> None:
    """A text as it is; only the terminal breaks its lines."""
    console.print(text, soft_wrap=True)


def say_command(text: str, line: str) -> None:
    """A sentence, and below it a command line of its own, to be copied."""
    say(f"{text}\n  {line}")


def titled(title: str, *columns: str, header: bool = True) -> Table:
    """A table in which long names are folded, never cut."""
    table = Table(title=Text(title, overflow="fold"), title_justify="left", show_header=header)
    for column in columns:
        table.add_column(Text(column, overflow="fold"), overflow="fold")
    return table


def show_rows(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table without lines, whole on a terminal of any width."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for row in (titles, *rows):
        say("  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip())


# ---- games ----


def show_games(games: list[Game]) -> None:
    """Each game with its settings, encoders and agents."""
    from plyground.agents.registry import known

    for game in games:
        console.print(game.word, style="bold")
        settings = [_choices(name, setting) for name, setting in game.rules.SETTINGS.items()]
        for title, found in (("settings", settings), ("encoders", _encoders(game)), ("agents", known(game))):
            if found:
                _fold(f"  {title:10}", ", ".join(found))
    say(f"Defaults come first. The meanings: {command('games', 'NAME')}")


def about(game: Game) -> str:
    """The aim of a game, and where its rules are."""
    rules, aim = game.path or f"docs/rules/{game.word}.md", game.rules.AIM.rstrip(".")
    lead = "The aim: " if game.rules.defined("AIM") else ""  # else it is what the file says of itself
    return f"{f'{lead}{aim}. ' if aim else ''}The rules: {rules}"


def show_game(game: Game) -> None:
    """One game: its aim, its settings, its encoders and its agents, with what they mean."""
    from plyground.agents.registry import entries

    rules, agents = game.rules, list[tuple[str, str]]()
    for name, entry in entries(game).items():
        if entry.plays(game):
            options = "; ".join(f"{option}: {meaning}" for option, meaning in entry.options.items())
            meaning = f"{entry.make.__doc__}" + (f" ({options})" if options else "")
            agents.append((entry.example or f"{name}:{entry.path}", meaning))
    console.print(f"{game}: {game.num_actions} actions", style="bold")
    _fold("", about(game))
    parts = {
        "settings": [(_choices(name, setting), setting.meaning) for name, setting in rules.SETTINGS.items()],
        "encoders": [
            (f"{name} [{' x '.join(map(str, encoder.shape))}]", encoder.meaning)
            for name, encoder in _encoders(game).items()
        ],
        "agents": agents,
    }
    for title, rows in parts.items():
        console.print(f"\n{title}{'' if rows else ': none'}", style="bold")
        for name, meaning in rows:
            console.print(f"  {name}")
            if meaning:
                _fold("      ", meaning)


def _choices(name: str, setting: Setting) -> str:
    """`seats=2|4`, the default first."""
    others = [choice for choice in setting.choices if choice != setting.default]
    return f"{name}={'|'.join(str(specs.text(choice)) for choice in (setting.default, *others))}"


def _encoders(game: Game) -> dict[str, Encoder]:
    """Each encoder once, by its full name."""
    return {str(encoder): encoder for encoder in game.encoders.values()}


def _fold(lead: str, text: str) -> None:
    """A text after its lead, folded between words only."""
    folder = textwrap.TextWrapper(console.width, lead, " " * len(lead), break_long_words=False, break_on_hyphens=False)
    say(folder.fill(text))


# ---- matches ----


class NowAndThen:
    """Lines on standard error where no terminal shows progress: none at first, then one in so many seconds."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self.said = time.monotonic()

    def say(self, line: Callable[[], str]) -> None:
        if time.monotonic() - self.said >= self.SECONDS:
            self.said = time.monotonic()
            print(line(), file=sys.stderr, flush=True)


@contextmanager
def progress(total: int = 0, title: str = "", hide: bool = False) -> Generator[Callable[..., None]]:
    """A progress bar on standard error, or a line now and then where that is no terminal; the function takes the number
    done and, where they change, total and title."""
    there = Console(stderr=True)
    shown, lines = there.is_interactive and not hide, NowAndThen()  # a file would get an empty line from the bar
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=there, transient=True, disable=not shown) as bar:
        task = bar.add_task(title, total=total)

        def advance(done: int, total: int = total, title: str = title) -> None:
            bar.update(task, completed=done, total=total, description=title)
            if not (shown or hide):
                lines.say(lambda: f"{title}: {done} of {total}")

        yield advance


def show_match(
    result: Match, a: str, b: str, game: Game, as_json: bool, sprt: Sprt | None = None, verdict: Verdict | None = None
) -> None:
    if as_json:
        test = {"sprt": {"elo0": sprt.elo0, "elo1": sprt.elo1, "verdict": verdict}} if sprt else {}
        print(json.dumps({"game": str(game), "a": a, "b": b, **match_numbers(result), **test}))
        return
    low, high = result.interval
    table = titled(f"{a} against {b}, {game}", "", "games", "wins", "draws", "losses", "score")
    for column, name in enumerate(("as first", "as second", "in all")):
        part = result.scores[:, column] if column < 2 else result.scores
        counts = [str((part == value).sum()) for value in (1, 0.5, 0)]
        table.add_row(name, str(part.size), *counts, f"{part.mean():.1%}")
    console.print(table)
    console.print(f"score of {a}: {result.score:.1%}, 95% interval {low:.1%} to {high:.1%}")
    elo_low, elo_high = (_elo(end) for end in result.elo_interval)
    console.print(f"Elo difference: {_elo(result.elo)}, 95% interval {elo_low} to {elo_high}")
    if result.unfinished:
        stopped, after = counted(result.unfinished, "game"), counted(result.max_plies, "ply")
        console.print(f"stopped after {after} and counted as drawn: {stopped}")
    for fault in dict.fromkeys(result.faults):
        console.print(f"a game was given up: {fault}")
    if result.all_seeing:
        _tell_all_seeing(result)
    if sprt and verdict:
        from plyground.arena.rating import Verdict

        nearer, other = (sprt.elo1, sprt.elo0) if verdict == Verdict.STRONGER else (sprt.elo0, sprt.elo1)
        accepted = f"{a} is {nearer:+g} rather than {other:+g} Elo above {b},"
        decided = verdict if verdict == Verdict.OPEN else accepted
        ratio = sprt.ratio(result.scores.mean(axis=1))
        console.print(
            f"SPRT, {sprt.elo0:+g} against {sprt.elo1:+g} Elo: {decided} after {counted(result.games, 'game')} "
            f"(log-likelihood ratio {ratio:.2f}, decided at ±{sprt.limit:.2f})"
        )


def _tell_all_seeing(result: Match | Grade) -> None:
    from plyground.agents.agent import told_to_see

    console.print(f"no measure of strength: {told_to_see(result.all_seeing)}")


def match_numbers(result: Match) -> Mapping[str, object]:
    """A match for machines; an infinite rating is null."""
    names = ("games", "wins", "draws", "losses", "score", "interval", "plies", "unfinished", "faults", "all_seeing")
    elo, low, high = (value if math.isfinite(value) else None for value in (result.elo, *result.elo_interval))
    return {name: getattr(result, name) for name in names} | {"elo": elo, "elo_interval": (low, high)}


def _elo(value: float) -> str:
    return f"{value:+.0f}" if math.isfinite(value) else ("+" if value > 0 else "-") + "∞"


def show_ladder(ladder: Ladder, as_json: bool) -> None:
    ratings, names = ladder.ratings(), ladder.agents
    order = [int(index) for index in ratings.elo.argsort()[::-1]]
    if as_json:
        rows = [{"agent": names[k], "elo": ratings.elo[k], "error": ratings.error[k]} for k in order]
        print(json.dumps({**asdict(ladder), "ratings": rows}))
        return
    table = titled(f"{ladder.game}, {ladder.games} games for each two", "", "agent", "Elo", "±", "score")
    for place, index in enumerate(order, start=1):
        elo, error = f"{ratings.elo[index]:+.0f}", f"{ratings.error[index]:.0f}"
        table.add_row(str(place), ladder.described(names[index]), elo, error, f"{ladder.scores[names[index]]:.1%}")
    console.print(table)


def show_speed(speed: Speed, as_json: bool) -> None:
    if as_json:
        print(json.dumps(speed))
        return
    cpu, wall, each = speed["plies_per_cpu_second"] / 1e6, speed["plies_per_second"] / 1e6, speed["batch_of_a_thread"]
    console.print(f"{speed['game']}: random play, legal mask and {speed['encoder']} written at each ply")
    console.print(f"  {cpu:7.2f} M plies per CPU-second, one thread with {speed['batch']} games")
    console.print(f"  {wall:7.2f} M plies per second, {counted(speed['threads'], 'thread')} with {each} games each")


# ---- solved games ----


def show_solved(position: Position, solved: Mapping[int, tuple[int, str]], as_json: bool) -> None:
    """A position and the exact value of each of its moves for the side to move."""
    score = max(value for value, _ in solved.values())
    best = [position.name(action) for action, (value, _) in solved.items() if value == score]
    if as_json:
        scores = {position.name(action): value for action, (value, _) in solved.items()}
        print(json.dumps({"position": position.text, "score": score, "scores": scores, "best": best}))
        return
    console.print(board(position))
    table = titled(f"{_side(position)} moves", "move", "score", "for the side to move")
    for action, (value, words) in solved.items():
        style = "bold" if value == score else ""
        table.add_row(position.name(action), f"{value:+d}" if value else "0", words, style=style)
    console.print(table)


def _side(position: Position) -> str:
    return position.game.rules.SIDES[position.to_move]


def show_grade(report: Grade, agent: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"agent": agent, **grade_numbers(report)}))
        return
    table = titled(f"{report.positions} positions", "", "cases", agent, "random mover")

    def row(name: str, share: Share, percent: bool = True) -> None:
        form = ".1%" if percent else ".2f"
        texts = ["-" if math.isnan(value) else format(value, form) for value in (share.agent, share.random)]
        table.add_row(name, str(share.cases), *texts)

    for name, shares in {"keeps win, draw or loss": report.wdl, "best exact score": report.exact}.items():
        for phase, share in shares.items():
            row(f"{name}, {phase}", share)
    row("takes the immediate win", report.wins_taken)
    row("blocks the immediate threat", report.threats_blocked)
    row("score lost by a move, mean", report.value_lost, percent=False)
    console.print(table)
    for number, mistake in enumerate(report.mistakes, start=1):
        console.print(f"\nmistake {number}: {mistake.words} ({_side(mistake.position)} moves)")
        console.print(board(mistake.position))
        say(f"position: {mistake.text}")
    if report.mistakes:
        console.print(f"\nLook at one of them: {command('solve', 'POSITION')}")
    if games := report.games:
        console.print(f"\nagainst the perfect player: {games.results}; mean length {games.plies:.1f} plies")
    if report.all_seeing:
        _tell_all_seeing(report)


def grade_numbers(report: Grade) -> dict[str, object]:
    """A grade as JSON: no boards; a share of no cases is null."""

    def numbers(share: Share) -> dict[str, float | None]:
        return {name: None if math.isnan(value) else value for name, value in asdict(share).items()}

    return {
        "positions": report.positions,
        **{name: {phase: numbers(s) for phase, s in getattr(report, name).items()} for name in ("wdl", "exact")},
        **{name: numbers(getattr(report, name)) for name in ("wins_taken", "threats_blocked", "value_lost")},
        "mistakes": [
            {"position": each.text, "played": each.played, "best": each.best, "lost": each.lost, "words": each.words}
            for each in report.mistakes
        ],
        "games": match_numbers(report.games) if report.games else None,
    }


# ---- boards ----


def board(position: Position, seat: int | None = None, before: Position | None = None) -> Text:
    """The drawn board in colours. For a seat: what it may see and, where the game draws them, its choices and what has
    changed since a position."""
    rules = position.game.rules
    if seat is None:
        drawn = Text(str(position))
    elif rules.draw_marked is not None:
        choices = position.legal() if position.seat == seat else []
        drawn = Text(rules.draw_marked(position.state, seat, before.state if before else None, choices))
    else:
        drawn = Text(rules.observe(position.state, seat))
    for pattern, style in rules.STYLES.items():
        drawn.highlight_regex(pattern, style)
    return drawn


FIGURES = {"disc": "●○", "chip": "●○", **PIECES}


def characters(zone: Zone) -> str:
    """A board with three characters for each cell: `[●]` a marked one, ` · ` an empty one. What has no figure is its
    initial; cards are left out."""
    width, lines = max(map(len, zone.row_labels), default=0), list[str]()
    for y in range(zone.rows):
        cells = zone.cells[y * zone.columns : (y + 1) * zone.columns]
        label = zone.row_labels[y] if zone.row_labels else ""
        lines.append(f"{label:>{width}}" + "".join(map(_cell, cells)))
    if zone.column_labels:
        lines.append(" " * width + "".join(f" {name} " for name in zone.column_labels))
    return "\n".join(line.rstrip() for line in lines)


def _cell(cell: Cell) -> str:
    shown = ""
    for item in cell.items:
        if item.side is not None:
            letter = item.kind[:1]
            shown += FIGURES.get(item.kind, letter.upper() + letter.lower())[item.side]
        elif not item.kind.startswith("card:"):
            shown += item.kind if item.kind.isdecimal() else item.kind[:1]
    return f"[{shown or ' '}]" if cell.marks else f" {shown or '·'}".ljust(3)
