"""Configs from and to TOML: frozen dataclasses; every key and type is checked, unknown keys are errors."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from plyground.errors import InvalidValue, command, shorten, unknown
from plyground.runs.files import is_file, read_bytes
from plyground.runs.records import fit

PROFILES = Path(__file__).with_name("profiles")
Settings = TypeVar("Settings")


def read_toml(path: Path) -> dict[str, Any]:
    if not is_file(path):
        raise InvalidValue(f"no file {shorten(str(path))!r}")
    try:
        return tomllib.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:  # ValueError: neither UTF-8 nor TOML, or a number of 5,000 digits
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
    return kind(**{name: fit(value, hints[name], f"{name} in {where}") for name, value in values.items()})


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
        raise unknown("profile", word, profiles(), f"{command('profiles')}, or name your own .toml file")
    return read_toml(PROFILES / f"{word}.toml")
