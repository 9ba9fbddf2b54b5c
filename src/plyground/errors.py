"""Exception types; every message names the value and the alternatives."""

from __future__ import annotations

import difflib
import importlib.util
import math
import shlex
import shutil
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from numbers import Integral
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


class MissingPackage(Error):
    """A package of an extra that is not installed."""


class BrokenGame(Error):
    """A game's module that violates the contract of `plyground.games.interface`."""


def unknown(kind: str, name: str, known: Iterable[str], where: str = "") -> UnknownName:
    """The error for a name that is not among `known`, with the nearest suggested, and all of them or `where` they are
    listed."""
    names = list(known)
    near = difflib.get_close_matches(name, dict.fromkeys(each.partition(":")[0] for each in names))  # without options
    alike = [difflib.SequenceMatcher(None, each, name).ratio() for each in near]
    nearest = [repr(each) for each, ratio in zip(near, alike, strict=True) if ratio == alike[0]]
    hint = f"did you mean {' or '.join(nearest)}? " if near else ""
    listed = f"see {where}" if where else f"known: {', '.join(names) or 'none'}"
    return UnknownName(f"no {kind} {shorten(name)!r}; {hint}{listed}")


def shorten(text: str, limit: int = 80) -> str:
    """`text` cut to `limit` characters, so that an error stays one line whatever was typed."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown_path(path: Path) -> str:
    """A path whole, unless no file can have it: then its beginning."""
    return shorten(str(path), 1000)


def shown(value: object) -> str:
    """A value as Python writes it, in one short line."""
    try:
        return shorten(repr(value))
    except ValueError:  # Python writes no number of more than 4,300 digits
        return f"an {type(value).__name__} of many digits"


def is_whole(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether a value is an integer, of Python or of numpy, from `least` to `most`; True and False are none."""
    return not isinstance(value, bool) and isinstance(value, Integral) and least <= int(value) <= most


def counted(number: int, noun: str) -> str:
    """`1 loss`, `2 losses`, `1,200 plies`: a number with its noun, given in the singular."""
    several = f"{noun[:-1]}ies" if noun.endswith(("ly", "cy")) else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


@contextmanager
def plain_os_errors(what: str, remedy: str = "") -> Generator[None]:
    """An error of the operating system becomes one sentence: "cannot write a.png: No space left on device"."""
    try:
        yield
    except OSError as error:
        raise InvalidValue(f"cannot {what}: {error.strerror or error}{remedy}") from None


# ---- commands in messages ----


def command(*words: object) -> str:
    """A command line of this program, spelled so that it can be typed where the present one was: `plyground` if it is
    on the PATH, else the path to it; or as a module of the same Python."""
    called, found = Path(sys.argv[0]), shutil.which("plyground")
    program = shlex.quote(sys.argv[0])
    if called.name == "__main__.py":
        program = f"{shlex.quote(sys.orig_argv[0])} -m plyground"
    elif called.stem != "plyground" or (found and Path(found).resolve() == called.resolve()):
        program = "plyground"
    return " ".join([program, *(shlex.quote(str(word)) for word in words)])


# ---- extras ----

EXTRAS = {
    "torch": "learn",
    "matplotlib": "pictures",
    **dict.fromkeys(("starlette", "uvicorn", "websockets", "msgspec"), "web"),
    **dict.fromkeys(("ray", "grpc"), "ray"),
}
"""package: the extra that installs it"""


@contextmanager
def naming_extras() -> Generator[None]:
    """A package that is not installed becomes one sentence, which names the extra that it belongs to."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(str(error.name).partition(".")[0])
        if extra is None:
            raise
        raise MissingPackage(f"this needs {error.name}, which is not installed; {install(extra)}") from None


def check_installed(package: str) -> None:
    """Raise MissingPackage before anything begins that would need it later."""
    with naming_extras():
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(name=package)


def install(extra: str) -> str:
    """How to install an extra; the package is in no package index."""
    size = " (PyTorch, about 1 GB)" if extra == "learn" else ""
    return f"in Plyground's folder: pip install -c constraints.txt -e '.[{extra}]'{size}"
