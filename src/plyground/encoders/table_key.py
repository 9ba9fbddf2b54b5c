"""What a table knows: a key turns a state and an action, as one seat may know them, into a few 64-bit words.

Like an encoder, a key has a name and a version, `patterns-v1`; what has learned with one says so. A game's keys stand in
`encoders/<game>_keys.py`. Every game in which nothing is hidden has one more, `exact`: the whole state and the action.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field

from plyground.errors import unknown
from plyground.games.interface import Function, Rules


@dataclass(frozen=True)
class TableKey:
    """The functions that fill the slots of `kernels/tabular.py`, and the same for people."""

    name: str
    version: int
    words: int
    """64-bit words of a key; the last one stands for the action"""
    functions: Mapping[str, Function] = field(repr=False)
    """state_key, action_key, effect_of, draw_of, draw_reward"""
    meaning: str
    read: Function = field(repr=False)
    """(key) -> str: a key in words"""
    square: Function = field(repr=False)
    """(effect) -> int: the place on the board where an action with this effect puts or takes something; -1: none"""
    board: tuple[int, int]
    """rows and columns of the picture of all places"""

    def __str__(self) -> str:
        return f"{self.name}-v{self.version}"


def exact(rules: Rules) -> TableKey:
    """All that a state holds."""

    def read(key: tuple[int, ...]) -> str:
        record = b"".join(int(word).to_bytes(8, "little") for word in key[:-1])
        import numpy as np

        state = np.frombuffer(record[: rules.HEAD.itemsize], rules.HEAD)[0]
        return f"{rules.text(state)} {rules.action_name(state, int(key[-1]) - 1)}"

    return TableKey(
        "exact",
        1,
        -(-rules.HEAD.itemsize // 8) + 1,
        {},
        "the whole state, and the action",
        read,
        lambda effect: effect,
        (1, rules.NUM_ACTIONS),
    )


def keys_of(rules: Rules) -> Mapping[str, TableKey]:
    """A game's keys by full name, and the newest of each also by its short one; the first is the one to begin with."""
    found: tuple[TableKey, ...] = ()
    home, _, name = rules.module.__name__.rpartition(".")
    if home == "plyground.games" and importlib.util.find_spec(f"plyground.encoders.{name}_keys"):
        found = importlib.import_module(f"plyground.encoders.{name}_keys").KEYS
    if not rules.hidden:
        found = (*found, exact(rules))
    newest = {each.name: each for each in sorted(found, key=lambda each: each.version)}
    return {str(each): each for each in found} | newest


def pick_key(keys: Mapping[str, TableKey], name: str) -> TableKey:
    """The key of that name, or an error that lists the names."""
    if name not in keys:
        raise unknown("table key", name, dict.fromkeys(str(each) for each in keys.values()))
    return keys[name]
