"""The commands by which people play, watch and ask. Each imports what it needs when it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import plyground as pg
from plyground.cli.ctrl_c import interruptible, stop_at_once
from plyground.cli.parser import Json, Picture, Shown, Words
from plyground.cli.words import (
    DEFAULT_GAME,
    GameOption,
    OtherGame,
    check_picture,
    game_first,
    is_game,
    is_saved_game,
    saved_game,
)
from plyground.errors import InvalidValue, check_installed, command, unknown

if TYPE_CHECKING:
    from plyground.agents.agent import Agent


def games(words: Annotated[Words, Shown("[GAME]")] = (), game: OtherGame = "") -> None:
    """List the games with their settings, encoders and agents; or explain one.

    Args:
        words: the game to explain
    """
    from plyground.cli import terminal
    from plyground.games import GAMES

    if words or game:
        terminal.show_game(pg.load(game_first(words, game, "games [GAME]")[0]))
    else:
        terminal.show_games([pg.load(each) for each in GAMES])


def play(
    words: Annotated[Words, Shown("[GAME] [AGENT]")] = (),
    game: GameOption = "",
    side: Annotated[str, Shown("SIDE", "first, or that of the file")] = "",
    position: str = "startpos",
    load: Annotated[Path | None, Shown("FILE", "a new game")] = None,
    number: int = 1,
    seed: Annotated[int | None, Shown("INT", "the clock")] = None,
    explain: bool = False,
) -> None:
    """Play against an agent in the terminal.

    Args:
        words: the opponent: level:1 to level:10, greedy, minimax:depth=5, trained, ... (default: greedy)
        side: your side: first or second, or as the game names it, such as black
        position: where to begin, in the game's own text
        load: go on with a game: what `save FILE` has written, a PGN, or a file in the folder games/ of a run
        number: which game of that file
        seed: seed of deals and of the agent's choices
        explain: before each of your moves, show what a tree search says of the best ones
    """
    from plyground.cli.play import play as play_in_terminal
    from plyground.play.saved import SavedGame, game_of_file, read_file

    load, others = saved_game(words, load)
    if load and position != "startpos":
        raise InvalidValue("play takes --load or --position, not both: a file has a position of its own")
    begun = time.time_ns() if seed is None else seed
    spec, rest = game_first(others, game, "play [GAME] [AGENT]", 0, 1, default="")
    if load:
        saved = read_file(load, _interpreted(spec or game_of_file(load, "play", "--load")), number)
    else:
        saved = SavedGame(_interpreted(spec or game_of(position)).position(position, begun), [], ("", ""))
    rules = saved.start.game
    mine = side_of(rules, side) if side else int(saved.players[1] == "you")
    opponent, maker = (rest[0], _maker(rest[0], rules)) if rest else _opponent(saved.players[1 - mine], rules)
    session = pg.Session(saved.start, None, opponent, mine, begun)
    session.replay(saved.actions, saved.outcome, saved.redraws)
    play_in_terminal(session, maker, explain, load)


def _opponent(named: str, rules: pg.Game) -> tuple[str, Callable[[], Agent]]:
    """The opponent that a loaded game names. Where that is no agent, or where a file from somewhere would start a
    program or write to a run: the usual one, and a line that says so."""
    from plyground.agents.registry import usual
    from plyground.cli.terminal import say
    from plyground.runs.trust import programs_of

    spec = usual(rules)[-1]
    if named not in ("", "?", "you") and not programs_of({"opponent": named}) and "learn=" not in named:
        with suppress(pg.Error):
            return named, _maker(named, rules)
    if named not in ("", "?", "you", spec):
        say(f"The file names {named} as your opponent; here it is {spec}, unless you name another after the file.")
    return spec, _maker(spec, rules)


SIDES = (("first", "1", "white", "x", "red"), ("second", "2", "black", "o", "yellow"))


def side_of(game: pg.Game, word: str) -> int:
    """The side that a person means: by the game's own name for it, by its first letters, or as first or second."""
    low, own = word.casefold(), game.rules.SIDES
    named = [side for side, name in enumerate(own) if name.casefold().startswith(low)]
    found = named if len(named) == 1 else [side for side, names in enumerate(SIDES) if low in names]
    if not found:
        raise unknown(f"side of {game}", word, dict.fromkeys(("first", "second", *own)))
    return found[0]


def watch(
    words: Annotated[Words, Shown("[GAME] A B, or [GAME] FILE")] = (),
    game: GameOption = "",
    speed: float = 1.0,
    step: bool = False,
    position: str = "startpos",
    number: int = 1,
    seed: Annotated[int | None, Shown("INT", "the clock")] = None,
    save: Annotated[Path | None, Shown("FILE", "none")] = None,
) -> None:
    """Watch two agents play, or a saved game, with pause, steps and any speed.

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
    from plyground.agents.registry import usual
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
        if not path.exists() and not is_saved_game(rest[0]):
            how = command("watch", spec or DEFAULT_GAME, rest[0], "random")
            raise InvalidValue(f"{rest[0]} is no file; to watch agents, name two: {how}")
        show_file(path, _interpreted(spec or game_of_file(path, "watch")), number, speed, step, save)
        return
    if files := [word for word in rest if is_saved_game(word)]:
        raise InvalidValue(
            f"a saved game is watched by itself: {command('watch', *([spec] if spec else []), files[0])}"
        )
    rules, begun = _interpreted(spec or game_of(position)), time.time_ns() if seed is None else seed
    a, b = rest or [usual(rules)[-1]] * 2
    makers = _maker(a, rules), _maker(b, rules)
    show_agents(rules.position(position, begun), (a, b), makers, begun, speed, step, save)


def prepare(words: Annotated[Words, Shown("[GAME]")] = (), game: OtherGame = "") -> None:
    """Compile games once for this machine, so that nobody waits for them later.

    Args:
        words: the game, with its settings; without one, all games of `plyground games`
    """
    import logging

    from plyground.cli.terminal import progress, say
    from plyground.games import GAMES
    from plyground.play import preparation

    named = [game_first(words, game, "prepare [GAME]")[0]] if words or game else list(GAMES)
    stop_at_once(kept="what was compiled is kept")
    begun = time.perf_counter()
    if sys.stderr.isatty():
        logging.getLogger("plyground").setLevel(logging.WARNING)  # the bar tells what compiles
    for rules in [pg.load(each) for each in named]:
        started, missing = time.perf_counter(), list[str]()
        steps = preparation.of_game(rules)
        with progress(len(steps), f"{rules}") as advance:
            for number, (part, step) in enumerate(steps.items()):
                advance(number, title=f"{rules}: {part}")
                try:
                    step()
                except (pg.Error, ModuleNotFoundError) as error:  # such as an agent without torch
                    missing.append(f"{part} ({error})")
        without = f"; without {', '.join(missing)}" if missing else ""
        say(f"{rules}: {len(steps)} parts in {time.perf_counter() - started:.1f} s{without}")
    if len(named) > 1:
        say(f"All games are compiled, in {time.perf_counter() - begun:.0f} s. They start at once from now on.")


def game_of(position: str, moves: str = "", default: str = DEFAULT_GAME) -> str:
    """The first game that reads a position, and in which the first of some moves is legal there: chess for a FEN."""
    from plyground.games import GAMES
    from plyground.play.saved import NUMBER, read_moves

    for name in GAMES:
        with suppress(pg.Error):
            start = _interpreted(name).position(position)
            if first := NUMBER.sub(" ", moves).split()[:1]:
                read_moves(start, first[0])
            return name
    return default


def _interpreted(spec: str | pg.Game) -> pg.Game:
    """A game whose first board waits for no compiler."""
    game = pg.load(spec)
    game.interpret()
    return game


def _maker(spec: str, game: pg.Game) -> Callable[[], Agent]:
    """What makes an agent. Only one with a network is made later, since torch takes seconds to import; a mistake in its
    spec is told at once."""
    from plyground.agents.agent import stoppable
    from plyground.agents.registry import known
    from plyground.models.model import kind_of
    from plyground.runs.directory import find_checkpoint, game_of, read_config
    from plyground.specs import split_path

    path, options = split_path(spec.removeprefix("run:")) if spec.startswith("run:") else ("", {})
    has_network = spec == "trained" and spec in known(game)
    if path and kind_of(read_config(Path(path))) == "network":
        find_checkpoint(Path(path), options.get("checkpoint", "best"))
        game_of(Path(path), game)
        has_network = options.keys() <= {"checkpoint"}
    if has_network:
        check_installed("torch")
        return lambda: pg.agent(spec, game)
    agent = pg.agent(spec, game)
    if not stoppable(agent):  # else Ctrl-C ends a search: the best move so far is played
        stop_at_once(agent)
    return lambda: agent


def serve(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int | None, Shown("INT", "8421, or the next free one")] = None,
    open: bool = False,  # noqa: A002 (the option's name)
    game: Annotated[Words, Shown("FILE ...", "none")] = (),
    agent: Annotated[Words, Shown("SPEC ...", "none")] = (),
    runs: Path = Path("runs"),
    tables: Annotated[Path | None, Shown("PATH", "the user's cache folder")] = None,
) -> None:
    """Play, watch, understand and learn in a browser: a page from a server on this machine.

    Args:
        host: the address to listen on; whoever opens it needs the token that is printed
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


def analyse(
    words: Annotated[Words, Shown("[GAME] [FILE]")] = (),
    game: GameOption = "",
    *,
    position: str = "startpos",
    moves: Annotated[str, Shown("MOVES", "none")] = "",
    file: Annotated[Path | None, Shown("FILE", "none")] = None,
    number: int = 1,
    agent: Annotated[str, Shown("SEARCH", "minimax in chess and paco_sako, else search")] = "",
    sims: Annotated[int | None, Shown("INT", "by game; 400 with a network")] = None,
    time: Annotated[float | None, Shown("FLOAT", "no limit")] = None,
    seed: int = 0,
    picture: Picture = None,
    json: Json = False,
) -> None:
    """Analyse a position, or each move of a game (--moves, --file), by a search.

    Args:
        words: see `plyground games`; a file may tell its game itself
        position: the position, or where the moves begin, in the game's own text
        moves: a game as its moves: 4453, or 'e4 e5 Nf3'
        file: a game from a file: a PGN, or what `save FILE` has written in play
        number: which game of that file
        agent: the search: minimax, search, search:model=trained, search:model=DIR, ...
        sims: simulations of a tree search for each position
        time: seconds for each position
        seed: the same seed gives the same analysis by tree search, unless time limits it
        picture: write the value over the plies of the game to this file (.png, .svg)
    """
    from plyground.cli import analyse as display
    from plyground.play.saved import SavedGame, game_of_file, read_file, read_moves

    file, others = saved_game(words, file)
    if moves and file:
        raise InvalidValue("analyse takes --moves or --file, not both")
    others.sort(key=is_game, reverse=True)
    spec, rest = game_first(others, game, "analyse [GAME] [FILE]", 0, 1, default="")
    if rest:
        as_moves = command("analyse", spec or game_of("startpos", rest[0]), "--moves", rest[0])
        as_position = command("analyse", spec or game_of(rest[0]), "--position", rest[0])
        raise InvalidValue(f"{rest[0]!r} is no file; the moves of a game: {as_moves}; a position: {as_position}")
    check_picture(picture)
    rules = pg.load(spec or (game_of_file(file, "analyse") if file else game_of(position, moves, game_of(position))))
    if not (moves or file):
        rules.interpret()
    start = rules.position(position)
    saved = SavedGame(start, [], ("", ""))
    if moves or file:
        display.check_open(rules)
    if file:
        saved = read_file(file, rules, number, openly=True)
    elif moves:
        saved = SavedGame(start, read_moves(start, moves), ("", ""))
    if picture and not (moves or file):
        raise InvalidValue("the picture shows the values of a game: name one by --moves or --file")
    searcher = display.make_analyst(rules, agent, sims, time)
    if moves or file:
        display.analyse_game(searcher, saved, seed, json, picture)
    else:
        display.analyse_position(searcher, start, seed, json)


def solve(
    words: Annotated[Words, Shown("[GAME] POSITION")] = (),
    game: GameOption = "",
    seconds: Annotated[float | None, Shown("FLOAT", "no limit")] = None,
    json: Json = False,
) -> None:
    """Show the value of each move with perfect play, in a solved game.

    Args:
        words: the columns played so far, such as 4453, or a board
        seconds: give up after so many
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


def uci(
    agent: Annotated[str, Shown("AGENT", "the strongest: alpha-beta for the time that the GUI gives")] = "",
) -> None:
    """Play chess in a GUI: a UCI engine on standard input and output (docs/uci.md).

    Args:
        agent: who plays: level:3, trained, search:model=trained, run:DIR, ...
    """
    import io
    import os

    from plyground.interop.uci_engine import UciEngine

    for stream in (sys.stdin,):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    engine = UciEngine(lambda line: print(line, flush=True), agent)
    with suppress(KeyboardInterrupt), interruptible():  # Ctrl-C where the GUI was started reaches the engine too
        engine.run(iter(sys.stdin.readline, ""))
    if engine.loading:
        os._exit(0)  # nobody waits for what is compiled


def doctor() -> None:
    """Say what is installed, what is missing, and whether a GPU can be used.

    The exit code is 1 if something is broken.
    """
    from plyground.checks.doctor import BROKEN, examine
    from plyground.cli.terminal import say

    states = set[str]()
    for finding in examine():
        states.add(finding.state)
        remedy = f"\n{'':9}{finding.remedy}" if finding.remedy else ""
        say(f"{finding.state:<9}{finding.part}: {finding.words}{remedy}")
    sys.exit(1 if BROKEN in states else 0)
