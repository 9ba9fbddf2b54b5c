"""Scenes: a position as plain data, all that a picture or a page knows of it.

A scene has zones (a board, a hand, a row of choices), a zone has cells, a cell holds items (pieces, discs, cards).
`scene(state, seat)` of a game makes it as the seat may see it; `clicks(state, action)` is the path of clicks by which a
person plays an action, each the `click` of a cell of the scene. After each click the legal actions remain whose paths
begin with the clicks so far; the last click leaves one.

An item's kind names a drawing: `pawn`, `disc`, `card:qh`; a kind that a picture does not know is drawn as its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, State


@dataclass(frozen=True)
class Item:
    """Something that stands on a cell; `side` is 0, 1 or, where it belongs to nobody, None."""

    kind: str
    side: int | None = None


@dataclass(frozen=True)
class Cell:
    """A place with a name of its own in the scene, such as `e4`."""

    name: str
    items: tuple[Item, ...] = ()
    marks: tuple[str, ...] = ()
    """what only the rules know: `win`, `check`, `locked`, `lifted` (from where the piece in the hand was taken: the
    cells that are legal next are where it may go)"""
    click: str = ""
    """its word in click paths; otherwise its name. All cells of a column may be `column:4`"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "click", self.click or self.name)


@dataclass(frozen=True)
class Zone:
    """A grid of cells, row by row from the top, as the seat sees it."""

    name: str
    rows: int
    columns: int
    cells: tuple[Cell, ...]
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """A position as one seat sees it, and a line of words about it."""

    zones: tuple[Zone, ...]
    status: str

    def cells(self) -> list[Cell]:
        """The cells of all zones."""
        return [cell for zone in self.zones for cell in zone.cells]


def as_json(scene: Scene) -> dict[str, Any]:
    """The scene in dictionaries, lists, texts and numbers."""
    return asdict(scene)


# ---- for games that make scenes ----


def board(
    rows: Sequence[Sequence[Cell]],
    row_labels: Sequence[str] = (),
    column_labels: Sequence[str] = (),
    turned: bool = False,
) -> Zone:
    """The zone `board` from its rows, the top one first; turned by 180 degrees for a seat on the other side."""
    step = -1 if turned else 1
    cells = tuple(cell for row in rows[::step] for cell in row[::step])
    return Zone("board", len(rows), len(rows[0]), cells, tuple(row_labels[::step]), tuple(column_labels[::step]))


def square_board(cells: Sequence[Cell], seat: int) -> Zone:
    """A chess board from its 64 cells (a1, b1, ..., h8), with the seat's own side below."""
    ranks = [cells[8 * rank : 8 * rank + 8] for rank in reversed(range(8))]
    return board(ranks, "87654321", "abcdefgh", turned=seat % 2 == 1)


def row(name: str, cells: Iterable[Cell]) -> Zone:
    """A zone of one row."""
    found = tuple(cells)
    return Zone(name, 1, len(found), found)


def status(state: State, sides: tuple[str, str], reason: str, more: str = "") -> str:
    """`White to move, check`, `White wins: checkmate` or `draw: stalemate`."""
    outcome = int(state["outcome"])
    if outcome == RUNNING:
        return f"{sides[int(state['to_move'])]} to move{more}"
    result = "draw" if outcome == DRAW else f"{sides[outcome - FIRST_WINS]} wins"
    return f"{result}: {reason}" if reason else result


# ---- the last move ----


def changed_cells(before: Scene, after: Scene) -> list[str]:
    """The names of the board's cells whose items differ between two scenes of one seat."""
    old = {cell.name: cell.items for cell in before.zones[0].cells}
    if after.zones[0].name != "board":
        return []
    return [cell.name for cell in after.zones[0].cells if old.get(cell.name, cell.items) != cell.items]


def mark_last(before: Scene, after: Scene) -> Scene:
    """The later scene, with the mark `last` on the cells of the board that have changed."""
    changed, board = set(changed_cells(before, after)), after.zones[0]
    cells = tuple(replace(cell, marks=(*cell.marks, "last")) if cell.name in changed else cell for cell in board.cells)
    return replace(after, zones=(replace(board, cells=cells), *after.zones[1:]))


# ---- for games that make none ----


def listed(picture: str, actions: Iterable[str], line: str) -> Scene:
    """A picture of characters and, for the seat that acts, a column of its legal actions."""
    choices = tuple(Cell(listed_click(name), (Item(name),)) for name in actions)
    shown = row("picture", [Cell("picture", (Item(f"text:{picture}"),))])
    return Scene((shown, Zone("actions", len(choices), 1, choices)) if choices else (shown,), line)


def listed_click(name: str) -> str:
    """The click for an action of such a game."""
    return f"action:{name}"
