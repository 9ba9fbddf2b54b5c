"""Connect Four as a picture of characters."""

from __future__ import annotations

from collections.abc import Sequence

from plyground.games.connect_four.text import SIDES, cells, winning
from plyground.games.interface import State

STYLES = {"[●◆]": "bold blue", "[○◇]": "bold yellow", r"[\[\]◆◇]": "reverse"}
"""told apart by shape and by colours, also by colour-blind people"""
WINNING = {"●": "◆", "○": "◇"}


def draw(state: State) -> str:
    """The board, with the columns' names below."""
    rows = [f" {' '.join(row)}" for row in cells(state, SIDES)]
    return "\n".join([*rows, " 1 2 3 4 5 6 7"])


def draw_marked(state: State, seat: int, before: State | None, choices: Sequence[int]) -> str:
    """The board with the last stone in brackets and the winning four as diamonds."""
    rows, won = cells(state, SIDES), winning(state)
    old = rows if before is None else cells(before, SIDES)
    lines: list[str] = []
    for number, (row, earlier) in enumerate(zip(rows, old, strict=True)):
        shown = [WINNING[cell] if (5 - number, column) in won else cell for column, cell in enumerate(row)]
        changed = next((column for column, cell in enumerate(row) if cell != earlier[column]), None)
        line = f" {' '.join(shown)} "
        if changed is not None:
            line = f"{line[: 2 * changed]}[{shown[changed]}]{line[2 * changed + 3 :]}"
        lines.append(line.rstrip())
    return "\n".join([*lines, " 1 2 3 4 5 6 7"])
