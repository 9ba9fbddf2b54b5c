"""Paco Ŝako as a picture of characters."""

from __future__ import annotations

from collections.abc import Sequence

from plyground.games.interface import RUNNING, State
from plyground.games.paco_sako.board import NOWHERE
from plyground.games.paco_sako.sako import in_sako
from plyground.games.paco_sako.text import SIDES, SQUARES, cells, prompt, reason

FIGURES = (" ♙♖♘♗♕♔", " ♟♜♞♝♛♚")
STYLES = {"[♙♖♘♗♕♔]": "bold blue", "[♟♜♞♝♛♚]": "bold yellow", r"\*": "bold green"}


def draw(state: State) -> str:
    """The board: white's piece left, black's right, both in a union; below, what the board cannot show."""
    return draw_marked(state, 0, None, ())


def draw_marked(state: State, seat: int, before: State | None, choices: Sequence[int]) -> str:
    """The board; what the last turn changed in brackets; in a column of its own, a star wherever a piece may be placed
    or lifted."""
    starred, now = {action % 64 for action in choices if action < 128}, cells(state)
    old = now if before is None else cells(before)

    def cell(square: int) -> str:
        white, black = now[square]
        pieces, changed = FIGURES[0][white] + FIGURES[1][black], now[square] != old[square]
        star = ("*" if square in starred else " ") if starred else ""
        left, right = "[]" if changed else "  "
        return f"{star}{left}{'· ' if pieces == '  ' else pieces}{right}"

    rows = [f"{rank + 1} {''.join(cell(8 * rank + file) for file in range(8))}".rstrip() for rank in reversed(range(8))]
    room = " " * (4 if starred else 3)
    side, hand = int(state["to_move"]), [int(kind) for kind in state["hand"]]
    remarks = [f"{SIDES[side].capitalize()}: {prompt(state)}"] if state["outcome"] == RUNNING else [reason(state)]
    if in_sako(state):
        remarks.append(f"Ŝako: the {SIDES[side]} king can be reached")
    if any(hand):
        figures = f"{FIGURES[0][hand[0]]}{FIGURES[1][hand[1]]}".strip()
        remarks.append(f"{figures} from {SQUARES[int(state['origin'])]} in the hand")
    if state["promoting"] != NOWHERE:
        remarks.append(f"the pawn on {SQUARES[int(state['promoting'])]} promotes")
    if state["en_passant"] != NOWHERE:
        remarks.append(f"en passant {SQUARES[int(state['en_passant'])]}")
    return "\n".join([*rows, f"{room}{room.join('abcdefgh')}", " · ".join(remarks)])
