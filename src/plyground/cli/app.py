"""The program `plyground`: finds the command, runs it, and turns errors into one line and exit code 2."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import plyground
from plyground.cli import help as texts
from plyground.cli.ctrl_c import SAVED, STOPPED, interruptible, say_stopped
from plyground.cli.guesses import correct
from plyground.cli.words import game_files, option
from plyground.errors import Error, command, naming_extras, shorten, unknown

OF_RUNS = ("runs", "evaluate", "plot", "report", "table")
SAVE_FIRST = {"train", "resume", "teach"}  # a first Ctrl-C there stops and saves
AGENT_FILE = re.compile(r"\bfile:(.+?\.py):")
PLAIN = dict(zip("●○◆◇★·…✓±∞█▏─━│┃╭╮╰╯Ŝŝ♙♘♗♖♕♔♟♞♝♜♛♚", "xoXO*..v~^#|--||++++SsPNBRQKpnbrqk", strict=True))


def main() -> None:
    """Run a command; an error of ours is one line and exit code 2."""
    arguments, unchecked = sys.argv[1:], ""
    _replace_unknown_characters()
    if _is_about_the_program(arguments):
        return
    try:
        arguments = correct(arguments, tuple(texts.HELP))
        unchecked = _check_bounds_of_unchecked_games(arguments)
        with naming_extras():
            _run(arguments)
        sys.stdout.flush()
    except Error as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"that needs more memory than there is ({error}): ask for less")
    except KeyboardInterrupt as stopped:
        say_stopped(str(stopped))
        sys.exit(STOPPED)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _fail(f"no file can have the name {shorten(str(error.filename))!r}: {error.strerror}")
        _explain_fault_of_game(error, unchecked, game_files(arguments))
        _explain_fault_of_agent(error, arguments)
        raise


def _is_about_the_program(arguments: Sequence[str]) -> bool:
    """Answer what is about the whole program: its version, its help, and no command at all."""
    if arguments in (["--version"], ["-V"], ["version"]):
        print(f"plyground {plyground.__version__}")
    elif arguments in (["--help"], ["-h"], ["help"]):
        print(texts.page())
    elif not arguments:
        print(texts.page())
        sys.exit(2)
    else:
        return False
    return True


def _explain_fault_of_game(error: Exception, unchecked: str, games: Sequence[Path]) -> None:
    """End with a sentence if a game does not compile, or if one that has not passed `check` fails."""
    if any(cls.__name__ == "NumbaError" for cls in type(error).__mro__):  # without importing numba
        from plyground.checks.fault_lines import fault_of_compiler

        _fail(fault_of_compiler(error, games))
    files = [Path(frame.filename).resolve() for frame in traceback.extract_tb(error.__traceback__)]
    if unchecked and (isinstance(error, IndexError) or Path(unchecked).resolve() in files):
        how = command("check", unchecked)
        _fail(f"the game {unchecked} fails with {type(error).__name__}: {error}; {how} says what is wrong with it")


def _explain_fault_of_agent(error: Exception, arguments: Sequence[str]) -> None:
    """End with the lines of a person's own agent, and of what it calls, if it fails."""
    files = {Path(found[1]).resolve() for word in arguments for found in AGENT_FILE.finditer(word)}
    frames = traceback.extract_tb(error.__traceback__)
    first = next((k for k, frame in enumerate(frames) if Path(frame.filename).resolve() in files), None)
    if first is not None:
        lines = "".join(traceback.format_list(frames[first:])).rstrip()
        _fail(f"the agent in {frames[first].filename} fails with {type(error).__name__}: {error}\n{lines}")


def _check_bounds_of_unchecked_games(arguments: Sequence[str]) -> str:
    """The game file that a command uses, unless it has passed `check`: then its compiled code checks bounds."""
    if "numba" in sys.modules or arguments[:1] in (["check"], ["games"]):  # compiled already, or not at all
        return ""
    for path in game_files(arguments):
        from plyground.checks.passed_files import check_bounds, has_passed

        if not has_passed(path):
            how = command("check", path)
            what = f"{path} is new or has changed: bounds are checked, which is slower, until it passes {how}"
            print(what, file=sys.stderr)
            if arguments[0] != "serve":  # whose other games need not be slower: the file has processes of its own
                check_bounds()
            return str(path)
    return ""


def _commands(arguments: list[str]) -> Mapping[str, Callable[..., None]]:
    """The commands beside the named one; what needs torch is imported only if it is called."""
    name = arguments[0]
    if name == "teach":
        from plyground.cli import teach

        return teach.COMMANDS
    if name in ("train", "resume"):
        from plyground.cli import pipeline, resume

        return {name: pipeline.make_train(arguments) if name == "train" else resume.resume}
    if name == "export":
        from plyground.cli import export

        return {name: export.export}
    if name in OF_RUNS:
        from plyground.cli import runs

        return runs.COMMANDS
    from plyground.cli.commands import COMMANDS

    return COMMANDS


def _run(arguments: list[str]) -> None:
    """Run the named command, or show its help. tyro gets one command only: it analyses all it gets."""
    import tyro
    from tyro.conf import FlagCreatePairsOff
    from tyro.constructors import ConstructorRegistry

    from plyground.cli.grammar import option_defaults, plain_values, words_first

    for_help = not {"-h", "--help"}.isdisjoint(arguments)
    if for_help:
        print(texts.examples(arguments[0]))
    if arguments[0] == "train":
        _explain_train(arguments[1:], for_help)
    commands, of_teach = _commands(arguments), arguments[0] == "teach"  # it has commands of its own
    program, (name, *rest) = ("plyground teach", arguments[1:] or ["--help"]) if of_teach else ("plyground", arguments)
    if name in commands:
        # tyro hides the words that were given already
        defaults = option_defaults(commands[name])
        rest = ["--help"] if for_help else words_first(rest, defaults)
        if arguments[0] not in SAVE_FIRST and not for_help:  # the others tell it themselves
            _check_options(name, rest, defaults)
        registry = ConstructorRegistry()
        registry.primitive_rule(plain_values(rest))  # pyright: ignore[reportUnknownMemberType]
        plain = (FlagCreatePairsOff,)
        with _hearing_ctrl_c(arguments[0]):  # all is imported that does not bear an exception then
            tyro.cli(commands[name], prog=f"{program} {name}", args=rest, config=plain, registry=registry)
    elif for_help or name == "--help":
        print(
            "\n".join(f"{program} {each}: {it.__doc__.splitlines()[0]}" for each, it in commands.items() if it.__doc__)
        )
    else:
        raise unknown(f"command of {program}", name, commands)


def _check_options(name: str, given: Sequence[str], defaults: Mapping[str, object]) -> None:
    """Refuse an option that a command does not have, in one sentence."""
    known = [f"--{each.replace('_', '-')}" for each in defaults if each not in ("words", "what")]
    for word in given:
        flag = word.partition("=")[0].replace("_", "-")
        if flag.startswith("--") and flag not in known and flag.replace("--no-", "--", 1) not in known:
            raise unknown(f"option of {name}", flag, known)


@contextmanager
def _hearing_ctrl_c(name: str) -> Generator[None]:
    """Ctrl-C raises KeyboardInterrupt in commands that save or remove something then; it ends the others at once. So
    does SIGTERM."""
    kept = SAVED if name in SAVE_FIRST else ""
    with interruptible(signal.SIGTERM, kept=kept) if name in SAVE_FIRST | {"runs"} else nullcontext():
        yield


def _explain_train(words: list[str], for_help: bool) -> None:
    """Refuse options that a learner does not have; or show those that it has, and end."""
    from plyground.cli.settings import check_options, learner_of, train_help

    if not for_help:
        check_options(words)
        return
    chosen = option(words, "--profile") or ""
    print(train_help(learner_of(words, chosen), chosen))
    sys.exit(0)


def _replace_unknown_characters() -> None:
    """Let a terminal that cannot show our characters show letters in their place."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        return "".join(PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end

    codecs.register_error("plain", replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")


def _fail(message: str) -> NoReturn:
    print(f"plyground: {message}", file=sys.stderr)
    sys.exit(2)
