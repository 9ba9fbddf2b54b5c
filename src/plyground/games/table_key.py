"""Table keys: a key turns a state and an action, as one seat may know them, into a few 64-bit words.

Like an encoder, a key has a name and a version, `patterns-v1`, which every checkpoint names. A game lists its keys as
`KEYS = (TableKey(...), ...)`, in a folder in `table_keys.py`. Every game in which nothing is hidden has one more,
`exact`: the whole state and the action.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plyground.errors import InvalidValue, unknown
from plyground.games.interface import Function, Rules


@dataclass(frozen=True, eq=False)
class TableKey:
    """The functions that fill the slots of `kernels/tabular.py`, and how people read a key."""

    name: str
    version: int
    words: int
    """64-bit words of a key; the last one stands for the action"""
    functions: Mapping[str, Function] = field(repr=False)
    """state_key, action_key, effect_of, draw_of, draw_reward"""
    meaning: str
    read: Function = field(repr=False)
    """(key) -> (str, str): the state and the action in words"""
    square: Function = field(repr=False)
    """(effect) -> int: the place on the board where such an action puts or takes something; -1: none"""
    board: tuple[int, int]
    """rows and columns of all places"""
    full: float = 0.0
    """the score of an action or a draw that is a reward of 1 on the logarithmic scale; 0: scores are rewards"""

    def __str__(self) -> str:
        return f"{self.name}-v{self.version}"


def exact(rules: Rules) -> TableKey:
    """The whole state and the action: the slots of `kernels/tabular.py` without a key of the game's own."""

    def words(key: tuple[int, ...]) -> tuple[str, str]:
        record = b"".join(word.to_bytes(8, "little") for word in key[:-1])
        state = np.frombuffer(record[: rules.HEAD.itemsize], rules.HEAD)[0]
        return rules.text(state), rules.action_name(state, key[-1] - 1)

    def square(effect: int) -> int:
        return effect

    size = -(-rules.HEAD.itemsize // 8) + 1
    meaning = "the whole state, and the action"
    return TableKey("exact", 1, size, {}, meaning, words, square, (1, rules.NUM_ACTIONS))


@functools.cache
def pick_key(rules: Rules, name: str = "") -> TableKey:
    """A game's key by its full name, or by its short one in its newest version; without a name its first."""
    found: list[TableKey] = [*rules.KEYS] if rules.hidden else [*rules.KEYS, exact(rules)]
    newest = {each.name: each for each in sorted(found, key=lambda each: each.version)}
    keys = {str(each): each for each in found} | newest
    if not keys:
        raise InvalidValue(f"the game {rules.name} hides something from its players and defines no table key: add KEYS")
    if name and name not in keys:
        raise unknown("table key", name, dict.fromkeys(str(each) for each in keys.values()))
    return keys[name] if name else next(iter(keys.values()))
