"""Configs from and to TOML: frozen dataclasses; every key and type is checked, unknown keys are errors."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from plyground.errors import InvalidValue, shorten, unknown

PROFILES = Path(__file__).with_name("profiles")
Settings = TypeVar("Settings")


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidValue(f"no file {str(path)!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValue(f"{path} is not TOML: {error}") from None


def to_toml(table: Mapping[str, Any]) -> str:
    """TOML text: plain values first, then one table for each mapping."""
    plain = [f"{key} = {_toml(value)}" for key, value in table.items() if not isinstance(value, Mapping)]
    for key, value in table.items():
        if isinstance(value, Mapping):
            plain += ["", f"[{key}]", *(f"{name} = {_toml(item)}" for name, item in value.items())]  # pyright: ignore
    return "\n".join(plain) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"  # pyright: ignore
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")  # TOML must escape DEL, JSON need not; all else is equal


def build(kind: type[Settings], values: Mapping[str, Any], where: str) -> Settings:
    """The dataclass `kind` from a table; `where` names the table in errors."""
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]  # pyright: ignore
    for name in values:
        if name not in names:
            raise unknown(f"setting of {where}", name, names)
    return kind(**{name: _fitting(value, hints[name], f"{name} in {where}") for name, value in values.items()})


def _fitting(value: Any, hint: Any, what: str) -> Any:
    """`value`, converted to the type of a field."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in inside:
            raise InvalidValue(f"{what} is one of {', '.join(map(str, inside))}, not {shorten(repr(value))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise InvalidValue(f"{what} is a list, not {shorten(repr(value))}")
        return tuple(_fitting(item, inside[0], what) for item in value)  # pyright: ignore
    if origin in (typing.Union, types.UnionType):
        hint = next(each for each in inside if each is not type(None))
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise InvalidValue(f"{what} is of type {hint.__name__}, not {shorten(repr(value))}")
    return value


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The differences between two tables, one sentence each."""
    values = {key: (old.get(key, "nothing"), new.get(key, "nothing")) for key in (*old, *new)}
    return [f"{key}: {now!r} instead of {before!r}" for key, (before, now) in values.items() if before != now]


# ---- profiles ----


def profiles() -> list[str]:
    """The names of the bundled profiles."""
    return sorted(each.stem for each in PROFILES.glob("*.toml"))


def profile(word: str) -> dict[str, Any]:
    """The table of a bundled profile by name, or of a .toml file by path."""
    if word.endswith(".toml"):
        return read_toml(Path(word))
    if word not in profiles():
        raise unknown("profile", word, (*profiles(), "a path to your own .toml file"))
    return read_toml(PROFILES / f"{word}.toml")
