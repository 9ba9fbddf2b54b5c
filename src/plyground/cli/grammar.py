"""The grammar of all commands: the GAME first, then agents or a position, then options. `--game` names the game too."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg
from tyro.constructors import PrimitiveConstructorSpec

from plyground.errors import InvalidValue, command, unknown
from plyground.games import GAMES
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, seed_runs
from plyground.specs import split

DEFAULT_GAME = "connect_four"
GAME_FILE = re.compile(r"(?!\w\w+:).*\.py(:.*)?")  # but `uci:engine.py` is an agent


def hint(metavar: str, default: str) -> object:
    """How an option is shown that may be left out, and what holds then."""
    return arg(metavar=metavar, help_behavior_hint=f"(default: {default})")


class WordTuple(tuple[str, ...]):
    """Positional words; a class of its own, because for `tuple[str, ...]` tyro imports typeguard, which is slow."""


AnyWords = PrimitiveConstructorSpec("*", "WORD", WordTuple, lambda given: isinstance(given, WordTuple), list)
Several = Annotated[WordTuple, AnyWords]  # an option that takes several words
Words = Positional[Annotated[WordTuple, AnyWords]]
NO_WORDS = WordTuple()


def shown_as(metavar: str, meaning: str | None = None) -> object:
    """How positional words are shown: `[GAME] A B`. Their meaning stands in the docstring, or here."""
    return arg(metavar=metavar, help=meaning, help_behavior_hint="")


def run_path(word: str) -> Path:
    """The directory that a word names: runs/x, run:runs/x, or x, if that is in runs/ only."""
    path = Path(word.removeprefix("run:").partition(",")[0])
    inside = RUNS / path
    return inside if is_run(inside) and not is_run(path) else path


def is_run(path: Path) -> bool:
    """Whether this is the directory of a run, or of several seeds."""
    return is_file(path / "config.toml") or bool(seed_runs(path))


RunWord = PrimitiveConstructorSpec(1, "RUN", lambda words: run_path(words[0]), lambda it: isinstance(it, Path), list)
RunPath = Annotated[Path, RunWord, arg(help="a run's directory")]
GAME_HELP = "the game, if not given first: a name, with settings as name:key=value, or a path to a .py file"
GameOption = Annotated[str, arg(metavar="GAME", help=GAME_HELP, help_behavior_hint=f"(default: {DEFAULT_GAME})")]
GameWord = Annotated[Words, shown_as("[GAME]", "see `plyground games`")]


def is_game(word: str) -> bool:
    """Whether a word names a game: one of ours, or a .py file; with or without settings."""
    return word.partition(":")[0] in GAMES or GAME_FILE.fullmatch(word) is not None


def game_files(arguments: Sequence[str]) -> list[Path]:
    """The game files that a command line names, by themselves or through runs."""
    found: list[Path] = []
    for word in arguments:
        with contextlib.suppress(OSError, ValueError, InvalidValue):  # whoever uses the word says what is wrong with it
            config = Path(word.removeprefix("run:").partition(",")[0]) / "config.toml"
            text = config.read_text(encoding="utf-8") if config.is_file() else ""
            named = re.search(r'(?m)^game = "(.+\.py.*)"$', text)
            spec = named[1] if named else word.removeprefix("--game=")
            path = Path(split(spec)[0])
            found += [path] if GAME_FILE.fullmatch(spec) and path.is_file() else []
    return found


def game_first(
    given: Sequence[str], game: str, usage: str, least: int = 0, most: int = 0, default: str = DEFAULT_GAME
) -> tuple[str, list[str]]:
    """The game and the other words of a command line; `usage` is the right line, such as `match [GAME] A B`."""
    named = list(given[:1]) if given and is_game(given[0]) else []
    rest, name = list(given[len(named) :]), usage.split()[0]
    misplaced = [word for word in rest if is_game(word)]
    if misplaced and not named:
        others = [word for word in rest if word != misplaced[0]]
        raise InvalidValue(f"the game comes first: {command(name, misplaced[0], *others)}")
    if rest and not named and difflib.get_close_matches(rest[0].partition(":")[0], GAMES, cutoff=0.75):
        raise unknown("game", rest[0], (*GAMES, "a path to a game's .py file"))
    if not least <= len(rest) <= most:
        typed = f"not {' '.join(given)!r}" if given else "nothing was given"
        raise InvalidValue(f"{name} takes {usage.partition(' ')[2]}; {typed}")
    if named and game and named[0] != game:
        raise InvalidValue(f"two games are named: {named[0]} and --game {game}")
    return named[0] if named else game or default, rest


OLD_COMMANDS = {
    "--train-advanced": "train --profile chess_dqn_original",
    "--train-imitation": "train imitation chess --data FILE",
    "--eval-baseline": "evaluate RUN random greedy",
    "--collect": "teach collect chess",
}
"""a command of the documents that Plyground follows: the command here"""
OLD_OPTIONS = {
    "--max-steps": "--max-plies",
    "--concurrency": "--num-envs",
    "--target-update": "--target-update-interval",
    "--load": "--init RUN",
    "--load-best": "--checkpoint best",
    "--topk": "--top-k",
    "--batch": "--batch-size",
    "--lr": "--learning-rate",
    "--smooth": "--label-smoothing",
    "--val-split": "--validation-split",
    "--with-must-lift": "--encoder tensor_lift",
    "--with-must-promote": "--encoder tensor_promote",
    "--with-must-place": "--encoder tensor_promote (the document's example means the layer of promotions)",
}
"""an option of theirs: the option here"""
OF_COLLECT = {"--tau": "--temperature"}  # elsewhere --tau is an option of ours


def refuse_old_flags(arguments: Sequence[str]) -> None:
    """Answer flags of the documents that Plyground follows (docs/documents) with those of today."""
    flags = [word.partition("=")[0] for word in arguments]
    commands = [flag for flag in flags if flag in OLD_COMMANDS]
    if commands:
        right = command(*OLD_COMMANDS[commands[0]].split())
        raise InvalidValue(f"{commands[0]} is a command of another program; here it is: {right} (docs/documents)")
    known = OLD_OPTIONS | (OF_COLLECT if "collect" in arguments else {})
    own = {"bench": ("--batch",)}.get(arguments[0], ()) if arguments else ()
    found = [f"{flag} is {known[flag]}" for flag in flags if flag in known and flag not in own]
    if found:
        raise InvalidValue(f"these options have other names here: {'; '.join(found)} (docs/documents)")


def refuse_old_forms(arguments: Sequence[str]) -> None:
    """Answer command lines of earlier versions with the right line."""
    refuse_old_flags(arguments)
    if arguments[:1] in (["play"], ["evaluate"]):
        name, *now = (word.removeprefix("--against=") for word in arguments if word != "--against")
        if [name, *now] != list(arguments):
            now.sort(key=lambda word: not is_game(word))  # the game first; all others as they were
            raise InvalidValue(f"agents need no --against: {command(name, *now)}")
    if arguments[:2] == ["teach", "imitate"]:
        raise InvalidValue(f"imitation is a learner: {command('train', 'imitation', *arguments[2:])}")
