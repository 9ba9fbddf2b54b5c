"""What the words of a line are: games in any spelling, saved games, runs, agents. Nothing here imports numpy or torch.

One grammar for all commands: the GAME first, then agents or a position. `--game` names the game too.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from plyground.cli.help import EXAMPLES
from plyground.cli.parser import Shown, Words
from plyground.errors import InvalidValue, command
from plyground.games import GAMES
from plyground.games.typed_names import game_name, unknown_game
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, seed_runs, several_seeds
from plyground.specs import split

DEFAULT_GAME = "connect_four"
GAME_HELP = "the game, if not given first: a name, with settings as name:key=value, or a path to a .py file"
GameOption = Annotated[str, Shown("GAME", DEFAULT_GAME, GAME_HELP)]
GameWord = Annotated[Words, Shown("[GAME]", meaning="see `plyground games`")]
OtherGame = Annotated[str, Shown("GAME", "none", "the game, if not given first")]

# ---- games ----

GAME_FILE = re.compile(r"(?!\w\w+:).*\.py(:.*)?")  # but `uci:engine.py` is an agent
SAVED_GAME = re.compile(r"(?!\w\w+:).*\.(pgn|txt)")


def is_game(word: str) -> bool:
    """Whether a word names a game: one of ours, or a .py file; with or without settings."""
    return game_name(word).partition(":")[0] in GAMES or GAME_FILE.fullmatch(word) is not None


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


def newest_run() -> Path:
    """The run that was worked on last, as an example in a message."""
    found = [path.parent for path in RUNS.glob("*/config.toml")]
    return max(found, key=lambda path: path.stat().st_mtime, default=RUNS / "NAME")


def one_run(name: str, words: Sequence[str]) -> Path:
    """The run of a command that takes one, before the command imports what it needs."""
    runs = [word for word in words if not is_game(word)]
    if len(words) == 1 and runs:
        if is_run(path := run_path(words[0])):
            return path
        from plyground.runs.directory import no_run

        raise no_run(path)
    if len(runs) == 1:
        raise InvalidValue(f"a run knows its game: {command(*name.split(), *runs)}")
    typed = f"not {' '.join(words)!r}" if words else "nothing was given"
    raise InvalidValue(f"{name} takes RUN; {typed}; for example: {command(*name.split(), newest_run())}")


# ---- lines ----


def is_saved_game(word: str) -> bool:
    """Whether a word names the file of a saved game, not a game, a run or an agent."""
    named = SAVED_GAME.fullmatch(word) is not None or is_file(Path(word))
    return named and not is_game(word) and not is_run(run_path(word))


def game_files(given: Iterable[str]) -> list[Path]:
    """The game files that words and values of a command line name, by themselves or through runs."""
    found: list[Path] = []
    for word in given:
        with contextlib.suppress(OSError, ValueError, InvalidValue):  # whoever uses the word says what is wrong with it
            spec = game_of_run(run_path(word)) or word
            path = Path(split(spec)[0])
            found += [path] if GAME_FILE.fullmatch(spec) and path.is_file() else []
    return found


def saved_game(words: Sequence[str], file: Path | None) -> tuple[Path | None, list[str]]:
    """The file of a saved game that is named among the words, or by an option; and the other words."""
    files = [*map(Path, filter(is_saved_game, words)), *([file] if file else [])]
    if len(files) > 1:
        raise InvalidValue(f"two files are named: {files[0]} and {files[1]}")
    return next(iter(files), None), [word for word in words if not is_saved_game(word)]


def game_first(
    given: Sequence[str], game: str, usage: str, least: int = 0, most: int = 0, default: str = DEFAULT_GAME
) -> tuple[str, list[str]]:
    """The game and the other words of a command line; `usage` is the right line, such as `match [GAME] A B`.

    Where no game is named, it is that of a run among the agents.
    """
    named, game = [game_name(word) for word in given[:1] if is_game(word)], game_name(game)
    rest, name = list(given[len(named) :]), usage.partition("[")[0].partition("GAME")[0].strip()
    misplaced = [word for word in rest if is_game(word)]
    if misplaced and not named:
        others = [word for word in rest if word != misplaced[0]]
        raise InvalidValue(f"the game comes first: {command(*name.split(), misplaced[0], *others)}")
    near = difflib.get_close_matches(rest[0].partition(":")[0], GAMES, cutoff=0.75) if rest else []
    if rest and not named and (near or not most):
        raise unknown_game(rest[0])
    if name == "match" and len(rest) > most:
        raise InvalidValue(f"a match has two agents; for more: {command('ladder', *given)}")
    if not least <= len(rest) <= most:
        typed = f"not {' '.join(given)!r}" if given else "nothing was given"
        example = next(each for each in EXAMPLES if each.startswith(name))
        how = command(*example.partition("#")[0].split())
        raise InvalidValue(f"{name} takes {usage.removeprefix(name).strip()}; {typed}; for example: {how}")
    if named and game and named[0] != game:
        raise InvalidValue(f"two games are named: {named[0]} and --game {game}")
    for word in rest if most else ():
        if seeds := seed_runs(run_path(word)):
            line = [*named, *(f"{seeds[0]}" if each == word else each for each in rest)]
            raise several_seeds(word, command(name, *line))
    for place, word in enumerate(rest if most else ()):  # the spec of a run that is in runs/ only, too
        run, options = run_path(word), word.partition(",")[1:]
        if is_run(run) and (word.startswith("run:") or ":" not in word):
            rest[place] = f"run:{run}{''.join(options)}"
    of_runs = [found for word in rest if word.startswith("run:") if (found := game_of_run(run_path(word)))]
    return named[0] if named else game or (of_runs or [default])[0], rest


def check_picture(picture: Path | None) -> None:
    """Raise InvalidValue before a long command that could not write its picture."""
    if picture:
        from plyground.report.figures import check_picture as check

        check(picture)
