"""How a teacher's datasets write the positions, sides and actions of a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


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


def plain_dataset(sides: tuple[str, str]) -> DatasetFormat:
    """The form for a game that defines none: texts, the sides' names, and the actions themselves."""
    return DatasetFormat("position", sides, 0, lambda states, actions: actions)
