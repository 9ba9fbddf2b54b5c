"""The generated pages of the site: Python names from their docstrings, commands from their help, agents and settings
from their tables. `pages()` gives their Markdown; nothing here is written by hand.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import enum
import functools
import importlib
import inspect
import io
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import plyground as pg
from plyground.agents.registry import AGENTS, entries
from plyground.cli import app
from plyground.cli.help import PAGE
from plyground.games import GAMES
from plyground.learners import LEARNERS

PARTS = {
    "Encoders": ("plyground.games.encoder", ("Encoder",)),
    "Scenes": ("plyground.games.scene", ("Scene", "Zone", "Cell", "Item", "board", "square_board", "row", "status")),
    "Random numbers": ("plyground.games.rng", ("below", "seeds")),
    "Settings": ("plyground.games.interface", ("Setting", "value_for")),
}
"""names outside `plyground` that a game's file imports: heading → module, names"""


def pages() -> dict[str, str]:
    """{file name: Markdown} of every generated page."""
    return {
        "python.md": python_page(),
        "parts.md": parts_page(),
        "commands.md": commands_page(),
        "agents.md": agents_page(),
        "settings.md": settings_page(),
    }


# ---- Python ----


def python_page() -> str:
    """Every public name of `plyground`, classes last."""
    names = sorted(pg.__all__, key=lambda name: (inspect.isclass(getattr(pg, name)), name.lower()))
    intro = "`import plyground as pg` has these names; [a tutorial](../tutorial.md) shows them in use.\n\n"
    return f"# Python reference\n\n{intro}" + "\n\n".join(about(f"pg.{name}", getattr(pg, name)) for name in names)


def parts_page() -> str:
    """What a game's own file imports."""
    text = "# Parts for your own game\n\nWhat a [game of your own](../adding_a_game.md) imports.\n"
    for heading, (module, names) in PARTS.items():
        found = importlib.import_module(module)
        shown = "\n\n".join(about(name, getattr(found, name), "###") for name in names)
        text += f"\n## {heading}\n\n`from {module} import {', '.join(names)}`\n\n{shown}\n"
    return text


def about(name: str, thing: Any, level: str = "##") -> str:
    """A heading, the signature and the docstring; of a class also its fields, properties and methods."""
    head = f"{level} `{name}`\n\n"
    if not inspect.isclass(thing):
        return f"{head}{signature(name, thing)}{prose(thing)}"
    if issubclass(thing, enum.Enum):
        return f"{head}{prose(thing)}\n\n" + "\n".join(f"* `{each.name}` = {each.value}" for each in thing)
    made = "" if issubclass(thing, Exception) else signature(name, thing)
    return f"{head}{made}{prose(thing)}\n\n" + "\n\n".join(members(name, thing))


def members(name: str, kind: type) -> Iterator[str]:
    """The public fields, properties and methods of a class, in the order of its source."""
    notes = field_notes(kind)
    fields = [f"* `{each}`: {notes[each]}" if notes[each] else f"* `{each}`" for each in notes]
    properties = [
        f"* `{each}`: {one_line(inspect.getdoc(it))}" if inspect.getdoc(it) else f"* `{each}`"
        for each, it in vars(kind).items()
        if isinstance(it, property | functools.cached_property) and not each.startswith("_")
    ]
    if fields or properties:
        yield "\n".join(fields + properties)
    for each, it in vars(kind).items():
        function = it.__func__ if isinstance(it, classmethod | staticmethod) else it
        if inspect.isfunction(function) and not each.startswith("_"):
            short = f"{name.rpartition('.')[2].lower()}.{each}"
            yield f"**`{each}`**\n\n{signature(short, function)}{prose(function)}"


def field_notes(kind: type) -> dict[str, str]:
    """{field: the string below it} of a dataclass or a NamedTuple."""
    if not dataclasses.is_dataclass(kind) and not hasattr(kind, "_fields"):
        return {}
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101
    notes: dict[str, str] = {}
    for line, below in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.target.id[0] != "_":
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            notes[line.target.id] = one_line(str(text))
    return notes


def signature(name: str, thing: Callable[..., Any]) -> str:
    """The call as a block of code, its arguments below each other where they are many."""
    found = inspect.signature(thing)
    words = list(arguments([each for each in found.parameters.values() if each.name not in ("self", "cls")]))
    result = "" if inspect.isclass(thing) else str(found.return_annotation)
    ends = "" if result in ("", "None") or found.return_annotation is found.empty else f" -> {result}"
    line = f"{name}({', '.join(words)}){ends}"
    if len(line) > 100:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in words), f"){ends}"])
    return f"```python\n{line}\n```\n\n"


def arguments(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Each argument as written, with a `*` before the first that only a keyword gives."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    starred = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        kind = "" if each.annotation is each.empty else f": {each.annotation}"
        default = "..." if callable(each.default) else repr(each.default)
        yield f"{stars.get(each.kind, '')}{each.name}{kind}" + ("" if each.default is each.empty else f" = {default}")


def prose(thing: Any) -> str:
    """The docstring; a dataclass without one has only its signature there."""
    text = inspect.getdoc(thing) or ""
    return "" if inspect.isclass(thing) and text.startswith(f"{thing.__name__}(") else text


def one_line(text: str | None) -> str:
    return " ".join((text or "").split())


# ---- commands ----


def commands_page() -> str:
    """The help of every command."""
    text = "# Commands\n\nWhat `plyground COMMAND --help` prints.\n"
    for part, names in PAGE.items():
        text += f"\n## {part}\n"
        text += "".join(f"\n### plyground {name}\n\n```text\n{help_of(name)}\n```\n" for name in names)
    return text


def help_of(*words: str) -> str:
    """The help of a command, without colours and frames."""
    before, out = sys.argv, io.StringIO()
    sys.argv = ["plyground", *words, "--help"]
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            app.main()
    finally:
        sys.argv = before
    lines = (re.sub(r"^[│╭╰][─ ]?|[─ ]*[│╮╯]$", "", line).rstrip() for line in _plain(out.getvalue()).splitlines())
    return "\n".join(lines).strip()


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# ---- tables ----


def agents_page() -> str:
    """Every agent spec, what it does and its options; the agents of each game."""
    rows = ["| spec | plays | options |", "|---|---|---|"]
    for name, entry in AGENTS.items():
        options = "<br>".join(f"`{option}`: {cell(meaning)}" for option, meaning in entry.options.items())
        spec = f"{name}:{entry.path}" if entry.path else entry.example or name
        rows.append(f"| `{spec}` | {cell(entry.make.__doc__ or '')} | {options} |")
    text = "# Agents\n\nAn agent spec is the same in every command, in `pg.agent`, `pg.match` and in settings.\n\n"
    text += "\n".join(rows) + "\n\n## Agents of a game\n\n| game | spec | plays |\n|---|---|---|\n"
    for word in GAMES:
        own = {name: entry for name, entry in entries(pg.load(word)).items() if AGENTS.get(name) is not entry}
        text += "".join(f"| {word} | `{name}` | {cell(entry.make.__doc__ or '')} |\n" for name, entry in own.items())
    return text


def settings_page() -> str:
    """The settings of every learner with their defaults and meanings."""
    text = "# Settings of learners\n\nIn a profile or in `pg.train` as written here, on the command line as"
    text += " `--learning-rate 0.001`.\n"
    for name, entry in LEARNERS.items():
        text += f"\n## {name}\n\n{cell(entry.meaning)}\n\n| setting | default | meaning |\n|---|---|---|\n"
        notes = {key: note for kind in reversed(entry.config.__mro__[:-1]) for key, note in field_notes(kind).items()}
        for each in dataclasses.fields(entry.config):
            text += f"| `{each.name}` | `{each.default!r}` | {cell(notes.get(each.name, ''))} |\n"
    return text


def cell(text: str) -> str:
    """A text for a cell of a table."""
    return one_line(text).replace("|", "\\|")
