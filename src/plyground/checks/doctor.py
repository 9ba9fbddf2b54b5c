"""What is installed here, what is missing, and whether a GPU can be used; as plain data, from the installed package."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import plyground
from plyground.errors import Error, install, shorten
from plyground.private_folder import cache_folder

PACKAGE = "plyground"
REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[(?P<extras>[^]]+)\])?(>=(?P<least>[\w.]+))?.*?(extra == [\"'](?P<extra>\w+)[\"'])?"
)
PURPOSES = {
    "learn": "networks, and learning with them",
    "pictures": "pictures of boards and learning curves",
    "web": "the page in a browser",
    "tensorboard": "a run's metrics in TensorBoard",
    "gymnasium": "Gymnasium environments",
    "pettingzoo": "PettingZoo environments",
    "openspiel": "OpenSpiel games and bots",
    "onnx": "networks for other runtimes",
    "gpu": "rules and learning on an NVIDIA GPU",
    "ray": "more machines: --on ray",
}
"""extra: what it is for; all others are for the development of Plyground and have one line together"""
DEVELOPMENT = "development of Plyground"
OK, MISSING, BROKEN = "ok", "missing", "broken"


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    part: str
    state: str
    """ok; missing: something optional is not there; broken: what everybody needs does not work"""
    words: str
    remedy: str = ""


@dataclass(frozen=True)
class Requirement:
    """A package that Plyground needs, always or for an extra; or another extra that an extra includes."""

    name: str
    least: str
    extra: str
    includes: str = ""


def examine() -> Iterator[Finding]:
    """Everything, one finding after another: the last ones take seconds."""
    python = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Finding(PACKAGE, OK, f"{plyground.__version__} in {Path(plyground.__file__).parent}; {python}")
    requirements = read_requirements()
    if requirements:
        yield _packages("", [each for each in requirements if not each.extra])
    else:
        yield Finding(
            "packages", MISSING, "Plyground runs from its source folder and is not installed", "pip install ."
        )
    yield _attempt("cache", lambda: f"compiled games are kept in {cache_folder()}")
    yield _attempt("rules", _play_every_game)
    others: dict[bool, list[str]] = {True: [], False: []}  # installed or not; nothing is missing without them
    for extra in dict.fromkeys(each.extra for each in requirements if each.extra):
        # extras that it includes have a line of their own
        found = _packages(extra, [each for each in requirements if each.extra == extra and not each.includes])
        if extra in PURPOSES:
            yield found
        else:
            others[found.state == OK].append(f"[{extra}]")
    if others[True] or others[False]:
        there, absent = (", ".join(others[each]) or "none" for each in (True, False))
        yield Finding(DEVELOPMENT, OK, f"no user needs its extras; installed: {there}; not installed: {absent}")
    yield _gpu()
    yield _stockfish()
    yield from _cluster()


# ---- packages ----


def read_requirements(package: str = PACKAGE) -> list[Requirement]:
    """What the installed package says that it needs; nothing where it is not installed."""
    try:
        lines = importlib.metadata.requires(package) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = [match.groupdict("") for line in lines if (match := REQUIREMENT.fullmatch(line.strip()))]
    return [
        Requirement(each["name"], each["least"], each["extra"], each["extras"] if each["name"] == package else "")
        for each in found
    ]


def _packages(extra: str, needed: Sequence[Requirement]) -> Finding:
    versions = {each.name: installed(each.name) for each in needed}
    missing = [each.name for each in needed if not versions[each.name]]
    old = [
        f"{each.name} {versions[each.name]} (at least {each.least})"
        for each in needed
        if versions[each.name] and _numbers(versions[each.name]) < _numbers(each.least)
    ]
    words = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    part, remedy = (f"[{extra}]", install(extra)) if extra else ("packages", "pip install .")
    if not missing and not old:
        return Finding(part, OK, words)
    parts = ["not installed: " + ", ".join(missing)] * bool(missing) + ["too old: " + ", ".join(old)] * bool(old)
    purpose = [f"for {PURPOSES[extra]}"] if extra in PURPOSES else []
    lacking = "; ".join(parts + purpose)
    return Finding(part, MISSING if extra else BROKEN, lacking, remedy)


def installed(name: str) -> str:
    """The version of a package; empty where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    """1.26.0rc1 as (1, 26, 0), for comparison."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


# ---- the machine ----


def _attempt(part: str, act: Callable[[], str]) -> Finding:
    """A finding about something that may fail in ways that nobody has foreseen."""
    try:
        return Finding(part, OK, act())
    except Exception as error:
        return Finding(part, BROKEN, f"{type(error).__name__}: {shorten(' '.join(str(error).split()), 300)}")


def _play_every_game() -> str:
    """Compile and play a move of every game."""
    from plyground.game import load
    from plyground.games import GAMES

    begun = time.perf_counter()
    for name in GAMES:
        position = load(name).start()
        position.play(position.legal()[0])
    return f"{', '.join(GAMES)}: compiled and played in {time.perf_counter() - begun:.1f} s"


def _gpu() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding("GPU", MISSING, "cannot be used: PyTorch is not installed", install("gpu"))
    from plyground.backend import device

    try:
        problem = device.problem()
        return Finding("GPU", MISSING, f"cannot be used: {problem}") if problem else Finding("GPU", OK, device.name())
    except Exception as error:  # a driver may fail in any way
        return Finding("GPU", MISSING, f"cannot be used: {type(error).__name__}: {shorten(str(error), 200)}")


def _stockfish() -> Finding:
    from plyground.agents.uci import find

    path = find("stockfish")
    if path:
        return Finding("Stockfish", OK, path)
    remedy = "brew install stockfish" if sys.platform == "darwin" else "Debian: apt install stockfish"
    return Finding("Stockfish", MISSING, "not found: only the agent uci:stockfish needs it", remedy)


def _cluster() -> Iterator[Finding]:
    """Whether `--on ray` works, where Ray is installed."""
    if importlib.util.find_spec("ray") is None:
        return
    from plyground.cluster.connect import running, token, token_file

    try:
        token()
        address, none = running(), "none runs on this machine; --on ray starts one for each command"
        where = f"one runs at {address}" if address else none
        yield Finding("cluster", OK, f"{where}; the token is in {token_file() or 'RAY_AUTH_TOKEN'}")
    except Error as error:
        yield Finding("cluster", MISSING, str(error))
