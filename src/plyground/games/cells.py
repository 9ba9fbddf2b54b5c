"""Cells: a position as small integers, from which models of any game are built.

Cells come in groups, as the zones of a scene do: a board, a hand, counters. In a group every cell holds 0 to
values - 1, and 0 means that nothing is there. One compiled function writes all cells as a seat sees them, into a flat
array: group after group, layer after layer, row by row. What is the seat's own has the same values for every seat.

From that alone follow, for every game:

* sparse one-hot inputs: a cell that holds v > 0 sets the feature `features[cell] + v - 1`; empty cells set none, since
  the bias of a layer stands for them;
* n-tuples: walks along `neighbours`, a table of weights for all values of the cells of each;
* what a move has changed: the cells that differ, written for the same seat before and after it;
* mirrored examples: `out[images[k]] = cells` are the cells of the position under symmetry k.

A game may turn or mirror its board for a seat, or by what stands on it; then one move can change many cells. Whose turn
it is, is no cell: a model knows the seat that looks and the seat that acts. A game defines `CELLS = Cells(...)`, in a
folder in `cells.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plyground.errors import InvalidValue, is_whole, shown
from plyground.games.interface import Function, State

Out = NDArray[np.int16]  # [count], as `write` gets it
MOST_VALUES = np.iinfo(np.int16).max + 1


@dataclass(frozen=True)
class Group:
    """Cells of one kind."""

    name: str
    size: int
    """cells of one layer"""
    values: int
    """each holds 0 .. values - 1"""
    shape: tuple[int, int] | None = None
    """rows and columns, where it means something that cells lie side by side"""
    layers: int = 1
    """several cells on each square, such as the two pieces of a union"""
    words: tuple[str, ...] = ()
    """for people, what the values 1, 2, ... mean, layer after layer: `own pawn`, `their locked chip`, `corner`; what is
    `own` or `their` is an item of the scene, whose kind is the last word; otherwise they are numbers"""

    def __post_init__(self) -> None:
        if not (is_whole(self.size, 1) and is_whole(self.layers, 1) and is_whole(self.values, 2, MOST_VALUES)):
            raise InvalidValue(f"a group has at least one cell, one layer and two values, not {self}")
        if self.shape is not None and self.shape[0] * self.shape[1] != self.size:
            raise InvalidValue(f"the shape of the group {self.name!r} has its {self.size} cells, not {self.shape}")
        if self.words and len(self.words) != (needed := self.layers * (self.values - 1)):
            raise InvalidValue(f"the group {self.name!r} has words for {needed} values, not {len(self.words)}")

    @property
    def count(self) -> int:
        """The cells of all its layers."""
        return self.size * self.layers

    def word(self, cell: int, value: int) -> str:
        """What a value of one of its cells means."""
        if value == 0 or not self.words:
            return str(value) if value else "empty"
        return self.words[cell // self.size * (self.values - 1) + value - 1]


class Cells:
    """The cells of a game: their groups, and the compiled function that writes them."""

    def __init__(
        self,
        groups: Sequence[Group],
        write: Function,
        images: ArrayLike | None = None,
        names: Callable[[State, int], Sequence[str]] | None = None,
    ) -> None:
        """`write(state, seat, out)` fills all of `out` [count] int16 with what the seat may know. `images`
        [SYMMETRIES, count]: where each cell goes under each symmetry of the rules; otherwise all stay.
        `names(state, seat) -> [str]`, for people: what each cell is called that the seat sees; one that is drawn has
        the name of its cell in the scene; otherwise they are called by group, row and column."""
        self.groups, self.write = tuple(groups), write
        self.names = names or self._numbers
        sizes = [group.count for group in self.groups]
        self.count = sum(sizes)
        titles = [group.name for group in self.groups]
        if len(set(titles)) < len(titles):
            raise InvalidValue(f"groups of cells have different names, not {', '.join(titles)}")
        ends = np.cumsum(sizes).tolist()
        self.places: Mapping[str, slice] = {
            name: slice(end - size, end) for name, size, end in zip(titles, sizes, ends, strict=True)
        }
        """by the names of the groups: where their cells are"""
        self.values = np.repeat(np.array([group.values for group in self.groups], np.int32), sizes)  # [count]
        self.features = np.cumsum(self.values - 1, dtype=np.int32) - (self.values - 1)  # [count]
        """the feature of each cell's value 1"""
        self.num_features = int((self.values - 1).sum())
        identity = np.arange(self.count, dtype=np.int32)
        self.images = identity[None] if images is None else np.array(images, np.int32)  # [SYMMETRIES, count]
        fits = self.images.ndim == 2 and self.images.shape[1] == self.count
        if not fits or not (np.sort(self.images) == identity).all():
            raise InvalidValue(
                f"`images` are permutations of all {self.count} cells, one for each symmetry: {shown(images)}"
            )

    def __repr__(self) -> str:
        return f"<{self.count} cells, {self.num_features} features: {', '.join(self.places)}>"

    def _numbers(self, state: State, seat: int) -> list[str]:
        """`board 1,1`, `hand 3`: names of all cells where the game gives none."""
        found = list[str]()
        for group in self.groups:
            columns = group.shape[1] if group.shape else 0
            for place in [*range(group.size)] * group.layers:
                number = f"{place // columns + 1},{place % columns + 1}" if columns else f"{place + 1}"
                found.append(f"{group.name} {number}" if group.size > 1 else group.name)
        return found

    def in_words(self, cell: int, value: int) -> str:
        """What a value of a cell means."""
        group = next(group for group in self.groups if cell < self.places[group.name].stop)
        return group.word(cell - self.places[group.name].start, value)

    @functools.cached_property
    def neighbours(self) -> tuple[NDArray[np.int32], ...]:
        """[count] of each cell: those beside it in eight directions, in its own layer, and those of the other layers on
        its square. A cell of a group without a shape has none."""
        found: list[list[int]] = []
        for group in self.groups:
            first, (rows, columns) = len(found), group.shape or (0, 0)
            for cell in range(group.count):
                layer, place = divmod(cell, group.size)
                row, column = divmod(place, columns) if columns else (0, 0)
                beside = [
                    first + group.size * layer + columns * y + x
                    for y in range(max(row - 1, 0), min(row + 2, rows))
                    for x in range(max(column - 1, 0), min(column + 2, columns))
                    if (y, x) != (row, column)
                ]
                others = [first + group.size * k + place for k in range(group.layers) if k != layer and columns]
                found.append(beside + others)
        return tuple(np.array(near, np.int32) for near in found)


def mirrored(groups: Iterable[Group]) -> NDArray[np.int32]:
    """[count] where each cell goes when every group with a shape is mirrored left to right; the others stay."""
    found: list[NDArray[np.int64]] = []
    first = 0
    for group in groups:
        cells = first + np.arange(group.count)
        found.append(
            cells if group.shape is None else cells.reshape(group.layers, *group.shape)[:, :, ::-1].reshape(-1)
        )
        first += group.count
    return np.concatenate(found).astype(np.int32)
