"""Chess as a picture of characters."""

from __future__ import annotations

from collections.abc import Sequence

from plyground.games.chess.text import SIDES, letters, reason
from plyground.games.interface import State

FIGURES = dict(zip("PNBRQKpnbrqk", "♙♘♗♖♕♔♟♞♝♜♛♚", strict=True))
STYLES = {r"(?<= )[PNBRQK](?!\S)|[♙♘♗♖♕♔]": "bold blue", r"(?<= )([pnrqk]|b(?! c d))(?!\S)|[♟♞♝♜♛♚]": "bold yellow"}


def draw(state: State) -> str:
    """The board, White below; the star is beside the side to move."""
    cells, home = letters(state), 7 * int(state["to_move"])
    ranks = [
        f"{rank + 1}  {' '.join(cell or '.' for cell in cells[8 * rank : 8 * rank + 8])}{'  *' if rank == home else ''}"
        for rank in reversed(range(8))
    ]
    return "\n".join([*ranks, "   a b c d e f g h"])


def observe(state: State, seat: int) -> str:
    """The board with the seat's own side below."""
    return draw_marked(state, seat, None, ())


def draw_marked(state: State, seat: int, before: State | None, choices: Sequence[int]) -> str:
    """The board with the seat's own side below, what the last move changed in brackets; then the side to move."""
    cells, side = letters(state), int(state["to_move"])
    old = cells if before is None else letters(before)
    ranks, files = (range(7, -1, -1), range(8)) if seat == 0 else (range(8), range(7, -1, -1))

    def shown(square: int) -> str:
        return ("[{}]" if cells[square] != old[square] else " {} ").format(FIGURES.get(cells[square], "·"))

    rows = [f"{rank + 1} {''.join(shown(8 * rank + file) for file in files)}".rstrip() for rank in ranks]
    turn = reason(state) or f"{SIDES[side]} to move{', in check' if state['checkers'] else ''}"
    return "\n".join([*rows, "   " + "  ".join("abcdefgh"[file] for file in files), turn])
