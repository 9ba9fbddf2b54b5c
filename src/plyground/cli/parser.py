"""The parser of a command: argparse, with an option for each parameter of the command's typed function and sentences
from its docstring; a parameter may also take the settings of a config. Nothing here imports numpy, numba or torch.

Words and options may stand in any order. What a line does not give is left to the function's own defaults.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from plyground.cli.help import examples_of, listed
from plyground.errors import InvalidValue, command, shorten, unknown

OPTION = re.compile(r"--[A-Za-z][\w-]*(=.*)?|-[A-Za-z]", re.DOTALL)  # other words may begin with "-", too: a position
METAVARS = {int: "INT", float: "FLOAT", str: "TEXT", Path: "PATH"}
NUMBERS = {int: "a whole number", float: "a number"}
NARROWEST, WIDEST, FLAGS = 60, 120, 34  # columns of a help text, and of the flags in it
FEW = 12  # options that an error lists
GONE = {"--learners": "one process makes all updates of a run on a cluster; leave it out"}  # options of older versions

Words = tuple[str, ...]  # the words of a line that are no options, or several words of one option
Table = Mapping[str, Any]  # what a line gives of the settings of a config


class Shown(NamedTuple):
    """How a parameter is shown where its type, its default and its function's docstring do not tell all."""

    metavar: str = ""
    default: str = ""  # what holds where it is left out
    meaning: str = ""
    short: str = ""  # -v


class Setting(NamedTuple):
    """One option: a field of a config, or a parameter of a command."""

    name: str
    kind: Any  # its type
    default: Any
    sentence: str
    shown: Shown = Shown()


Groups = Mapping[str, Sequence[Setting]]  # {heading: options}


class Settings(NamedTuple):
    """Marks a parameter that takes the settings of configs: a `Table`."""

    groups: Callable[[], Groups]


Json = Annotated[bool, Shown(meaning="print one JSON object instead")]
Verbose = Annotated[bool, Shown(short="-v", meaning="show all numbers, such as losses; otherwise plain words")]
TRUST = "trust its game file, programs and positions, although it was not trained here; remembered"
Trust = Annotated[bool, Shown(meaning=TRUST)]
ON = "a Ray cluster to play on: ray (this machine), ray://HOST:PORT, or a file with an address"
On = Annotated[str, Shown("CLUSTER", "this process", ON)]
Picture = Annotated[Path | None, Shown("PATH", "none")]


class Parser(argparse.ArgumentParser):
    """Reads the line of one command."""

    def __init__(self, name: str, function: Callable[..., None], groups: Mapping[str, Groups] | None = None) -> None:
        """`groups`: by parameter, the settings that the help shows, in place of all that are read."""
        about, _, explained = (inspect.getdoc(function) or "").partition("\nArgs:\n")
        rows = re.findall(r"^ +(\w+): (.*(?:\n {8}.*)*)", explained, re.MULTILINE)
        sentences = {each: " ".join(text.split()) for each, text in rows}
        parameters, hints = inspect.signature(function).parameters, get_type_hints(function, include_extras=True)
        marks = {each: getattr(hints[each], "__metadata__", (Shown(),))[0] for each in parameters}
        words = marks["words"].metavar if "words" in parameters else ""
        super().__init__(
            prog=f"plyground {name}",
            usage=" ".join(["plyground", name, *([words] if words else []), "[OPTIONS]"]),
            description=about.strip(),
            formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=FLAGS, width=columns()),
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
            add_help="help" not in parameters,
        )
        self.name, self.how, self.tables = name, command(*name.split(), "--help"), dict[str, list[str]]()
        for each, parameter in parameters.items():
            mark = marks[each]
            if each == "words":
                told = sentences.get(each, mark.meaning)
                self.add_argument(each, nargs="*", metavar=words, help=told.replace("%", "%%"))
            elif isinstance(mark, Settings):
                self.tables[each] = []
                for heading, settings in (groups[each] if groups else mark.groups()).items():
                    group = self.add_argument_group(heading) if heading else self
                    new = [setting for setting in settings if setting.name not in self.tables[each]]
                    for setting in new:
                        self._add(group, setting, paired=True)
                    self.tables[each] += [setting.name for setting in new]
            else:
                kind = get_args(hints[each])[0] if get_origin(hints[each]) is Annotated else hints[each]
                sentence = sentences.get(each, mark.meaning)
                self._add(self, Setting(each, kind, parameter.default, sentence, mark))

    def _add(self, group: Any, setting: Setting, paired: bool = False) -> None:
        """Add one option to the parser or to a group of it; a `paired` switch can be switched off, too."""
        name, kind, default, sentence, (metavar, told, _, short) = setting
        flag = f"--{name.rstrip('_').replace('_', '-')}"  # `from_`: a word that Python keeps for itself
        flags = (flag, short) if short else (flag,)
        required, is_switch = default is inspect.Parameter.empty, kind is bool
        if not told and not required and (paired or not is_switch):
            told = written(default)
        told = "(required)" if required else f"(default: {told})" if told else ""
        about = f"{sentence} {told}".strip().replace("%", "%%")
        if is_switch:
            switch = argparse.BooleanOptionalAction if paired else "store_true"
            group.add_argument(*flags, dest=name, action=switch, help=about)
            return
        kinds = [each for each in get_args(kind) if each is not NoneType] if isinstance(kind, UnionType) else [kind]
        items = get_args(kinds[0]) if get_origin(kinds[0]) is tuple else ()  # of an option that takes several words
        one = items[0] if items else kinds[0]
        choices = get_args(one) if get_origin(one) is Literal else ()
        if not metavar:
            metavar = "|".join(choices) or METAVARS[one]
        count = {} if not items else {"nargs": "*"} if ... in items else {"nargs": len(items)}
        shown = tuple(metavar.split()) if count.get("nargs", "*") != "*" else metavar.removesuffix(" ...")

        def read(word: str) -> Any:
            """A value of an option's word; a word that is none is told with its option."""
            if choices and word not in choices:
                raise unknown(f"value of {flag}", word, choices)
            if one not in NUMBERS:
                return word if choices else one(word)
            try:
                return one(word)
            except ValueError:
                raise InvalidValue(f"{flag} takes {NUMBERS[one]}, not {shorten(word)!r}") from None

        group.add_argument(*flags, dest=name, type=read, metavar=shown, required=required, help=about, **count)

    def read(self, line: Sequence[str]) -> dict[str, Any]:
        """The arguments for the function."""
        found, others = self.parse_known_intermixed_args(line)
        wrong = [word.partition("=")[0] for word in others if OPTION.fullmatch(word)]
        if wrong and wrong[0] in GONE:
            raise InvalidValue(f"{wrong[0]} is gone: {GONE[wrong[0]]}")
        if wrong:
            known = [each for action in self._actions for each in action.option_strings if each.startswith("--")]
            known = [each for each in known if each != "--help"]
            raise unknown(f"option of {self.name}", wrong[0], known, self.how if len(known) > FEW else "")
        if others:
            raise InvalidValue(f"{self.name} takes options only, not {shorten(others[0])!r}; see {self.how}")
        values: dict[str, Any] = vars(found)
        values = {each: tuple(it) if isinstance(it, list) else it for each, it in values.items()}  # pyright: ignore
        tables = {each: {name: values.pop(name) for name in it if name in values} for each, it in self.tables.items()}
        return values | tables

    def error(self, message: str) -> Any:
        raise InvalidValue(f"{self.name}: {message.removeprefix('argument ')}; see {self.how}")

    def format_help(self) -> str:
        told = listed(examples_of(self.name))
        return f"{told}\n{super().format_help()}" if told else super().format_help()

    def _parse_optional(self, arg_string: str) -> Any:
        """argparse's decision whether a word is an option: `--opening_plies` is one, the position `--|-/x` is none."""
        if not OPTION.fullmatch(arg_string):
            return None
        flag, equals, value = arg_string.partition("=")
        return super()._parse_optional(f"{flag.replace('_', '-')}{equals}{value}")  # pyright: ignore


def columns() -> int:
    """The width of a help text."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size().columns))


def written(value: Any) -> str:
    """A default in a help text."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"  # pyright: ignore
    return "none" if value is None else "empty" if value == "" else str(value)


# ---- configs ----


def settings_of(config: type[Any], own: bool = False) -> list[Setting]:
    """The settings of a config class, each with the sentence below it; `own`: those that it states itself."""
    kinds, sentences = get_type_hints(config), dict[str, str]()
    for base in reversed(config.__mro__[:-1]):
        sentences |= _sentences(sys.modules[base.__module__].__file__ or "").get(base.__name__, {})
    stated = inspect.get_annotations(config) if own else kinds
    fields = [each for each in dataclasses.fields(config) if each.name in stated]
    return [Setting(each.name, kinds[each.name], each.default, sentences.get(each.name, "")) for each in fields]


@cache
def _sentences(file: str) -> dict[str, dict[str, str]]:
    """{class: {field: the sentence below it}} of a module."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {
                ast.unparse(field.target): " ".join(below.value.value.split())
                for field, below in zip(node.body, node.body[1:], strict=False)
                if isinstance(field, ast.AnnAssign)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            }
    return found


def typed(words: Sequence[str], given: Table) -> list[str]:
    """A command line that gives this again."""
    line = list(words)
    for name, value in given.items():
        flag = name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            line.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, tuple):
            line += [f"--{flag}", *map(str, value)]  # pyright: ignore
        elif str(value).startswith("-"):
            line.append(f"--{flag}={value}")
        else:
            line += [f"--{flag}", str(value)]
    return line
