"""How a teacher's datasets write the positions, sides and actions of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plyground.games.interface import Function


def _as_they_are(states: Any, actions: Any) -> Any:
    return actions


@dataclass(frozen=True)
class DatasetFormat:
    """One game's form of the lines in `docs/teacher.md`."""

    position: str
    """the field that holds the position's text"""
    sides: tuple[str, str]
    """what the field `side` says"""
    clocks: int = 0
    """words at the end of a position's text that do not make it another position"""
    actions: Function = _as_they_are
    """`(states [N], actions [N, M]) -> [N, M]`: the numbers of actions in a dataset; several may share one"""
