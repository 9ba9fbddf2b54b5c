"""What a person sees in the terminal: tables, progress, boards, and the game played there."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from plyground.agents.agent import Agent, adviser_of, ask, known, make, tell
from plyground.arena.match import Match
from plyground.arena.sprt import Sprt, Verdict
from plyground.bench import Speed
from plyground.errors import Error
from plyground.game import Game
from plyground.games import chance
from plyground.games.interface import RUNNING, Outcome
from plyground.position import Position

SIDES = ("first", "second")
HINT = "minimax:depth=4"
THIS_GAME, NOT_ENDED = np.zeros(1, np.int64), np.full(1, RUNNING, np.int8)  # for agents that go on learning

console = Console(highlight=False)


# ---- tables ----


def show_games(games: list[Game]) -> None:
    table = Table("game", "actions", "settings", "encoders", "agents")
    for game in games:
        settings = [f"{k}={'|'.join(map(str, v.choices))} ({v.default})" for k, v in game.rules.SETTINGS.items()]
        encoders = dict.fromkeys(str(each) for each in game.encoders.values())
        table.add_row(
            str(game), str(game.num_actions), "\n".join(settings), "\n".join(encoders), "\n".join(known(game))
        )
    console.print(table)


@contextmanager
def progress(total: int, title: str, hide: bool = False) -> Generator[Callable[[int], None]]:
    """A bar on standard error that is told how much is done."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with _bar(columns, hide) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def steps(hide: bool = False) -> Generator[Callable[[int, int, str], None]]:
    """A bar on standard error whose title says what is being done."""
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    with _bar(columns, hide) as bar:
        task = bar.add_task("")
        yield lambda done, total, title: bar.update(task, completed=done, total=total, description=title)


def _bar(columns: Iterable[ProgressColumn], hide: bool) -> Progress:
    """Nothing where nobody looks: there it would leave an empty line."""
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
    """What a sequential test has accepted."""
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


def board(position: Position, seat: int | None = None) -> Text:
    """The drawn board in colours; for a seat, what it may see and, where the game draws that, what it may do."""
    rules = position.game.rules
    if seat is not None and rules.draw_choices is not None:
        drawn = Text(rules.draw_choices(position.state, position.legal()))
    else:
        drawn = Text(str(position) if seat is None else rules.observe(position.state, seat))
    for pattern, style in rules.STYLES.items():
        drawn.highlight_regex(pattern, style)
    return drawn


# ---- a game against an agent ----


def play(start: Position, agent: Agent, name: str, side: int, seed: int) -> None:
    """One game between a person and an agent, typed in the terminal."""
    sides = start.game.rules.SIDES
    console.print(
        f"You are {sides[side]}, {name} is {sides[1 - side]}. {sides[start.to_move]} is to move.", markup=False
    )
    console.print("Type a move, or: undo, hint, moves, help, quit.")
    history, position = list[Position](), start.copy()  # history: the person's turns, where each began
    rngs, begun = chance.seeds(seed, 1), False
    while not position.over:
        if position.to_move != side:
            begun = False
            move = int(ask(agent, THIS_GAME, position.states.copy(), rngs)[0])
            console.print(f"{name} plays {position.name(move)}")
            position.play(move)
            continue
        console.print(board(position, position.seat))
        answer = _ask(position)
        if answer is None:
            tell(agent, THIS_GAME, NOT_ENDED)
            console.print("Good-bye.")
            return
        if answer == "undo":
            tell(agent, THIS_GAME, NOT_ENDED)  # what followed is no longer what followed
            position, begun = _undone(history, position), False
        elif answer in ("hint", "moves", "help"):
            _help(answer, position)
        elif answer:
            before = position.copy()
            try:
                position.play(answer)
                history += [] if begun else [before]
                begun = True
            except Error as error:
                console.print(str(error), markup=False)
    tell(agent, THIS_GAME, position.states["outcome"])
    console.print(board(position))
    console.print(_ending(position, side))


def _ask(position: Position) -> str | None:
    """What the person typed; None to stop."""
    try:
        answer = console.input(f"{position.game.rules.prompt(position.state)}> ").strip()
    except (EOFError, KeyboardInterrupt):
        console.print()
        return None
    if answer.lower() in ("quit", "exit", "q"):
        return None
    return answer.lower() if answer.lower() in ("undo", "hint", "moves", "help") else answer


def _undone(history: list[Position], position: Position) -> Position:
    """The position before the person's unfinished turn or, between turns, before the last one."""
    if not history:
        console.print("There is nothing to take back.")
        return position
    return history.pop()


def _help(word: str, position: Position) -> None:
    if word == "hint":
        console.print(_hint(position), markup=False)
    elif word == "moves":
        console.print("legal: " + ", ".join(position.names()), markup=False)
    else:
        console.print(
            "a move by its name (`moves` lists them) · undo: take back your last move · hint: ask for advice · quit"
        )


def _hint(position: Position) -> str:
    """The game's own advice, and what a sensible agent would do."""
    game = position.game
    advise = adviser_of(game)
    said = [advice] if advise is not None and (advice := advise(position)) else []
    names = [word.partition(":")[0] for word in known(game)]
    word = next((word for word in (HINT, "greedy") if word.partition(":")[0] in names), "random")
    move = int(make(word, game).act(position.states.copy(), chance.seeds(0, 1))[0])
    return ". ".join([*said, f"{word} would play {position.name(move)}"])


def _ending(position: Position, side: int) -> str:
    how = f" ({position.reason})" if position.reason else ""
    if position.outcome == Outcome.DRAW:
        return f"A draw{how}."
    won = position.outcome == (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[side]
    return f"You win{how}!" if won else f"You lose{how}."
