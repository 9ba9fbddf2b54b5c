"""Paco Ŝako as a scene: a board on which a union is two items on a cell, what is in the hand, and promotions."""

from __future__ import annotations

from plyground.games.interface import RUNNING, State
from plyground.games.paco_sako.board import KING, LIFT, NOWHERE, PLACE
from plyground.games.paco_sako.sako import in_sako
from plyground.games.paco_sako.text import SIDES, SQUARES, cells, prompt, reason
from plyground.games.scene import Cell, Item, Scene, row, square_board, status

KINDS = ("", "pawn", "rook", "knight", "bishop", "queen", "king")
PROMOTIONS = KINDS[2:6]  # in the order of the actions


def scene(state: State, seat: int) -> Scene:
    """The board with the seat's own side below; marked are where the hand lifted, the pawn that promotes, and the king
    that is in Ŝako."""
    squares, side, sako = cells(state), int(state["to_move"]), in_sako(state)
    marked = {int(state["origin"]): "lifted", int(state["promoting"]): "promotes"}
    if sako:
        marked[next(square for square, kinds in enumerate(squares) if kinds[side] == KING)] = "check"
    marked.pop(NOWHERE, None)
    board = [
        Cell(SQUARES[square], _items(*kinds), (marked[square],) if square in marked else ())
        for square, kinds in enumerate(squares)
    ]
    zones = [square_board(board, seat)]
    if any(state["hand"]):
        zones.append(row("hand", [Cell("hand", _items(*map(int, state["hand"])))]))
    if state["outcome"] == RUNNING and state["required"] not in (LIFT, PLACE):
        zones.append(row("promotion", [Cell(f"promote:{kind}", (Item(kind, side),)) for kind in PROMOTIONS]))
    names = SIDES[0].capitalize(), SIDES[1].capitalize()  # they begin a sentence
    return Scene(tuple(zones), status(state, names, reason(state), f"{', Ŝako' if sako else ''}: {prompt(state)}"))


def clicks(state: State, action: int) -> list[str]:
    """One click for each action: the square to lift from or to place on, or what a pawn becomes."""
    return [SQUARES[action % 64] if action < 128 else f"promote:{PROMOTIONS[action - 128]}"]


def _items(white: int, black: int) -> tuple[Item, ...]:
    """What stands on a cell: nothing, a piece, or a union, White's piece first."""
    return tuple(Item(KINDS[kind], side) for side, kind in enumerate((white, black)) if kind)
