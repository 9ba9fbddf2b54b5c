"""The twins' side of the proof of games. It needs no numpy, so that PyPy can run it too.

`python -m torture.twins GAME` reads a line for each step of a batch: a JSON list of plies (see `follow`). Each is
compared with the twin of its row, which then plays the same action. The only output is a summary at the end.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from naive import connect_four

CORNERS = {7: 1, 0: 2, 63: 4, 56: 8}  # chess: the bit of a right to castle, by the rook's square
PROMOTED = ("", "p", "n", "b", "r", "q")


class ConnectFour:
    """The twin of Connect Four."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.board = connect_four.Board()

    def legal(self) -> set[str]:
        return {str(column + 1) for column in self.board.legal()}

    def state(self) -> list[Any]:
        return ["".join(self.board.rows()), self.board.outcome]

    def texts(self, action: str | None) -> list[str]:
        return ["/".join(self.board.rows())]

    def play(self, action: str) -> None:
        self.board.play(int(action) - 1)


class Chess:
    """python-chess, as the twin of chess."""

    def __init__(self, settings: dict[str, str]) -> None:
        import chess  # only here: PyPy need not have it

        self.board, self.move = chess.Board(), chess.Move
        self.squares, self.automatic = chess.SQUARE_NAMES, settings.get("draws") == "automatic"
        self.seen: Counter[tuple[Any, ...]] = Counter()
        self.look()

    def look(self) -> None:
        """Find what is asked several times for each ply."""
        board, squares = self.board, self.squares
        self.names = {
            squares[move.from_square] + squares[move.to_square] + PROMOTED[move.promotion or 0]
            for move in board.legal_moves  # as `move.uci()`, in half the time
        }
        kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
        rights = sum(bit for square, bit in CORNERS.items() if board.castling_rights >> square & 1)
        passed = board.ep_square if board.has_legal_en_passant() else -1
        self.position = (*kinds, board.occupied_co[True], board.occupied_co[False], rights, passed, int(not board.turn))
        self.seen[self.position] += 1
        self.outcome, self.ending = self.end()

    def end(self) -> tuple[str, str]:
        """Outcome and reason."""
        board, many, clock = self.board, 5 if self.automatic else 3, 150 if self.automatic else 100
        if not self.names:
            winner = "SECOND_WINS" if board.turn else "FIRST_WINS"
            return (winner, "checkmate") if board.is_check() else ("DRAW", "stalemate")
        if board.is_insufficient_material():
            return "DRAW", "insufficient material"
        if self.seen[self.position] >= many:
            return "DRAW", f"{'fifth' if self.automatic else 'third'} occurrence"
        if board.halfmove_clock >= clock:
            return "DRAW", f"{clock // 2}-move rule"
        return "RUNNING", ""

    def legal(self) -> set[str]:
        return self.names if self.outcome == "RUNNING" else set()

    def state(self) -> list[Any]:
        board, times = self.board, self.seen[self.position]
        counts = board.is_check(), times, board.halfmove_clock, board.fullmove_number
        return [*self.position, *counts, self.outcome, self.ending]

    def texts(self, action: str | None) -> list[str]:
        moves = [self.board.san(self.move.from_uci(action)).rstrip("+#")] if action else []
        return [self.board.fen(en_passant="legal"), *moves]

    def play(self, action: str) -> None:
        self.board.push(self.move.from_uci(action))
        self.look()


TWINS: dict[str, Any] = {
    "connect_four": ConnectFour,
    "chess": Chess,
}
"""game: the class of its twin"""


class Follower:
    """The twins of a batch of games."""

    def __init__(self, word: str) -> None:
        name, _, settings = word.partition(":")
        self.word, self.kind = word, TWINS[name]
        self.settings = dict(setting.split("=") for setting in settings.split(",") if setting)
        self.twins: dict[int, Any] = {}
        self.plies = 0

    def follow(self, plies: Sequence[Sequence[Any]]) -> list[str]:
        """What differs in a list of plies, each of them [row, state, legal, action, texts].

        `action` is None in the final position of a game. `texts` is None where texts are not compared.
        """
        findings: list[str] = []
        for row, state, legal, action, texts in plies:
            if row not in self.twins:
                self.twins[row] = self.kind(self.settings)
            twin = self.twins[row]
            theirs, options = twin.state(), twin.legal()
            if theirs != state:
                findings.append(f"{self.word}: {state} is {theirs} for the twin")
            if len(legal) != len(options) or set(legal) != options:
                findings.append(f"{self.word}: in {state} only one side has {sorted(set(legal) ^ options)}")
            if findings:
                break
            if texts is not None and texts != twin.texts(action):
                findings.append(f"{self.word}: {texts} is {twin.texts(action)} for the twin")
            if action is None:
                del self.twins[row]
            else:
                twin.play(action)
                self.plies += 1
        return findings


def main() -> None:
    """Follow the plies of stdin until one differs; argv: the game."""
    follower, findings = Follower(sys.argv[1]), list[str]()
    for line in sys.stdin:
        findings = follower.follow(json.loads(line))
        if findings:
            break
    print(json.dumps({"plies": follower.plies, "findings": findings}))


if __name__ == "__main__":
    main()
