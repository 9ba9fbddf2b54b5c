"""The syntax of game specs and agent specs: `name`, or `name:key=value,key=value`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from plyground.errors import InvalidValue, shorten

Value = bool | int | str
WITH_VALUE = "+value"  # ends the spec of a network with a value head
FILE = re.compile(r"(.*?\.py)(?:(:)(\w+=[^,]+(?:,\w+=[^,]+)*))?", re.DOTALL)  # its path may have colons of its own
LAST_OPTION = re.compile(r"(.*),(\w+)=((?<=weights=)[^,]*|[^,/]*)")  # only `weights` is a path itself

MOST, MOST_DIGITS = 2**63, 20  # of a whole number; Python itself reads no text of more than 4,300 digits


def split(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the options of a spec: `minimax:depth=3` is `("minimax", {"depth": "3"})`."""
    file = FILE.fullmatch(spec)
    name, colon, rest = (file[1], file[2], file[3]) if file else spec.partition(":")
    return name, read_options(rest, spec) if colon else {}


def read_options(text: str, spec: str) -> dict[str, str]:
    """The options `key=value,key=value` of a spec."""
    options: dict[str, str] = {}
    for item in text.split(","):
        key, equals, value = item.partition("=")
        if not (key and equals and value) or key in options:
            raise InvalidValue(f"cannot read {shorten(item)!r} in {shorten(spec)!r}; write name:key=value,key=value")
        options[key] = value
    return options


def split_path(text: str) -> tuple[str, dict[str, str]]:
    """The path and the options of `runs/a,checkpoint=last`; a path that exists is not split."""
    options: dict[str, str] = {}
    while (found := LAST_OPTION.fullmatch(text)) and not exists(text):
        text, options[found[2]] = found[1], found[3]
    return text, options


def exists(path: str) -> bool:
    """Whether there is such a file or folder; a path that none can have, such as one that is too long, does not."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def whole_number(text: str) -> int:
    """The number that a text states; ValueError where it states none, or one that 64 bits do not hold."""
    number = int(text) if len(text) <= MOST_DIGITS else MOST
    if not -MOST <= number < MOST:
        raise ValueError(f"{shorten(text)!r} is no whole number of 64 bits")
    return number


def read_whole(agent: str, option: str, text: str) -> int:
    """The whole number that an option of an agent states."""
    try:
        return whole_number(text)
    except ValueError:
        raise InvalidValue(f"{option} of the agent {agent} is a whole number, not {shorten(text)!r}") from None


def read_number(agent: str, option: str, text: str) -> float:
    """The number that an option of an agent states."""
    try:
        return float(text)
    except ValueError:
        raise InvalidValue(f"{option} of the agent {agent} is a number, not {shorten(text)!r}") from None


def read_flag(agent: str, option: str, text: str) -> bool:
    """Whether an option of an agent is `true`."""
    if text not in ("true", "false"):
        raise InvalidValue(f"{option} of the agent {agent} is true or false, not {shorten(text)!r}")
    return text == "true"


def join(name: str, options: Mapping[str, Value]) -> str:
    """The spec that `split` takes apart."""
    return name + (":" if options else "") + ",".join(f"{key}={text(value)}" for key, value in options.items())


def same(choice: Value, value: Value) -> bool:
    """Whether a value, as a person typed it or as Python has it, means this choice."""
    return text(choice) == text(value)


def text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
