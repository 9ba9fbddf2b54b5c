"""Connect Four as a picture of characters."""

from __future__ import annotations

from plyground.games.connect_four.text import SIDES, cells
from plyground.games.interface import State

STYLES = {"●": "bold blue", "○": "bold yellow"}  # told apart by shape and by colours, also by colour-blind people


def draw(state: State) -> str:
    """The board, with the columns' names below."""
    rows = [f" {' '.join(row)}" for row in cells(state, SIDES)]
    return "\n".join([*rows, " 1 2 3 4 5 6 7"])
