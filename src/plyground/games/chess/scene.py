"""Chess as a scene: a board of pieces, and the pieces a pawn may become while one is about to promote."""

from __future__ import annotations

from plyground.games.chess.text import LETTERS, SIDES, SQUARES, letters, promotion, reason
from plyground.games.interface import State
from plyground.games.scene import Cell, Item, Scene, row, square_board, status

KINDS = dict(zip(LETTERS, ("pawn", "knight", "bishop", "rook", "queen", "king"), strict=True))


def scene(state: State, seat: int) -> Scene:
    """The board with the seat's own side below; the king in check is marked."""
    side, pieces, in_check = int(state["to_move"]), letters(state), bool(state["checkers"])

    def cell(square: int) -> Cell:
        piece = pieces[square]
        items = (Item(KINDS[piece.upper()], int(piece.islower())),) if piece else ()
        return Cell(SQUARES[square], items, ("check",) if in_check and piece == "Kk"[side] else ())

    zones = [square_board([cell(square) for square in range(64)], seat)]
    if "Pp"[side] in (pieces[8:16] if side else pieces[48:56]):
        zones.append(row("promotion", [Cell(f"promote:{KINDS[k]}", (Item(KINDS[k], side),)) for k in "QRBN"]))
    return Scene(tuple(zones), status(state, SIDES, reason(state), ", check" if in_check else ""))


def clicks(state: State, action: int) -> list[str]:
    """From where, to where, and what a pawn becomes: `e2`, `e4`; castling is the king's move."""
    start, end, promoted = promotion(state, action)
    path = [SQUARES[start], SQUARES[end]]
    return [*path, f"promote:{KINDS[promoted]}"] if promoted else path
