"""What a word of a command line is before the line is parsed: a game, in any spelling, a saved game, a run, or the
value of an option. Nothing here imports tyro, numpy or torch."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

from plyground.errors import InvalidValue, command
from plyground.games import GAMES
from plyground.games.typed_names import game_name
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, seed_runs
from plyground.specs import split

# ---- games ----

GAME_FILE = re.compile(r"(?!\w\w+:).*\.py(:.*)?")  # but `uci:engine.py` is an agent
SAVED_GAME = re.compile(r"(?!\w\w+:).*\.(pgn|txt)")


def is_game(word: str) -> bool:
    """Whether a word names a game: one of ours, or a .py file; with or without settings."""
    return game_name(word).partition(":")[0] in GAMES or GAME_FILE.fullmatch(word) is not None


def agents_in(word: str) -> list[str] | None:
    """The names in a .py file that may be agents: its classes with `act` first, then others and functions. None where
    it is a game, which has a STATE, or cannot be read. Nothing is imported."""
    try:
        text = Path(word).read_text(encoding="utf-8")
        body = ast.parse(text).body
    except (OSError, ValueError, SyntaxError):
        return None
    kinds = [node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_"]
    kinds.sort(key=lambda node: "def act(" not in (ast.get_source_segment(text, node) or ""))
    return None if re.search(r"(?m)^STATE\b", text) else [node.name for node in kinds]


def is_saved_game(word: str) -> bool:
    """Whether a word names the file of a saved game, not a game, a run or an agent."""
    named = SAVED_GAME.fullmatch(word) is not None or is_file(Path(word))
    return named and not is_game(word) and not is_run(run_path(word))


def game_files(arguments: Sequence[str]) -> list[Path]:
    """The game files that a command line names, by themselves or through runs."""
    found: list[Path] = []
    for word in arguments:
        with contextlib.suppress(OSError, ValueError, InvalidValue):  # whoever uses the word says what is wrong with it
            spec = game_of_run(run_path(word)) or word.removeprefix("--game=")
            path = Path(split(spec)[0])
            found += [path] if GAME_FILE.fullmatch(spec) and path.is_file() else []
    return found


# ---- runs ----


def run_path(word: str) -> Path:
    """The directory of a run: runs/x, run:runs/x, a file or checkpoint in it, or x, if that is in runs/ only."""
    path = Path(word.removeprefix("run:").partition(",")[0])
    inside = [each for each in path.parents if path.suffix in (".toml", ".jsonl") or "checkpoints" in path.parts[-2:]]
    places = [path, *inside[:2], RUNS / path]
    return next((place for place in places if place.parts and is_run(place)), path)


def is_run(path: Path) -> bool:
    """Whether this is the directory of a run, or of several seeds."""
    return is_file(path / "config.toml") or bool(seed_runs(path))


def game_of_run(run: Path) -> str:
    """The game that a run has learned, as its config.toml names it; empty where there is none."""
    config = next((each / "config.toml" for each in (run, *seed_runs(run)) if is_file(each / "config.toml")), None)
    named = re.search(r'(?m)^game = "(.+)"$', config.read_text(encoding="utf-8")) if config else None
    return named[1] if named else ""


def newest_run(game: str = "") -> Path:
    """The run that was worked on last, of a game or of any, as an example in a message."""
    found = [path.parent for path in RUNS.glob("*/config.toml") if game in ("", game_of_run(path.parent))]
    return max(found, key=lambda path: path.stat().st_mtime, default=RUNS / "NAME")


def one_run(name: str, words: Sequence[str]) -> Path:
    """The run of a command that takes one."""
    runs = [word for word in words if not is_game(word)]
    if len(words) == 1 and runs:
        return run_path(words[0])
    if len(runs) == 1:
        raise InvalidValue(f"a run knows its game: {command(name, *runs)}")
    typed = f"not {' '.join(words)!r}" if words else "nothing was given"
    raise InvalidValue(f"{name} takes RUN; {typed}; for example: {command(name, newest_run())}")


# ---- options ----

NUMBER = re.compile(r"-?\d+(\.\d+)?")
ASSIGNED = re.compile(r"[a-z][a-z_-]+=[^=\s]+")  # `seconds=5`


def option(arguments: Sequence[str], option: str) -> str | None:
    """The value of an option, before the arguments are read in full."""
    for argument, following in zip(arguments, [*arguments[1:], None], strict=False):
        if argument.startswith(f"{option}="):
            return argument.removeprefix(f"{option}=")
        if argument == option:
            return following
    return None


def is_option_value(line: Sequence[str], place: int) -> bool:
    """Whether a word is the value of an option, or a further number of one: `--sprt 0 20`."""
    first = place - 1
    while first > 0 and NUMBER.fullmatch(line[first]) and NUMBER.fullmatch(line[place]):
        first -= 1
    return place > 0 and line[first].startswith("--")


def places_of_words(line: Sequence[str]) -> list[int]:
    """Where words stand behind a command's name that are neither options nor values of options."""
    return [k for k in range(1, len(line)) if not line[k].startswith("-") and not is_option_value(line, k)]
