"""How a teacher's datasets write the positions, sides and actions of a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class TextCodec(NamedTuple):
    """Compiled functions that read and write positions as bytes, for datasets of millions of them.

    They know the form that the game's `text` and `action_name` write, and no other.
    """

    longest: int
    """bytes of a position's text, at most"""
    read_position: Callable[..., Any]
    """`(text [L], state) -> bool`: fills a blank record; whether that was possible. `settle` comes after it"""
    write_position: Callable[..., Any]
    """`(state, out) -> length`"""
    is_sound: Callable[..., Any]
    """`(state) -> bool`: whether the game's `problems` would find none; before `settle`"""
    write_action: Callable[..., Any]
    """`(state, action, out) -> length`"""


@dataclass(frozen=True)
class DatasetFormat:
    """One game's form of the lines in `docs/teacher.md`."""

    position: str
    """the field that holds the position's text"""
    sides: tuple[str, str]
    """what the field `side` says"""
    clocks: int
    """words at the end of a position's text that do not make it another position"""
    actions: Callable[[Any, Any], Any]
    """`(states [N], actions [N, M]) -> [N, M]`: the numbers of actions in a dataset; several may share one"""
    codec: TextCodec | None = None
    """a faster way to read and write texts; otherwise `parse`, `problems`, `text` and `action_name` are used"""


def plain_dataset(sides: tuple[str, str]) -> DatasetFormat:
    """The form for a game that defines none: texts, the sides' names, and the actions themselves."""
    return DatasetFormat("position", sides, 0, lambda states, actions: actions)
