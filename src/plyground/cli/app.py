"""The command line. Thin: each command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from typing import NoReturn

import tyro
from tyro.conf import FlagCreatePairsOff

import plyground
from plyground.cli.commands import COMMANDS
from plyground.cli.ctrl_c import say_stopped
from plyground.errors import Error, install

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
        from plyground.cli import runs, teach, training

        if arguments[0] == "teach":
            return teach.COMMANDS
        return COMMANDS | {"train": training.make_train(arguments), "resume": training.resume} | runs.COMMANDS

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
        say_stopped("what was saved is there")
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
