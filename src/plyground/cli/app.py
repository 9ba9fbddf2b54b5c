"""The command line. Thin: each command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import codecs
import functools
import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import tyro
from tyro.conf import FlagCreatePairsOff, Positional, arg

import plyground
from plyground.errors import Error, InvalidValue, install


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
    _stop_at_once()
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
    _stop_at_once(*agents)
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
    _stop_at_once()
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
    _stop_at_once()
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
        _stop_at_once(kept=kept)
    try:
        with terminal.steps(hide=json) as say:
            result = climb(rules, agents, games, seed, file, say)
    except KeyboardInterrupt:
        _say_stopped(kept)
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
    _stop_at_once(agent)
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
    _stop_at_once()
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


COMMANDS = {command.__name__: command for command in (games, perft, match, play, solve, grade, ladder, bench, check)}

LEARNING = {
    "train": "Teach a machine a game by letting it play.",
    "resume": "Continue a run where it stopped, as if nothing had happened.",
    "runs": "List the runs; or pack one as a file, unpack it, look at what one has stored, or export its metrics.",
    "evaluate": "Measure what a run has learned in paired matches.",
    "plot": "Draw the learning curves of one or several runs.",
    "teach": "Learn from a teacher: collect, inspect, imitate, verify (plyground teach --help).",
    "table": "Print the entries of a run's table in words: the most visited, and the most valuable.",
}


EXTRA = ("torch", "safetensors", "matplotlib")  # what the extra `learn` installs
MEANING = "Teach machines to play board games; watch, measure and play them."


def _commands(arguments: list[str]) -> dict[str, Callable[..., None]]:
    """All commands; those that need torch are real only if one of them is asked for."""
    if arguments and arguments[0] in LEARNING:
        from plyground.cli import teach, training

        if arguments[0] == "teach":
            return teach.COMMANDS
        return COMMANDS | {"train": training.make_train(arguments)} | training.COMMANDS

    def only_named(meaning: str) -> Callable[..., None]:
        def command() -> None: ...

        command.__doc__ = meaning
        return command

    return COMMANDS | {name: only_named(meaning) for name, meaning in LEARNING.items()}


def main() -> None:
    """Run a command; what goes wrong on purpose is one line and exit code 2."""
    arguments = sys.argv[1:]
    _speak_plainly()
    if arguments in (["--version"], ["-V"]):
        print(f"plyground {plyground.__version__}")
        return
    try:
        _run(arguments, _commands(arguments), LEARNING["teach"] if arguments[:1] == ["teach"] else MEANING)
        sys.stdout.flush()
    except Error as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in EXTRA:
            raise
        _fail(f"this needs {error.name}, which is not installed; {install('learn')}")
    except MemoryError as error:
        _fail(f"that needs more memory than there is ({error}): ask for less")
    except KeyboardInterrupt:
        _say_stopped("what was saved is there")
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if not _from_the_compiler(error):
            raise
        _fail(f"the game does not compile: {_gist(error)}")


PLAIN = dict(zip("●○◆◇★·…✓±∞█▏─━│┃╭╮╰╯Ŝŝ♙♘♗♖♕♔♟♞♝♜♛♚", "xoXO*..v~^#|--||++++SsPNBRQKpnbrqk", strict=True))


def _speak_plainly() -> None:
    """Let a terminal that cannot show our signs show letters: no output fails for want of a character."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        return "".join(PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end

    codecs.register_error("plain", replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")


def _run(arguments: list[str], commands: Mapping[str, Callable[..., None]], meaning: str) -> None:
    """The command that is asked for, or help. tyro looks at every command it is given, which takes time."""
    before = arguments[: int(arguments[:1] == ["teach"])]  # it has commands of its own
    name, *rest = arguments[len(before) :] or [""]
    if name in commands:
        tyro.cli(commands[name], prog=" ".join(["plyground", *before, name]), args=rest, config=(FlagCreatePairsOff,))
        return
    named = {each: make_dataclass(each, [], namespace={"__doc__": it.__doc__}) for each, it in commands.items()}
    words = arguments[len(before) :]
    tyro.extras.subcommand_cli_from_dict(named, prog=" ".join(["plyground", *before]), description=meaning, args=words)


def _fail(message: str) -> NoReturn:
    print(f"plyground: {message}", file=sys.stderr)
    sys.exit(2)


def _check_picture(picture: Path | None) -> None:
    if picture:
        from plyground.report.table import check_picture

        check_picture(picture)


def _stop_at_once(*agents: object, kept: str = "nothing was kept") -> None:
    """Let Ctrl-C end the process even in compiled code, which does not listen to Python but lets other threads run.

    Unless an agent learns there is nothing to save here.
    """
    learns = any(hasattr(agent, "ended") for agent in agents)
    if threading.current_thread() is threading.main_thread() and not learns:
        signal.signal(signal.SIGINT, lambda number, frame: None)  # what Python would do comes too late
        _listen_for_ctrl_c(kept)


@functools.cache  # once
def _listen_for_ctrl_c(kept: str) -> None:
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)  # where signals are told at once

    def wait() -> NoReturn:
        while os.read(heard, 1)[0] != signal.SIGINT:
            pass
        _say_stopped(kept)
        os._exit(130)

    threading.Thread(target=wait, daemon=True).start()


def _say_stopped(kept: str) -> None:
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # which a progress bar hides
    print(f"{show_cursor}plyground: stopped; {kept}", file=sys.stderr, flush=True)


def _from_the_compiler(error: Exception) -> bool:
    """Whether numba refused a game's function (asked without importing numba)."""
    return any(cls.__name__ == "NumbaError" for cls in type(error).__mro__)


def _gist(error: Exception) -> str:
    """What numba found, and the lines of the game where it did: not the stages, nor what called the game."""
    text = re.sub(r"(?m)^Failed in .*\n", "", str(error)).strip()
    message = re.split(r"\n\s*\n(?!.*>>>)|\nDuring|\nThere are", text)[0]
    places = re.findall(r'(?m)^File "(?!.*kernels\.py").*\n(?:.*\S.*\n)*', text)
    lines = "\n".join(dict.fromkeys(places)).splitlines()
    return "\n".join(
        line for line in [*message.splitlines(), *lines] if line.strip() not in ("", "^", "<source elided>")
    )
