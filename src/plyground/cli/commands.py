"""The commands that need no torch. Each imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from plyground.cli.ctrl_c import say_stopped, stop_at_once
from plyground.errors import InvalidValue


def _otherwise(metavar: str, what: str) -> object:
    """How an option is shown that need not be given, and what happens then."""
    return arg(metavar=metavar, help_behavior_hint=f"(default: {what})")


GameWord = Annotated[
    str, arg(metavar="GAME", help="a game's name, with settings as name:key=value, or a path to its .py file")
]


def games(name: Positional[Annotated[str, arg(metavar="NAME")]] = "") -> None:
    """List the games, with their settings, encoders and agents; or say more about one.

    Args:
        name: the game to explain, also a .py file
    """
    from plyground.cli import terminal
    from plyground.game import load
    from plyground.games import GAMES

    if name:
        terminal.show_game(load(name))
    else:
        terminal.show_games([load(each) for each in GAMES])


def perft(game: Positional[GameWord], depth: int, position: str = "startpos", divide: bool = False) -> None:
    """Count the sequences of DEPTH moves: the classic test of a move generator.

    Args:
        game: see `plyground games`
        depth: how many moves
        position: where to begin, in the game's own text
        divide: one line for each first move
    """
    from plyground.game import load

    start = load(game).position(position)
    stop_at_once()
    start.perft(min(depth, 1))  # the compiler's time is not the rules'
    begun = time.process_time()
    if divide:
        counts = start.divide(depth)
        print("\n".join(f"{name}: {count}" for name, count in counts.items()))
        print(f"\nNodes searched: {sum(counts.values())}")
    else:
        print(f"depth {depth}: {start.perft(depth)}")
    print(f"{time.process_time() - begun:.3f} s of CPU", file=sys.stderr)


def match(
    a: Positional[Annotated[str, arg(metavar="A", help="an agent: random, greedy, punisher, minimax:depth=3, ...")]],
    b: Positional[Annotated[str, arg(metavar="B", help="its opponent")]],
    game: GameWord = "connect_four",
    games: Annotated[int | None, _otherwise("INT", "100; with --sprt at most 10000")] = None,
    seed: int = 0,
    opening_plies: Annotated[int | None, _otherwise("INT", "what suits the game")] = None,
    sprt: Annotated[tuple[float, float] | None, _otherwise("ELO ELO", "a fixed number of games")] = None,
    json: bool = False,
) -> None:
    """Let agents A and B play each other: random openings, each from both sides.

    Args:
        games: how many, in pairs
        seed: the same seed gives the same match
        opening_plies: random moves before the agents begin
        sprt: play until it is clear whether A is nearer to the first or to the second Elo difference above B
        json: print one JSON object instead
    """
    from plyground.agents.agent import make
    from plyground.arena.match import play_match, play_until_decided
    from plyground.arena.sprt import Sprt
    from plyground.cli import terminal
    from plyground.game import load

    rules = load(game)
    agents = make(a, rules), make(b, rules)
    stop_at_once(*agents)
    most = (10_000 if sprt else 100) if games is None else games
    with terminal.progress(most, f"{a} against {b}", hide=json) as advance:
        if sprt:
            test = Sprt(*sprt)
            result, verdict = play_until_decided(rules, *agents, test, most, seed, opening_plies, advance)
        else:
            test = verdict = None
            result = play_match(rules, *agents, most, seed, opening_plies, advance)
    terminal.show_match(result, a, b, rules, json, test, verdict)


def solve(
    position: Positional[str] = "startpos",
    seconds: Annotated[float | None, _otherwise("FLOAT", "never")] = None,
    json: bool = False,
) -> None:
    """Say what each column of a Connect Four position is worth with perfect play.

    Args:
        position: the columns played so far, such as 4453, or a board
        seconds: give up after so long
        json: print one JSON object instead
    """
    from plyground.cli import reports
    from plyground.game import load
    from plyground.games.connect_four.solver.solver import perfect

    start = load("connect_four").position(position)
    stop_at_once()
    if start.over:
        raise InvalidValue(f"the game is over ({start.outcome}) in {start.text!r}")
    if seconds is not None and not 0 < seconds < 1e9:
        raise InvalidValue(f"seconds is a positive number, not {seconds}")
    reports.show_solved(start, perfect().move_scores(start.states, seconds)[0], json)


def grade(
    agent: Positional[str],
    game: GameWord = "connect_four",
    positions: Annotated[Path | None, _otherwise("PATH", "made from the seed")] = None,
    number: int = 1000,
    games: int = 20,
    seed: int = 0,
    picture: Annotated[Path | None, _otherwise("PATH", "none")] = None,
    json: bool = False,
) -> None:
    """Report how well AGENT plays, measured with the perfect player.

    Args:
        agent: random, greedy, punisher, minimax:depth=3, ...
        positions: a file with a position at the start of each line
        number: how many positions to make
        games: games against the perfect player, in pairs; 0 for none
        seed: the same seed gives the same positions and games
        picture: write the worst mistakes to this file (.png, .svg)
        json: print one JSON object instead
    """
    from plyground.agents.agent import make
    from plyground.cli import reports, terminal
    from plyground.game import load
    from plyground.games.connect_four import grade as grades
    from plyground.games.connect_four.positions import read

    _check_picture(picture)
    rules = load(game)
    player = make(agent, rules)
    stop_at_once()
    given = number
    if positions:
        try:
            given = read(rules, positions.read_text(encoding="utf-8"), str(positions))
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidValue(f"cannot read positions from {str(positions)!r}: {error}") from None
    with terminal.progress(games, f"{agent} against the perfect player", hide=json or not games) as advance:
        report = grades.grade(rules, player, given, seed, games, progress=advance)
    reports.show_grade(report, agent, json)
    if picture:
        from plyground.report.pictures import save_mistakes

        save_mistakes(picture, agent, report.mistakes)
        print(f"wrote {picture}", file=sys.stderr)


def ladder(
    agents: Positional[tuple[str, ...]],
    game: GameWord = "connect_four",
    games: int = 100,
    seed: int = 0,
    file: Annotated[Path | None, _otherwise("PATH", "none")] = None,
    picture: Annotated[Path | None, _otherwise("PATH", "none")] = None,
    json: bool = False,
) -> None:
    """Let every agent play every other, in pairs, and rate them all.

    Args:
        agents: two or more: random greedy minimax:depth=3 ...
        games: for each two of them, in pairs
        seed: the same seed gives the same ladder
        file: where results are kept: agents that are added later play only what is missing
        picture: write the ratings to this file (.png, .svg)
        json: print one JSON object instead
    """
    from plyground.arena.ladder import climb
    from plyground.cli import reports, terminal
    from plyground.game import load
    from plyground.runs.files import check_writable

    _check_picture(picture)
    if file:
        check_writable(file)
    kept = f"matches that were finished are in {file}" if file else "nothing was kept, which --file would do"
    rules = load(game)
    if not any("learn=true" in word for word in agents):  # who learns saves what it has learned
        stop_at_once(kept=kept)
    try:
        with terminal.steps(hide=json) as say:
            result = climb(rules, agents, games, seed, file, say)
    except KeyboardInterrupt:
        say_stopped(kept)
        sys.exit(130)
    reports.show_ladder(result, json)
    if picture:
        from plyground.report.pictures import save_ladder

        save_ladder(picture, result)
    for written in (file, picture):
        if written:
            print(f"wrote {written}", file=sys.stderr)


def play(
    game: Positional[GameWord] = "connect_four",
    against: Annotated[str | None, _otherwise("AGENT", "greedy where the game has it, else random")] = None,
    side: Literal["first", "second"] = "first",
    position: str = "startpos",
    seed: Annotated[int | None, _otherwise("INT", "the clock")] = None,
) -> None:
    """Play against an agent in the terminal.

    Args:
        against: the agent: random, greedy, minimax:depth=5, trained, ...
        side: which side you take
        position: where to begin, in the game's own text
        seed: what the agent's chance begins with
    """
    from plyground.agents.agent import make, usual
    from plyground.cli import play as playing
    from plyground.game import load

    rules = load(game)
    begun, opponent = time.time_ns() if seed is None else seed, against or usual(rules)[-1]
    start, agent = rules.position(position, begun), make(opponent, rules)
    stop_at_once(agent)
    playing.play(start, agent, opponent, 0 if side == "first" else 1, begun)


def bench(
    what: Positional[Literal["rules"]],
    game: GameWord = "connect_four",
    encoder: Annotated[str | None, _otherwise("NAME", "the game's first")] = None,
    batch: int = 4096,
    seconds: float = 2.0,
    json: bool = False,
) -> None:
    """Measure how fast the rules play: random moves, with the legal mask and an observation written at each ply.

    Args:
        what: what to measure
        encoder: the observation
        batch: games a thread plays side by side
        seconds: how long to measure, about
        json: print one JSON object instead
    """
    from plyground.checks.speed import measure_rules
    from plyground.cli import terminal
    from plyground.game import load

    if batch < 1 or not 0.01 <= seconds <= 600:
        raise InvalidValue(f"bench takes a batch of at least 1 (not {batch}) and 0.01 to 600 seconds (not {seconds})")
    stop_at_once()
    terminal.show_speed(measure_rules(load(game), encoder, batch, seconds), json)


def check(game: Positional[GameWord], games: int = 64, seed: int = 0) -> None:
    """Check that a game keeps the laws of the contract: for people who add their own.

    Args:
        games: random games to check it on
        seed: what their chance begins with
    """
    if "numba" not in sys.modules:
        os.environ["NUMBA_BOUNDSCHECK"] = "1"  # a write beyond an array is then an error, not a crash
    from plyground.checks.laws import check as laws_of
    from plyground.game import load

    rules, kept = load(game), 0
    for law, defined in laws_of(rules, games, seed):
        print(f"✓ {law}" if defined else f"- {law} (not defined)")
        kept += defined
    print(f"{rules} keeps all {kept} laws that concern it, as far as {games} random games can tell.")
    if not rules.encoders:
        print("It has no ENCODERS: networks cannot learn it before it brings one.")


def _check_picture(picture: Path | None) -> None:
    if picture:
        from plyground.report.figures import check_picture

        check_picture(picture)


COMMANDS = {command.__name__: command for command in (games, perft, match, play, solve, grade, ladder, bench, check)}
