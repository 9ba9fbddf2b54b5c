"""The commands that measure agents and games. Each imports what it needs when it runs."""

from __future__ import annotations

import functools
import os
import signal
import sys
import textwrap
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import plyground as pg
from plyground.cli.cluster import cluster_at
from plyground.cli.ctrl_c import interruptible, say_stopped, stop_at_once
from plyground.cli.parser import Json, On, Picture, Shown, Words
from plyground.cli.words import GameOption, GameWord, OtherGame, check_picture, game_first
from plyground.errors import InvalidValue, command, counted, shorten, unknown

MANY = 1000  # more agents than any ladder has


def match(
    words: Annotated[Words, Shown("[GAME] A B")] = (),
    game: GameOption = "",
    games: Annotated[int | None, Shown("INT", "100; with --sprt at most 10000")] = None,
    seed: int = 0,
    opening_plies: Annotated[int | None, Shown("INT", "the game's own number")] = None,
    openings: Annotated[Path | None, Shown("FILE", "random openings")] = None,
    sprt: Annotated[tuple[float, float] | None, Shown("ELO ELO", "a fixed number of games")] = None,
    on: On = "",
    json: Json = False,
) -> None:
    """Play a match between two agents: random openings, each from both sides.

    Args:
        words: two agents: random, greedy, minimax:depth=3, ...
        games: number of games, in pairs
        seed: the same seed gives the same match
        opening_plies: random moves before the agents begin; with --openings, how many moves of each opening
        openings: a book: a .pgn file, or a text file with the moves of an opening, or a position, on each line
        sprt: play until it is clear whether A is nearer to the first or to the second Elo difference above B
    """
    from plyground.arena.match import play_match, play_until_decided
    from plyground.arena.openings import read_openings
    from plyground.arena.rating import Sprt
    from plyground.cli import terminal

    spec, (a, b) = game_first(words, game, "match [GAME] A B", 2, 2)
    rules = pg.load(spec)
    agents = pg.agent(a, rules), pg.agent(b, rules)
    book = read_openings(openings, rules, opening_plies or 0) if openings else None
    if not on:
        stop_at_once(*agents)
    most, test, verdict = (10_000 if sprt else 100) if games is None else games, Sprt(*sprt) if sprt else None, None
    with cluster_at(on, quiet=json) as cluster, terminal.progress(most, f"{a} against {b}", hide=json) as advance:
        if cluster:
            from plyground.cluster import tasks

            pairing = tasks.Pairing(a, b, most, seed, opening_plies)
            result, verdict = tasks.play_match_or_test(cluster, rules, pairing, test, advance, book)
        elif test:
            result, verdict = play_until_decided(rules, *agents, test, most, seed, opening_plies, advance, book)
        else:
            result = play_match(rules, *agents, most, seed, opening_plies, advance, book=book)
    terminal.show_match(result, a, b, rules, json, test, verdict)


def ladder(
    words: Annotated[Words, Shown("[GAME] A B ...")] = (),
    game: GameOption = "",
    games: int = 100,
    seed: int = 0,
    file: Picture = None,
    picture: Picture = None,
    on: On = "",
    json: Json = False,
) -> None:
    """Let every agent play every other, in pairs, and rate them all.

    Args:
        words: two agents or more: random greedy minimax:depth=3 ...
        games: games between each two agents, in pairs
        seed: the same seed gives the same ladder
        file: keep the results here; agents that are added later play only the missing matches
        picture: write the ratings to this file (.png, .svg)
    """
    from plyground.arena.ladder import climb
    from plyground.cli import terminal
    from plyground.runs.files import check_writable

    spec, agents = game_first(words, game, "ladder [GAME] A B ...", 2, MANY)
    check_picture(picture)
    if file:
        check_writable(file)
    kept = f"finished matches are in {file}" if file else "nothing was kept (--file would keep it)"
    rules = pg.load(spec)
    learns = any("learn=true" in each for each in agents)  # it saves first
    if not on and not learns:
        stop_at_once(kept=kept)
    try:
        with (
            interruptible(signal.SIGTERM) if learns else nullcontext(),
            cluster_at(on, kept, quiet=json) as cluster,
            terminal.progress(hide=json) as say,
        ):
            play = None
            if cluster:
                from plyground.cluster.tasks import play_ladder

                play = functools.partial(play_ladder, cluster)
            result = climb(rules, agents, games, seed, file, say, play)
    except KeyboardInterrupt:
        say_stopped(kept)
        sys.exit(130)
    terminal.show_ladder(result, json)
    if picture:
        from plyground.report.pictures import save_ladder

        save_ladder(picture, result)
    for written in (file, picture):
        if written:
            print(f"wrote {written}", file=sys.stderr)


def grade(
    words: Annotated[Words, Shown("[GAME] AGENT")] = (),
    game: GameOption = "",
    positions: Annotated[str, Shown("INT|FILE", "1000")] = "1000",
    games: int = 20,
    seed: int = 0,
    picture: Picture = None,
    on: On = "",
    json: Json = False,
) -> None:
    """Grade an agent's moves and games with the perfect player of a solved game.

    Args:
        words: the agent: random, greedy, minimax:depth=3, ...
        positions: how many to make from the seed; or a file with a position at the start of each line
        games: games against the perfect player, in pairs; 0 for none
        seed: the same seed gives the same positions and games
        picture: write the worst mistakes to this file (.png, .svg)
    """
    from plyground.arena.grade import read_positions
    from plyground.cli import terminal

    spec, (agent,) = game_first(words, game, "grade [GAME] AGENT", 1, 1)
    check_picture(picture)
    rules = pg.load(spec)
    player = pg.agent(agent, rules)
    if not on:
        stop_at_once()
    if positions.isdecimal():
        given = int(positions)
    else:
        try:
            given = read_positions(rules, Path(positions).read_text(encoding="utf-8"), positions)
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidValue(
                f"positions is a number or a file; cannot read {shorten(positions)!r}: {error}"
            ) from None
    title = f"{agent} against the perfect player"
    with cluster_at(on, quiet=json) as cluster, terminal.progress(games, title, hide=json or not games) as advance:
        if cluster:
            from plyground.cluster import tasks

            report = tasks.grade(cluster, rules, agent, given, games, seed, advance)
        else:
            report = pg.grade(rules, player, given, games, seed, advance)
    terminal.show_grade(report, agent, json)
    if picture:
        from plyground.report.pictures import save_mistakes

        save_mistakes(picture, agent, report.mistakes)
        print(f"wrote {picture}", file=sys.stderr)


def perft(
    words: GameWord = (), *, depth: int, game: GameOption = "", position: str = "startpos", divide: bool = False
) -> None:
    """Count the sequences of DEPTH moves: the usual test of a move generator.

    Args:
        depth: number of moves
        position: where to begin, in the game's own text
        divide: one line for each first move
    """

    start = pg.load(game_first(words, game, "perft [GAME]")[0]).position(position)
    stop_at_once()
    start.perft(min(depth, 1))  # compile before the clock starts
    begun = time.process_time()
    if divide:
        counts = start.divide(depth)
        print("\n".join(f"{name}: {count}" for name, count in counts.items()))
        print(f"\nNodes searched: {sum(counts.values())}")
    else:
        print(f"depth {depth}: {start.perft(depth)}")
    print(f"{time.process_time() - begun:.3f} s of CPU", file=sys.stderr)


def bench(
    words: Annotated[Words, Shown("rules [GAME]")] = (),
    game: GameOption = "",
    encoder: Annotated[str | None, Shown("NAME", "the game's first")] = None,
    batch: int = 4096,
    seconds: float = 2.0,
    json: Json = False,
) -> None:
    """Measure the speed of the rules: random moves, with masks and observations at each ply.

    Args:
        words: what to measure, and of which game
        encoder: the observation
        batch: games of one thread
        seconds: time to measure, about
    """
    from plyground.checks.speed import measure_rules
    from plyground.cli import terminal

    if words[:1] != ("rules",):
        raise unknown("measurement of bench", " ".join(words[:1]), ("rules",))
    spec, _ = game_first(words[1:], game, "bench rules [GAME]")
    if batch < 1 or not 0.01 <= seconds <= 600:
        raise InvalidValue(f"bench takes a batch of at least 1 (not {batch}) and 0.01 to 600 seconds (not {seconds})")
    stop_at_once()
    terminal.show_speed(measure_rules(pg.load(spec), encoder, batch, seconds), json)


def check(
    words: Annotated[Words, Shown("GAME")] = (),
    game: OtherGame = "",
    games: int = 64,
    seed: int = 0,
) -> None:
    """Check that a game keeps the laws of the contract: for people who add their own.

    Args:
        words: a name, or a path to your .py file
        games: random games to check it on
        seed: seed of these games
    """
    spec, _ = game_first(words, game, "check GAME")
    if not words and not game:
        raise InvalidValue(f"check needs a game: {command('check', 'my_game.py')}")
    if games < 1:
        raise InvalidValue(f"--games is the number of random games, at least 1, not {games}")
    if "numba" not in sys.modules:
        os.environ["NUMBA_BOUNDSCHECK"] = "1"  # a write beyond an array is then an error, not a crash
    from plyground.checks.allocations import allocations
    from plyground.checks.laws import compiled_sample, run_laws
    from plyground.checks.names import misspelt, undefined
    from plyground.checks.passed_files import remember
    from plyground.checks.portrait import portray

    stop_at_once()
    rules, kept = pg.load(spec), 0
    samples = compiled_sample(rules, games, seed)
    for law, defined in run_laws(samples):
        print(f"✓ {law}" if defined else f"- {law} (not defined)")
        kept += defined
    if rules.path:
        remember(Path(rules.path))
    print(f"{rules} keeps all {kept} laws that concern it, as far as {counted(games, 'random game')} can tell.")
    print(f"In their states {samples.seen:,} of {counted(rules.num_actions, 'action')} were legal, and were looked at.")
    print(textwrap.fill(f"Not defined, all optional: {', '.join(undefined(rules)) or 'none'}.", 120))
    if not rules.encoders:
        print("It has no ENCODERS: networks cannot learn it before it defines one.")
    portrait = portray(rules, seed=seed)
    print("\nA portrait of random play:", *portrait.sentences(), sep="\n* ")
    for warning in (*misspelt(rules), *portrait.warnings, *(allocations(rules) if rules.path else [])):
        print(f"! {warning}")
