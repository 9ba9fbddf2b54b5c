"""Exception types; every message names the value and the alternatives."""

from __future__ import annotations

import difflib
import shlex
import shutil
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path


class Error(Exception):
    """The base class of every error that Plyground raises itself."""


class UnknownName(Error):
    """A game, agent, encoder or setting that does not exist."""


class InvalidValue(Error):
    """A value outside its range: a batch of no games, a depth below zero."""


class InvalidText(Error):
    """A text (or array) that describes no position of the game."""


class IllegalAction(Error):
    """An action that the rules do not allow in this position."""


class BrokenGame(Error):
    """A game's module that violates the contract of `plyground.games.interface`."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name that is not among `known`, with the nearest one suggested."""
    names = list(known)
    near = difflib.get_close_matches(name, [each.partition(":")[0] for each in names], n=1)  # without options
    hint = f"did you mean {near[0]!r}? " if near else ""
    return UnknownName(f"no {kind} {shorten(name)!r}; {hint}known: {', '.join(names) or 'none'}")


def shorten(text: str, limit: int = 80) -> str:
    """`text` cut to `limit` characters, so that an error stays one line whatever was typed."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown(value: object) -> str:
    """A value as Python writes it, in one short line."""
    try:
        return shorten(repr(value))
    except ValueError:  # Python writes no number of more than 4,300 digits
        return f"an {type(value).__name__} of many digits"


@contextmanager
def plain_os_errors(what: str, remedy: str = "") -> Generator[None]:
    """An error of the operating system becomes one sentence: "cannot write a.png: No space left on device"."""
    try:
        yield
    except OSError as error:
        raise InvalidValue(f"cannot {what}: {error.strerror or error}{remedy}") from None


# ---- commands in messages ----


def command(*words: object) -> str:
    """A command line of this program, spelled so that it can be typed where the present one was."""
    return " ".join([_program(), *(shlex.quote(str(word)) for word in words)])


def _program() -> str:
    """`plyground` if it is on the PATH, else the path to it; or as a module of the same Python."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.orig_argv[0])} -m plyground"
    found = shutil.which("plyground")
    if called.stem != "plyground" or (found and Path(found).resolve() == called.resolve()):
        return "plyground"
    return shlex.quote(sys.argv[0])


def install(extra: str) -> str:
    """How to install an extra; the package is in no package index."""
    return f"in Plyground's folder: pip install -c constraints.txt -e '.[{extra}]'"
