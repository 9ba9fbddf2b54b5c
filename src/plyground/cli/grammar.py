"""The grammar of all commands: the GAME first, then agents or a position, then options. `--game` names the game too."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import difflib
import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, get_args

from tyro.conf import Positional, arg
from tyro.constructors import PrimitiveConstructorSpec, PrimitiveTypeInfo

from plyground.cli.help import HELP
from plyground.cli.words import NUMBER, game_of_run, is_game, is_run, is_saved_game, run_path
from plyground.errors import InvalidValue, command
from plyground.games import GAMES
from plyground.games.typed_names import game_name, unknown_game
from plyground.runs.groups import seed_runs, several_seeds

DEFAULT_GAME = "connect_four"
OPTION = re.compile(r"--[A-Za-z][\w-]*(=.*)?|-[A-Za-z]")


def hint(metavar: str, default: str) -> object:
    """How an option is shown that may be left out, and what holds then."""
    return arg(metavar=metavar, help_behavior_hint=f"(default: {default})")


def plain_values(given: Sequence[str]) -> Callable[[PrimitiveTypeInfo], PrimitiveConstructorSpec[Any] | None]:
    """How the words `given` are read and shown: a text is shown as TEXT, a number that may be left out as FLOAT, not as
    {None}|FLOAT; what is no number is one sentence."""

    def rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
        if info.type is str:
            return PrimitiveConstructorSpec(1, "TEXT", itemgetter(0), lambda it: isinstance(it, str), _words)
        for kind, metavar, what in ((int, "INT", "a whole number"), (float, "FLOAT", "a number")):
            if info.type in (kind, kind | None):
                read = functools.partial(_number, kind, what, given)
                return PrimitiveConstructorSpec(1, metavar, read, lambda it: it is None or _is_number(it), _words)
        return None

    return rule


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(kind: type[int | float], what: str, given: Sequence[str], words: Sequence[str]) -> int | float:
    """A number; a word that is none is told with its option."""
    try:
        return kind(words[0])
    except ValueError:
        places = zip(given, [*given[1:], ""], strict=True)
        options = [word.partition("=")[0] for word, value in places if words[0] in (value, word.partition("=")[2])]
        raise InvalidValue(f"{next(iter(options), 'this option')} takes {what}, not {words[0]!r}") from None


def _words(value: object) -> list[str]:
    return ["none" if value is None else str(value)]


class WordTuple(tuple[str, ...]):
    """Positional words; a class of its own, because for `tuple[str, ...]` tyro imports typeguard, which is slow."""


AnyWords = PrimitiveConstructorSpec("*", "WORD", WordTuple, lambda given: isinstance(given, WordTuple), list)
Several = Annotated[WordTuple, AnyWords]  # an option that takes several words
NoPath = Annotated[Path | None, hint("PATH", "none")]
Words = Positional[Annotated[WordTuple, AnyWords]]
NO_WORDS = WordTuple()


def shown_as(metavar: str, meaning: str | None = None) -> object:
    """How positional words are shown: `[GAME] A B`. Their meaning stands in the docstring, or here."""
    return arg(metavar=metavar, help=meaning, help_behavior_hint="")


RunWord = PrimitiveConstructorSpec(1, "RUN", lambda words: run_path(words[0]), lambda it: isinstance(it, Path), _words)
RunPath = Annotated[Path, RunWord, arg(help="a run's directory")]
GAME_HELP = "the game, if not given first: a name, with settings as name:key=value, or a path to a .py file"
GameOption = Annotated[str, arg(metavar="GAME", help=GAME_HELP, help_behavior_hint=f"(default: {DEFAULT_GAME})")]
GameWord = Annotated[Words, shown_as("[GAME]", "see `plyground games`")]


def option_defaults(function: Callable[..., None]) -> dict[str, Any]:
    """{name: default} of the options of a command, those of a learner's config among them."""
    found = {name: each.default for name, each in inspect.signature(function).parameters.items()}
    kinds = [kind for each in function.__annotations__.values() for kind in get_args(each)[:1]]
    return found | {each.name: each.default for kind in kinds if is_dataclass(kind) for each in fields(kind)}


def words_first(given: Sequence[str], defaults: Mapping[str, Any]) -> list[str]:
    """The command line with its positional words before all options: tyro reads them in one place only.

    A switch takes no value, an option of several words all that follow, every other one word and further numbers. The
    word that an option of text takes may begin with "-", unless it looks like an option: a position may.
    """
    words, options, values = list[str](), list[str](), 0.0  # `values` that the last option may still take
    text = False  # whether the last option takes one text, which is still to come
    for each in given:
        if text and each.startswith("-") and not OPTION.fullmatch(each):
            options[-1], values, text = f"{options[-1]}={each}", 0, False
        elif each.startswith("-") and not NUMBER.fullmatch(each):
            name, equals, _ = each.removeprefix("--").replace("-", "_").partition("=")
            default = defaults.get(name, name.startswith(("no_", "_")) or None)  # --no-x and -x are switches
            values = 0 if equals or isinstance(default, bool) else math.inf if isinstance(default, tuple) else 1
            text = isinstance(default, str) and not equals
            options.append(each)
        elif values > 0 or (options and NUMBER.fullmatch(each)):
            options.append(each)
            values, text = values - 1, False
        else:
            words.append(each)
    return [*words, *options]


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
    rest, name = list(given[len(named) :]), usage.split()[0]
    misplaced = [word for word in rest if is_game(word)]
    if misplaced and not named:
        others = [word for word in rest if word != misplaced[0]]
        raise InvalidValue(f"the game comes first: {command(name, misplaced[0], *others)}")
    if rest and not named and difflib.get_close_matches(rest[0].partition(":")[0], GAMES, cutoff=0.75):
        raise unknown_game(rest[0])
    if rest and not named and not most:
        raise unknown_game(rest[0])
    if name == "match" and len(rest) > most:
        raise InvalidValue(f"a match has two agents; for more: {command('ladder', *given)}")
    if not least <= len(rest) <= most:
        typed = f"not {' '.join(given)!r}" if given else "nothing was given"
        raise InvalidValue(f"{name} takes {usage.partition(' ')[2]}; {typed}; for example: {_example(name)}")
    if named and game and named[0] != game:
        raise InvalidValue(f"two games are named: {named[0]} and --game {game}")
    for word in rest if most else ():
        if seeds := seed_runs(run_path(word)):
            line = [*named, *(f"{seeds[0]}" if each == word else each for each in rest)]
            raise several_seeds(word, command(name, *line))
    if most:
        rest = [_run_spec(word) for word in rest]
    of_runs = [found for word in rest if word.startswith("run:") if (found := game_of_run(run_path(word)))]
    return named[0] if named else game or (of_runs or [default])[0], rest


def _run_spec(word: str) -> str:
    """The agent spec of a run, `run:runs/x`, also of one that is in runs/ only; other words as they are."""
    run, options = run_path(word), word.partition(",")[1:]
    is_one = is_run(run) and (word.startswith("run:") or ":" not in word)
    return f"run:{run}{''.join(options)}" if is_one else word


def _example(name: str) -> str:
    return command(*HELP[name].examples[0].partition("#")[0].split())


def check_picture(picture: Path | None) -> None:
    """Raise InvalidValue before a long command that could not write its picture."""
    if picture:
        from plyground.report.figures import check_picture as check

        check(picture)
