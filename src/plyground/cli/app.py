"""The program `plyground`: finds the command, runs it, and turns errors into one line and exit code 2."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import make_dataclass
from pathlib import Path
from typing import NoReturn

import tyro
from tyro.conf import FlagCreatePairsOff

import plyground
from plyground.cli.commands import COMMANDS
from plyground.cli.ctrl_c import say_stopped, second_ends
from plyground.cli.grammar import game_files, refuse_old_forms
from plyground.errors import Error, command, install, shorten

LEARNING = {
    "train": "Train an agent: LEARNER [GAME], or --profile alone.",
    "resume": "Continue a run exactly where it stopped.",
    "runs": "List the runs; or pack, unpack, publish or inspect one, or export its metrics.",
    "evaluate": "Evaluate a run in paired matches: RUN AGENT...",
    "export": "Export a run's network: onnx RUN FILE.",
    "plot": "Draw the learning curves of one or several runs.",
    "report": "Write the report of a run again, or of several seeds, and print it.",
    "teach": "Datasets of a teacher: collect, inspect, convert, verify (plyground teach --help).",
    "table": "Print the entries of a run's table in words.",
}
SAVE_FIRST = {"train", "resume", "teach"}  # a first Ctrl-C there stops and saves
EXTRAS = {
    **dict.fromkeys(("torch", "safetensors", "matplotlib"), "learn"),
    **dict.fromkeys(("starlette", "uvicorn", "websockets", "msgspec"), "web"),
}
"""package: the extra that installs it"""
MEANING = "Teach machines to play board games; watch, measure and play them."
PLAIN = dict(zip("●○◆◇★·…✓±∞█▏─━│┃╭╮╰╯Ŝŝ♙♘♗♖♕♔♟♞♝♜♛♚", "xoXO*..v~^#|--||++++SsPNBRQKpnbrqk", strict=True))


def main() -> None:
    """Run a command; an error of ours is one line and exit code 2."""
    arguments, unchecked = sys.argv[1:], ""
    _replace_unknown_characters()
    if arguments in (["--version"], ["-V"]):
        print(f"plyground {plyground.__version__}")
        return
    try:
        refuse_old_forms(arguments)
        unchecked = _check_bounds_of_unchecked_games(arguments)
        with second_ends() if {*arguments[:1]} & SAVE_FIRST else nullcontext():
            _run(arguments)
        sys.stdout.flush()
    except Error as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(str(error.name).partition(".")[0])
        if extra is None:
            raise
        _fail(f"this needs {error.name}, which is not installed; {install(extra)}")
    except MemoryError as error:
        _fail(f"that needs more memory than there is ({error}): ask for less")
    except KeyboardInterrupt:
        say_stopped("what was saved is there")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _fail(f"no file can have the name {shorten(str(error.filename))!r}: {error.strerror}")
        _explain_fault_of_game(error, unchecked)
        raise


def _explain_fault_of_game(error: Exception, unchecked: str) -> None:
    """End with a sentence if a game does not compile, or if one that has not passed `check` fails."""
    if any(cls.__name__ == "NumbaError" for cls in type(error).__mro__):  # without importing numba
        _fail(f"the game does not compile: {_compiler_message(error)}")
    files = [Path(frame.filename).resolve() for frame in traceback.extract_tb(error.__traceback__)]
    if unchecked and (isinstance(error, IndexError) or Path(unchecked).resolve() in files):
        how = command("check", unchecked)
        _fail(f"the game {unchecked} fails with {type(error).__name__}: {error}; {how} says what is wrong with it")


def _check_bounds_of_unchecked_games(arguments: Sequence[str]) -> str:
    """The game file that a command uses, unless it has passed `check`: then its compiled code checks bounds."""
    if "numba" in sys.modules or arguments[:1] in (["check"], ["games"]):  # compiled already, or not at all
        return ""
    for path in game_files(arguments):
        from plyground.checks.passed import check_bounds, has_passed

        if not has_passed(path):
            how = command("check", path)
            what = f"{path} is new or has changed: bounds are checked, which is slower, until it passes {how}"
            print(what, file=sys.stderr)
            check_bounds()
            return str(path)
    return ""


def _commands(arguments: list[str]) -> Mapping[str, Callable[..., None]]:
    """All commands; those that need torch are imported only if one of them is called."""
    name = arguments[0] if arguments else ""
    if name == "teach":
        from plyground.cli import teach

        return teach.COMMANDS
    if name in ("train", "resume"):
        from plyground.cli import pipeline, training

        return {name: pipeline.make_train(arguments) if name == "train" else training.resume}
    if name == "export":
        from plyground.cli import export

        return {name: export.export}
    if name in LEARNING:
        from plyground.cli import runs

        return runs.COMMANDS
    return COMMANDS


def _run(arguments: list[str]) -> None:
    """Run the named command, or show help. tyro gets one command only: it analyses all it gets, which takes time."""
    commands, of_teach = _commands(arguments), arguments[:1] == ["teach"]  # it has commands of its own
    program, words = ("plyground teach", arguments[1:]) if of_teach else ("plyground", arguments)
    name, *rest = words or [""]
    if name in commands:
        rest = ["--help"] if {"-h", "--help"} & set(rest) else rest  # tyro hides the words that were given already
        tyro.cli(commands[name], prog=f"{program} {name}", args=rest, config=(FlagCreatePairsOff,))
        return
    meanings = {each: it.__doc__ for each, it in commands.items()} | ({} if of_teach else LEARNING)
    named = {each: make_dataclass(each, [], namespace={"__doc__": meaning}) for each, meaning in meanings.items()}
    title = LEARNING["teach"] if of_teach else MEANING
    tyro.extras.subcommand_cli_from_dict(named, prog=program, description=title, args=words)


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


def _compiler_message(error: Exception) -> str:
    """What numba found, and the lines of the game's file; without numba's stages and without our own callers."""
    text = re.sub(r"(?m)^Failed in .*\n", "", str(error)).strip()
    message = re.split(r"\n\s*\n(?!.*>>>)|\nDuring|\nThere are", text)[0]
    places = re.findall(r'(?m)^File "(?!.*kernels\.py").*\n(?:.*\S.*\n)*', text)
    lines = "\n".join([message, *dict.fromkeys(places)]).splitlines()
    return "\n".join(line for line in lines if line.strip() not in ("", "^", "<source elided>"))
