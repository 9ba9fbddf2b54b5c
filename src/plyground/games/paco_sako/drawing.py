"""Paco Ŝako as a picture of characters."""

from __future__ import annotations

from collections.abc import Sequence

from plyground.games.interface import RUNNING, State
from plyground.games.paco_sako.board import NOWHERE
from plyground.games.paco_sako.text import SIDES, SQUARES, cells, prompt, reason

FIGURES = (" ♙♖♘♗♕♔", " ♟♜♞♝♛♚")
STYLES = {"[♙♖♘♗♕♔]": "bold blue", "[♟♜♞♝♛♚]": "bold yellow", r"\*": "bold green"}


def draw(state: State) -> str:
    """The board: white's piece left, black's right, both in a union; below, what the board cannot show."""
    return _drawing(state, ())


def draw_choices(state: State, actions: Sequence[int]) -> str:
    """The board, with a star wherever a piece may be placed or, with an empty hand, lifted."""
    return _drawing(state, [action % 64 for action in actions if action < 128])


def _drawing(state: State, starred: Sequence[int]) -> str:
    def cell(square: int, white: int, black: int) -> str:
        pieces = FIGURES[0][white] + FIGURES[1][black]
        return ("*" if square in starred else " ") + ("· " if pieces == "  " else pieces)

    board = [cell(square, *kinds) for square, kinds in enumerate(cells(state))]
    rows = [f"{rank + 1} {' '.join(board[8 * rank : 8 * rank + 8])}".rstrip() for rank in reversed(range(8))]
    return "\n".join([*rows, f"   {'   '.join('abcdefgh')}", _remarks(state)])


def _remarks(state: State) -> str:
    side, hand = int(state["to_move"]), [int(kind) for kind in state["hand"]]
    remarks = [f"{SIDES[side]}: {prompt(state)}"] if state["outcome"] == RUNNING else [reason(state)]
    if any(hand):
        figures = f"{FIGURES[0][hand[0]]}{FIGURES[1][hand[1]]}".strip()
        remarks.append(f"{figures} from {SQUARES[int(state['origin'])]} in the hand")
    if state["promoting"] != NOWHERE:
        remarks.append(f"the pawn on {SQUARES[int(state['promoting'])]} promotes")
    if state["en_passant"] != NOWHERE:
        remarks.append(f"en passant {SQUARES[int(state['en_passant'])]}")
    return " · ".join(remarks)
