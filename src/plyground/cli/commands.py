"""The commands that need no torch. Each imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional

import plyground as pg
from plyground.cli.cluster import On, cluster_at
from plyground.cli.ctrl_c import say_stopped, stop_at_once
from plyground.cli.doctor import doctor
from plyground.cli.grammar import (
    DEFAULT_GAME,
    NO_WORDS,
    GameOption,
    GameWord,
    Several,
    Words,
    game_first,
    hint,
    shown_as,
)
from plyground.cli.uci import uci
from plyground.errors import InvalidValue, command

if TYPE_CHECKING:
    from plyground.agents.agent import Agent

MANY = 1000  # more agents than any ladder has
NoPath = Annotated[Path | None, hint("PATH", "none")]


def games(
    words: Annotated[Words, shown_as("[GAME]")] = NO_WORDS, game: Annotated[str, hint("GAME", "list all")] = ""
) -> None:
    """List the games with their settings, encoders and agents; or explain one.

    Args:
        words: the game to explain
        game: the game to explain, if not given first
    """
    from plyground.cli import terminal
    from plyground.games import GAMES

    if words or game:
        terminal.show_game(pg.load(game_first(words, game, "games [GAME]")[0]))
    else:
        terminal.show_games([pg.load(each) for each in GAMES])


def perft(
    words: GameWord = NO_WORDS, *, depth: int, game: GameOption = "", position: str = "startpos", divide: bool = False
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


def match(
    words: Annotated[Words, shown_as("[GAME] A B")] = NO_WORDS,
    game: GameOption = "",
    games: Annotated[int | None, hint("INT", "100; with --sprt at most 10000")] = None,
    seed: int = 0,
    opening_plies: Annotated[int | None, hint("INT", "the game's own number")] = None,
    openings: Annotated[Path | None, hint("FILE", "random openings")] = None,
    sprt: Annotated[tuple[float, float] | None, hint("ELO ELO", "a fixed number of games")] = None,
    on: On = "",
    json: bool = False,
) -> None:
    """Play a match between two agents: random openings, each from both sides.

    Args:
        words: two agents: random, greedy, minimax:depth=3, ...
        games: number of games, in pairs
        seed: the same seed gives the same match
        opening_plies: random moves before the agents begin; with --openings, how many moves of each opening
        openings: a book: a .pgn file, or a text file with the moves of an opening, or a position, on each line
        sprt: play until it is clear whether A is nearer to the first or to the second Elo difference above B
        on: a Ray cluster to play on: ray (this machine), ray://HOST:PORT, or a file with an address
        json: print one JSON object instead
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


def solve(
    words: Annotated[Words, shown_as("[GAME] POSITION")] = NO_WORDS,
    game: GameOption = "",
    seconds: Annotated[float | None, hint("FLOAT", "no limit")] = None,
    json: bool = False,
) -> None:
    """Show the value of each move with perfect play, in a solved game.

    Args:
        words: the columns played so far, such as 4453, or a board
        seconds: give up after so many
        json: print one JSON object instead
    """
    from plyground.cli import terminal

    spec, rest = game_first(words, game, "solve [GAME] POSITION", 0, 1)
    rules = pg.load(spec)
    if rules.rules.solve is None:
        raise InvalidValue(f"there is no solver for {rules}; connect_four has one")
    start = rules.position(rest[0] if rest else "startpos")
    stop_at_once()
    if start.over:
        raise InvalidValue(f"the game is over ({start.outcome}) in {start.text!r}")
    if seconds is not None and not 0 < seconds < 1e9:
        raise InvalidValue(f"seconds is a positive number, not {seconds}")
    terminal.show_solved(start, rules.rules.solve(start, seconds), json)


def analyse(
    words: Annotated[Words, shown_as("[GAME]", "see `plyground games`")] = NO_WORDS,
    game: GameOption = "",
    *,
    position: str = "startpos",
    moves: Annotated[str, hint("MOVES", "none")] = "",
    file: Annotated[Path | None, hint("FILE", "none")] = None,
    number: int = 1,
    agent: Annotated[str, hint("SEARCH", "search")] = "search",
    sims: Annotated[int | None, hint("INT", "100000 by evaluate, else 10000; 400 with a network")] = None,
    time: Annotated[float | None, hint("FLOAT", "no limit")] = None,
    seed: int = 0,
    picture: NoPath = None,
    json: bool = False,
) -> None:
    """Analyse a position, or each move of a game (--moves, --file), by tree search.

    Args:
        position: the position, or where the moves begin, in the game's own text
        moves: a game as its moves: 4453, or 'e4 e5 Nf3'
        file: a game from a file: a PGN, or what `save FILE` has written in play
        number: which game of that file
        agent: the search: search:net=trained, search:run=DIR, search:leaf=random, ...
        sims: simulations for each position
        time: seconds for each position
        seed: the same seed gives the same analysis, unless time limits it
        picture: write the value over the plies of the game to this file (.png, .svg)
        json: print one JSON object instead
    """
    from plyground.cli import analyse as display
    from plyground.play.saved import read_file, read_moves

    spec, _ = game_first(words, game, "analyse [GAME]")
    _check_picture(picture)
    rules = pg.load(spec)
    start, actions = rules.position(position), list[int]()
    if moves and file:
        raise InvalidValue("analyse takes --moves or --file, not both")
    if moves or file:
        display.check_open(rules)
    if file:
        start, actions, _ = read_file(file, rules, number)
    elif moves:
        actions = read_moves(start, moves)
    if picture and not (moves or file):
        raise InvalidValue("the picture shows the values of a game: name one by --moves or --file")
    searcher = display.make_searcher(rules, agent, sims, time)
    if moves or file:
        display.analyse_game(searcher, start, actions, seed, json, picture)
    else:
        display.analyse_position(searcher, start, seed, json)


def grade(
    words: Annotated[Words, shown_as("[GAME] AGENT")] = NO_WORDS,
    game: GameOption = "",
    positions: Annotated[Path | None, hint("PATH", "made from the seed")] = None,
    number: int = 1000,
    games: int = 20,
    seed: int = 0,
    picture: NoPath = None,
    on: On = "",
    json: bool = False,
) -> None:
    """Grade an agent's moves and games with the perfect player of a solved game.

    Args:
        words: the agent: random, greedy, minimax:depth=3, ...
        positions: a file with a position at the start of each line
        number: number of positions to make
        games: games against the perfect player, in pairs; 0 for none
        seed: the same seed gives the same positions and games
        picture: write the worst mistakes to this file (.png, .svg)
        on: a Ray cluster on which the agent plays: ray (this machine), ray://HOST:PORT, or a file with an address
        json: print one JSON object instead
    """
    from plyground.arena.grade import read_positions
    from plyground.cli import terminal

    spec, (agent,) = game_first(words, game, "grade [GAME] AGENT", 1, 1)
    _check_picture(picture)
    rules = pg.load(spec)
    player = pg.agent(agent, rules)
    if not on:
        stop_at_once()
    given = number
    if positions:
        try:
            given = read_positions(rules, positions.read_text(encoding="utf-8"), str(positions))
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidValue(f"cannot read positions from {str(positions)!r}: {error}") from None
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


def ladder(
    words: Annotated[Words, shown_as("[GAME] A B ...")] = NO_WORDS,
    game: GameOption = "",
    games: int = 100,
    seed: int = 0,
    file: NoPath = None,
    picture: NoPath = None,
    on: On = "",
    json: bool = False,
) -> None:
    """Let every agent play every other, in pairs, and rate them all.

    Args:
        words: two agents or more: random greedy minimax:depth=3 ...
        games: games between each two agents, in pairs
        seed: the same seed gives the same ladder
        file: keep the results here; agents that are added later play only the missing matches
        picture: write the ratings to this file (.png, .svg)
        on: a Ray cluster to play on: ray (this machine), ray://HOST:PORT, or a file with an address
        json: print one JSON object instead
    """
    from plyground.arena.ladder import climb
    from plyground.cli import terminal
    from plyground.runs.files import check_writable

    spec, agents = game_first(words, game, "ladder [GAME] A B ...", 2, MANY)
    _check_picture(picture)
    if file:
        check_writable(file)
    kept = f"finished matches are in {file}" if file else "nothing was kept (--file would keep it)"
    rules = pg.load(spec)
    if not on and not any("learn=true" in each for each in agents):  # an agent that learns saves first
        stop_at_once(kept=kept)
    try:
        with cluster_at(on, kept, quiet=json) as cluster, terminal.progress(hide=json) as say:
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


def play(
    words: Annotated[Words, shown_as("[GAME] [AGENT]")] = NO_WORDS,
    game: GameOption = "",
    side: Annotated[Literal["first", "second"] | None, hint("first|second", "first, or that of the file")] = None,
    position: str = "startpos",
    load: Annotated[Path | None, hint("FILE", "a new game")] = None,
    number: int = 1,
    seed: Annotated[int | None, hint("INT", "the clock")] = None,
    explain: bool = False,
) -> None:
    """Play against an agent in the terminal.

    Args:
        words: the opponent: level:1 to level:10, greedy, minimax:depth=5, trained, ... (default: greedy)
        side: your side
        position: where to begin, in the game's own text
        load: go on with a game: what `save FILE` has written, a PGN, or a file in the folder games/ of a run
        number: which game of that file
        seed: seed of deals and of the agent's choices
        explain: before each of your moves, show what a tree search says of the best ones
    """
    from plyground.agents.agent import usual
    from plyground.cli.play import play as play_in_terminal
    from plyground.play.saved import SavedGame, game_of_file, read_file

    if load and position != "startpos":
        raise InvalidValue("play takes --load or --position, not both: a file has a position of its own")
    begun = time.time_ns() if seed is None else seed
    if load:
        spec, rest = game_first(words, game, "play [GAME] [AGENT]", 0, 1, default="")
        saved = read_file(load, _interpreted(spec or game_of_file(load)), number)
    else:
        spec, rest = game_first(words, game, "play [GAME] [AGENT]", 0, 1)
        saved = SavedGame(_interpreted(spec).position(position, begun), [], ("", ""))
    rules = saved.start.game
    opponent = rest[0] if rest else usual(rules)[-1]
    mine = ("first", "second").index(side) if side else int(saved.players[1] == "you")
    session = pg.Session(saved.start, None, opponent, mine, begun)
    session.replay(saved.actions)
    play_in_terminal(session, _maker(opponent, rules), explain, load)


def watch(
    words: Annotated[Words, shown_as("[GAME] A B, or [GAME] FILE")] = NO_WORDS,
    game: GameOption = "",
    speed: float = 1.0,
    step: bool = False,
    position: str = "startpos",
    number: int = 1,
    seed: Annotated[int | None, hint("INT", "the clock")] = None,
    save: Annotated[Path | None, hint("FILE", "none")] = None,
) -> None:
    """Watch two agents play, or a saved game: with pause, steps forward and back, and any speed.

    Args:
        words: two agents (default: greedy greedy); or a file: what `save FILE` has written in play, a PGN, or a file in
            the folder games/ of a run; or a run: its newest game
        speed: turns a second; the keys + and - change it
        step: begin paused: the arrow keys show turn after turn
        position: where agents begin, in the game's own text
        number: which game of the file
        seed: seed of deals and of the agents' choices
        save: write the game to this new file at the end; play --load FILE goes on with it
    """
    from plyground.agents.agent import usual
    from plyground.cli.watch import newest_games, show_agents, show_file
    from plyground.play.saved import game_of_file
    from plyground.runs.files import check_writable

    if not 0 < speed < 1e6:
        raise InvalidValue(f"speed is a positive number of turns a second, not {speed:g}")
    if save and save.exists():
        raise InvalidValue(f"{save} exists already: name another file")
    if save:
        check_writable(save)
    spec, rest = game_first(words, game, "watch [GAME] A B, or [GAME] FILE", 0, 2, default="")
    if len(rest) == 1:
        path = newest_games(rest[0]) if rest[0].startswith("run:") else Path(rest[0])
        if not path.exists() and spec:
            raise InvalidValue(
                f"{rest[0]} is no file; to watch agents, name two: {command('watch', spec, rest[0], 'random')}"
            )
        show_file(path, _interpreted(spec or game_of_file(path)), number, speed, step, save)
        return
    rules, begun = _interpreted(spec or DEFAULT_GAME), time.time_ns() if seed is None else seed
    a, b = rest or [usual(rules)[-1]] * 2
    makers = _maker(a, rules), _maker(b, rules)
    show_agents(rules.position(position, begun), (a, b), makers, begun, speed, step, save)


def prepare(
    words: Annotated[Words, shown_as("[GAME]")] = NO_WORDS, game: Annotated[str, hint("GAME", "all games")] = ""
) -> None:
    """Compile games once for this machine: rules, agents, hints and analyses. Nobody waits for them later.

    Args:
        words: the game, with its settings; without one, all games of `plyground games`
        game: the game, if not given first
    """
    from plyground.cli.prepare import prepare_games
    from plyground.games import GAMES

    named = [game_first(words, game, "prepare [GAME]")[0]] if words or game else list(GAMES)
    stop_at_once(kept="what was compiled is kept")
    prepare_games([pg.load(each) for each in named])


def _interpreted(spec: str | pg.Game) -> pg.Game:
    """A game whose first board waits for no compiler."""
    game = pg.load(spec)
    game.interpret()
    return game


def _maker(spec: str, game: pg.Game) -> Callable[[], Agent]:
    """What makes an agent. Only one with a network is made later, since torch takes seconds to import; a mistake in its
    spec is told at once."""
    if _needs_torch(spec, game):
        return lambda: pg.agent(spec, game)
    agent = pg.agent(spec, game)
    if not getattr(agent, "interruptible", False):  # else Ctrl-C ends a search: the best move so far is played
        stop_at_once(agent)
    return lambda: agent


def _needs_torch(spec: str, game: pg.Game) -> bool:
    """Whether a spec names a network that is there."""
    from plyground.agents.agent import known
    from plyground.runs.directory import find_checkpoint, game_of, read_config
    from plyground.specs import split_path

    if spec == "trained":
        return spec in known(game)
    path, options = split_path(spec.removeprefix("run:")) if spec.startswith("run:") else ("", {})
    if not path or read_config(Path(path)).get("learner") == "tabular":
        return False
    find_checkpoint(Path(path), options.get("checkpoint", "best"))
    game_of(Path(path), game)
    return options.keys() <= {"checkpoint"}


def serve(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int | None, hint("INT", "8421, or the next free one")] = None,
    open: bool = False,  # noqa: A002 (the option's name)
    game: Annotated[Several, hint("FILE ...", "none")] = NO_WORDS,
    agent: Annotated[Several, hint("SPEC ...", "none")] = NO_WORDS,
    runs: Path = Path("runs"),
    tables: Annotated[Path | None, hint("PATH", "the user's cache folder")] = None,
) -> None:
    """Play, watch, understand and learn in a browser: a page from a server on this machine.

    Args:
        host: the address to listen on; any but this machine's own needs the token that is printed
        port: the port
        open: open the page in a browser
        game: files of games of your own, to add to the list
        agent: agents to add to the opponents, such as minimax:time=2 or uci:PATH
        runs: where runs are
        tables: where games are kept
    """
    from plyground.cli.serve import run_server
    from plyground.web.store import default_folder

    run_server(host, port, open, game, agent, runs, tables or default_folder())


def bench(
    what: Positional[Literal["rules"]],
    words: GameWord = NO_WORDS,
    game: GameOption = "",
    encoder: Annotated[str | None, hint("NAME", "the game's first")] = None,
    batch: int = 4096,
    seconds: float = 2.0,
    json: bool = False,
) -> None:
    """Measure the speed of the rules: random moves, with the legal mask and an observation written at each ply.

    Args:
        what: what to measure
        encoder: the observation
        batch: games of one thread
        seconds: time to measure, about
        json: print one JSON object instead
    """
    from plyground.checks.speed import measure_rules
    from plyground.cli import terminal

    spec, _ = game_first(words, game, f"bench {what} [GAME]")
    if batch < 1 or not 0.01 <= seconds <= 600:
        raise InvalidValue(f"bench takes a batch of at least 1 (not {batch}) and 0.01 to 600 seconds (not {seconds})")
    stop_at_once()
    terminal.show_speed(measure_rules(pg.load(spec), encoder, batch, seconds), json)


def check(
    words: Annotated[Words, shown_as("GAME")] = NO_WORDS, game: GameOption = "", games: int = 64, seed: int = 0
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
    if "numba" not in sys.modules:
        os.environ["NUMBA_BOUNDSCHECK"] = "1"  # a write beyond an array is then an error, not a crash
    from plyground.checks.allocations import allocations
    from plyground.checks.laws import check as laws_of
    from plyground.checks.passed import remember
    from plyground.checks.portrait import portray

    stop_at_once()
    rules, kept = pg.load(spec), 0
    for law, defined in laws_of(rules, games, seed):
        print(f"✓ {law}" if defined else f"- {law} (not defined)")
        kept += defined
    if rules.path:
        remember(Path(rules.path))
    print(f"{rules} keeps all {kept} laws that concern it, as far as {games} random games can tell.")
    if not rules.encoders:
        print("It has no ENCODERS: networks cannot learn it before it defines one.")
    portrait = portray(rules, seed=seed)
    print("\nA portrait of random play:", *portrait.sentences(), sep="\n* ")
    for warning in (*portrait.warnings, *(allocations(rules) if rules.path else [])):
        print(f"! {warning}")


def profiles(words: Annotated[Words, shown_as("[PROFILE]")] = NO_WORDS) -> None:
    """List the profiles of `train` with their durations, or show the settings of one.

    Args:
        words: the profile to show
    """
    from plyground.cli.settings import profile_rows, show_profile
    from plyground.cli.terminal import say, show_rows

    if words:
        say("\n".join(show_profile(words[0])))
        return
    show_rows(("profile", "learner", "game", "takes"), profile_rows())
    say(f"Train with one: {command('train', '--profile', 'connect_four_demo')}")
    say(f"Its settings beside the defaults: {command('profiles', 'connect_four_demo')}")


def _check_picture(picture: Path | None) -> None:
    if picture:
        from plyground.report.figures import check_picture

        check_picture(picture)


PEOPLE, MEASURES = (games, play, watch, serve, analyse, solve), (match, ladder, grade, perft, bench, check)
COMMANDS = {each.__name__: each for each in (*PEOPLE, *MEASURES, prepare, uci, doctor, profiles)}
