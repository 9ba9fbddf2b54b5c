"""The words for games and agents, the same everywhere: `name`, or `name:key=value,key=value`."""

from __future__ import annotations

from collections.abc import Mapping

from plyground.errors import InvalidValue, shorten

Value = bool | int | str


def split(word: str) -> tuple[str, dict[str, Value]]:
    """The name and the options of a word: `minimax:depth=3` is `("minimax", {"depth": "3"})`."""
    stem, ending, tail = word.partition(".py")  # a path to a file may have colons of its own
    name, colon, rest = (stem + ending, tail[:1], tail[1:]) if ending and tail[:1] in ("", ":") else word.partition(":")
    options: dict[str, Value] = {}
    for item in rest.split(",") if colon else []:
        key, equals, value = item.partition("=")
        if not (key and equals and value) or key in options:
            raise InvalidValue(f"cannot read {shorten(item)!r} in {shorten(word)!r}; write name:key=value,key=value")
        options[key] = value
    return name, options


def join(name: str, options: Mapping[str, Value]) -> str:
    """The word that `split` takes apart."""
    return name + (":" if options else "") + ",".join(f"{key}={text(value)}" for key, value in options.items())


def same(choice: Value, value: Value) -> bool:
    """Whether a value, as a person typed it or as Python has it, means this choice."""
    return text(choice) == text(value)


def text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
