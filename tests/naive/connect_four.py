"""Connect Four with lists, written from the rules."""

from __future__ import annotations


class Board:
    """`columns[c]` lists the stones of column c from the bottom: 0 of the first side, 1 of the second."""

    def __init__(self) -> None:
        self.columns: list[list[int]] = [[] for _ in range(7)]
        self.moves = 0
        self.outcome = "RUNNING"

    def copy(self) -> Board:
        other = Board()
        other.columns = [list(column) for column in self.columns]
        other.moves, other.outcome = self.moves, self.outcome
        return other

    def cell(self, column: int, row: int) -> int | None:
        """Whose stone stands there, row 0 at the bottom."""
        inside = 0 <= column < 7 and 0 <= row < len(self.columns[column])
        return self.columns[column][row] if inside else None

    def winner(self) -> int | None:
        for column in range(7):
            for row, first in enumerate(self.columns[column]):
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    if all(self.cell(column + k * right, row + k * up) == first for k in (1, 2, 3)):
                        return first
        return None

    def open_lines(self, side: int) -> int:
        """Lines of four without a stone of the other side."""
        count = 0
        for column in range(7):
            for row in range(6):
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    ends = column + 3 * right < 7 and 0 <= row + 3 * up < 6
                    line = [self.cell(column + k * right, row + k * up) for k in range(4)]
                    count += ends and 1 - side not in line
        return count

    def legal(self) -> list[int]:
        return [] if self.outcome != "RUNNING" else [c for c in range(7) if len(self.columns[c]) < 6]

    def play(self, column: int) -> None:
        self.columns[column].append(self.moves % 2)
        self.moves += 1
        winner = self.winner()
        if winner is not None:
            self.outcome = ("FIRST_WINS", "SECOND_WINS")[winner]
        elif self.moves == 42:
            self.outcome = "DRAW"

    def rows(self) -> list[str]:
        """The drawing, top row first."""
        marks = {0: "x", 1: "o", None: "."}
        return ["".join(marks[self.cell(column, row)] for column in range(7)) for row in reversed(range(6))]
