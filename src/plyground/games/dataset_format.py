"""How a teacher's datasets write the positions, sides and actions of a game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Records = NDArray[np.void]


class BatchText(NamedTuple):
    """`parse`, `problems`, `text` and `action_name` over many positions at once, by numpy."""

    read: Callable[[Sequence[str], Records], Bools]
    """`(texts [N], blank states [N]) -> [N]`: fills the records of the texts that it can read and whose positions have
    no problem, and says which; all others are left to `parse` and `problems`, which name what is wrong"""
    sound: Callable[[Records], Bools]
    """`(records [N]) -> [N]`: which are positions in which `problems` finds nothing. Their bytes may be anything, but
    what `settle` computes is not looked at"""
    write: Callable[[Records], list[str]]
    """`(records [N]) -> [N]` texts"""
    names: Callable[[Records, NDArray[np.int32]], list[str]]
    """`(records [N], actions [N]) -> [N]` names of actions"""


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
    batch: BatchText | None = None
    """a faster way to read and write texts; otherwise `parse`, `problems`, `text` and `action_name` are used"""


def plain_dataset(sides: tuple[str, str]) -> DatasetFormat:
    """The form for a game that defines none: texts, the sides' names, and the actions themselves."""
    return DatasetFormat("position", sides, 0, lambda states, actions: actions)
