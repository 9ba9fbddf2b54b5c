"""The program `plyground`: reads the line once, runs its command, and turns errors into one line and exit code 2."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import plyground
from plyground.cli.ctrl_c import STOPPED, say_stopped
from plyground.cli.help import COMMANDS, TEACH, examples_of, function_of, listed, meaning, page
from plyground.errors import Error, command, naming_extras, shorten, unknown

ALIASES = {"analyze": "analyse", "eval": "evaluate"}
AGENT_FILE = re.compile(r"\bfile:(.+?\.py):")
PLAIN = dict(zip("●○◆◇★·…✓±∞█▏─━│┃╭╮╰╯Ŝŝ♙♘♗♖♕♔♟♞♝♜♛♚", "xoXO*..v~^#|--||++++SsPNBRQKpnbrqk", strict=True))


def main() -> None:
    """Run a command; an error of ours is one line and exit code 2."""
    _replace_unknown_characters()
    line = sys.argv[1:]
    if line in (["--version"], ["-V"], ["version"]):
        print(f"plyground {plyground.__version__}")
        return
    if line in ([], ["--help"], ["-h"], ["help"]):
        print(page())
        sys.exit(0 if line else 2)
    given, unchecked = list[str](), ""
    try:
        with naming_extras():
            name, run, values = read(line)
            given = [*_texts(values.values())]
            unchecked = _check_bounds_of_unchecked_games(name, given)
            run(**values)
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
        _explain(error, unchecked, given)
        raise


def read(line: Sequence[str]) -> tuple[str, Callable[..., None], dict[str, Any]]:
    """The command that a line names, its function, and the arguments of that. Asked for help, it is printed."""
    name, *rest = line
    if name == "help":
        name, rest = rest[0], [*rest[1:], "--help"]
    name = ALIASES.get(name, name)
    if name not in COMMANDS:
        raise unknown("command", name, COMMANDS, command("--help"))
    function = name
    if name == "teach":
        function, *rest = rest or ["--help"]
        name = f"teach {function}"
        if function in ("-h", "--help"):
            print(listed(examples_of("teach")))
            for each in TEACH:
                print(f"plyground teach {each}: {meaning(each)}")
            sys.exit(0)
        if function not in TEACH:
            raise unknown("command of plyground teach", function, TEACH)
    from plyground.cli.parser import Parser

    run = function_of(function)
    return name, run, Parser(name, run).read(rest)


def _texts(values: Iterable[Any]) -> Iterable[str]:
    """The texts and paths among the values of a line."""
    for value in values:
        if isinstance(value, str | Path):
            yield str(value)
        elif isinstance(value, Mapping | tuple):
            yield from _texts(value.values() if isinstance(value, Mapping) else value)  # pyright: ignore


def _check_bounds_of_unchecked_games(name: str, given: Sequence[str]) -> str:
    """The game file that a command uses, unless it has passed `check`: then its compiled code checks bounds."""
    if "numba" in sys.modules or name in ("check", "games"):  # compiled already, or not at all
        return ""
    from plyground.cli.words import game_files

    for path in game_files(given):
        from plyground.checks.passed_files import check_bounds, has_passed

        if not has_passed(path):
            how = command("check", path)
            what = f"{path} is new or has changed: bounds are checked, which is slower, until it passes {how}"
            print(what, file=sys.stderr)
            if name != "serve":  # whose other games need not be slower: the file has processes of its own
                check_bounds()
            return str(path)
    return ""


def _explain(error: Exception, unchecked: str, given: Sequence[str]) -> None:
    """End with a sentence if a game does not compile, or if one that has not passed `check` fails; with the lines of a
    person's own agent, and of what it calls, if that fails."""
    if any(cls.__name__ == "NumbaError" for cls in type(error).__mro__):  # without importing numba
        from plyground.checks.fault_lines import fault_of_compiler
        from plyground.cli.words import game_files

        _fail(fault_of_compiler(error, game_files(given)))
    frames = traceback.extract_tb(error.__traceback__)
    files = [Path(frame.filename).resolve() for frame in frames]
    if unchecked and (isinstance(error, IndexError) or Path(unchecked).resolve() in files):
        how = command("check", unchecked)
        _fail(f"the game {unchecked} fails with {type(error).__name__}: {error}; {how} says what is wrong with it")
    agents = {Path(found[1]).resolve() for word in given for found in AGENT_FILE.finditer(word)}
    first = next((k for k, file in enumerate(files) if file in agents), None)
    if first is not None:
        lines = "".join(traceback.format_list(frames[first:])).rstrip()
        _fail(f"the agent in {frames[first].filename} fails with {type(error).__name__}: {error}\n{lines}")


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
