"""Connect Four solved by looking at everything: for late positions only."""

from __future__ import annotations

from naive.connect_four import Board


def score(board: Board) -> int:
    """22 less the winner's stones, negative if the side to move loses; 0 for a draw."""
    return max((move_score(board, column) for column in board.legal()), default=0)


def move_score(board: Board, column: int) -> int:
    after = board.copy()
    after.play(column)
    if after.outcome == "DRAW":
        return 0
    if after.outcome != "RUNNING":
        stones = sum(stone == board.moves % 2 for line in after.columns for stone in line)
        return 22 - stones
    return -score(after)
