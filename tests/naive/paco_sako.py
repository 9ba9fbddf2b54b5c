"""Paco Ŝako with dictionaries, written from the rules."""

from __future__ import annotations

FILES, KINDS = "abcdefgh", "PRNBQK"
STRAIGHT, SLANTED = [(1, 0), (-1, 0), (0, 1), (0, -1)], [(1, 1), (1, -1), (-1, 1), (-1, -1)]
RAYS = {"R": STRAIGHT, "B": SLANTED, "Q": STRAIGHT + SLANTED}
JUMPS = [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]
EVERY = [(file, rank) for rank in range(8) for file in range(8)]


def paths(origin: tuple[int, int], ways: list[tuple[int, int]], longest: int) -> list[list[tuple[int, int]]]:
    """The squares from the origin (without it) to the edge of the board or as far as a piece goes, way by way."""
    f, r = origin
    every = [[(f + k * df, r + k * dr) for k in range(1, longest + 1)] for df, dr in ways]
    return [[square for square in path if square in EVERY] for path in every]


REACH = {kind: {origin: paths(origin, ways, 7) for origin in EVERY} for kind, ways in RAYS.items()}
REACH["N"] = {origin: paths(origin, JUMPS, 1) for origin in EVERY}
UNIONS = {
    "PP": "a",
    "PR": "c",
    "PN": "d",
    "PB": "e",
    "PQ": "f",
    "PK": "g",
    "RR": "h",
    "RN": "i",
    "RB": "j",
    "RQ": "l",
    "RK": "m",
    "NN": "o",
    "NB": "s",
    "NQ": "t",
    "NK": "u",
    "BB": "v",
    "BQ": "w",
    "BK": "x",
    "QQ": "y",
    "QK": "z",
}


def name(square: tuple[int, int]) -> str:
    return FILES[square[0]] + str(square[1] + 1)


def square_of(text: str) -> tuple[int, int]:
    return FILES.index(text[0]), int(text[1]) - 1


class Board:
    """`pieces[colour]` maps a square (file, rank) to a letter; colour 0 is white."""

    def __init__(self) -> None:
        back = dict(enumerate("RNBQKBNR"))
        self.pieces = [
            {(f, r): letter for f in range(8) for r, letter in ((0, back[f]), (1, "P"))},
            {(f, r): letter for f in range(8) for r, letter in ((7, back[f]), (6, "P"))},
        ]
        self.mover = 0
        self.must = "L"  # L, P, pL, pP, pF
        self.hand: list[str] | None = None  # the mover's letter, the partner's or ""
        self.origin: tuple[int, int] | None = None
        self.passed: tuple[int, int] | None = None
        self.promoting: tuple[int, int] | None = None
        self.rights = {"A", "H", "a", "h"}
        self.idle = 0
        self.seen: dict[object, int] = {}
        self.outcome = "RUNNING"
        self.choices = self.legal()  # what is legal after each `play`

    # ---- looking ----

    def empty(self, square: tuple[int, int]) -> bool:
        return square not in self.pieces[0] and square not in self.pieces[1]

    def moves(  # noqa: C901
        self, kind: str, alone: bool, origin: tuple[int, int], threats: bool = False
    ) -> set[tuple[int, int]]:
        """Where a piece goes, or what it threatens (only asked for lone ones)."""
        mine, theirs = self.pieces[self.mover], self.pieces[1 - self.mover]
        found: set[tuple[int, int]] = set()
        f, r = origin
        if kind in REACH:  # what it reaches one by one, until something stands in its way
            for path in REACH[kind][origin]:
                for square in path:
                    if square in mine or square in theirs:
                        if threats or (alone and square in theirs):
                            found.add(square)
                        break
                    found.add(square)
            return found
        if kind == "K":
            steps = {(f + df, r + dr) for df, dr in STRAIGHT + SLANTED}
            return {s for s in steps if 0 <= s[0] < 8 and 0 <= s[1] < 8 and self.empty(s)} if not threats else set()
        up = 1 if self.mover == 0 else -1
        home = r in ((0, 1) if self.mover == 0 else (6, 7))
        if threats:
            return {(f + df, r + up) for df in (-1, 1) if 0 <= f + df < 8 and 0 <= r + up < 8}
        if 0 <= r + up < 8 and self.empty((f, r + up)):
            found.add((f, r + up))
            if home and self.empty((f, r + 2 * up)):
                found.add((f, r + 2 * up))
        if alone:
            usable = self.passed if self.passed and self.passed[1] == (5 if self.mover == 0 else 2) else None
            found |= {(f + df, r + up) for df in (-1, 1) if (f + df, r + up) in theirs or (f + df, r + up) == usable}
        return {s for s in found if threats or not (s in mine and s not in theirs)}

    def legal(self) -> list[str]:
        if self.outcome != "RUNNING":
            return []
        if self.must[0] == "p":
            return ["=R", "=N", "=B", "=Q"]
        if self.must == "L":
            theirs, found = self.pieces[1 - self.mover], []
            for square, kind in self.pieces[self.mover].items():  # no piece is in its own way
                if self.moves(kind, square not in theirs, square):
                    found.append(square)
            return ["L" + name(square) for square in sorted(found, key=lambda s: (s[1], s[0]))]
        assert self.hand
        assert self.origin
        found = self.moves(self.hand[0], not self.hand[1], self.origin) | self.castlings()
        return ["P" + name(square) for square in sorted(found, key=lambda s: (s[1], s[0]))]

    def castlings(self) -> set[tuple[int, int]]:
        rank = 0 if self.mover == 0 else 7
        found: set[tuple[int, int]] = set()
        if self.hand != ["K", ""] or self.origin != (4, rank):
            return found
        for letter, between, walked, target in (("A", (1, 2, 3), (2, 3, 4), 2), ("H", (5, 6), (4, 5, 6), 6)):
            right = letter if self.mover == 0 else letter.lower()
            if right in self.rights and all(self.empty((f, rank)) for f in between):
                danger = self.threatened_by(1 - self.mover)
                if not any((f, rank) in danger for f in walked):
                    found.add((target, rank))
        return found

    def threatened_by(self, colour: int, chains: bool = True) -> set[tuple[int, int]]:
        """By lone pieces and by whatever any chain can release, with nothing in the hand."""
        start = self.twin()
        start.mover, start.must, start.hand, start.rights = colour, "L", None, set()
        found: set[tuple[int, int]] = set()
        queue: list[Board] = []
        for square, kind in start.pieces[colour].items():
            if square not in start.pieces[1 - colour]:
                found |= start.moves(kind, True, square, threats=True)
                if kind != "K":
                    queue.append(start.after("L" + name(square)))
        known = {board.key() for board in queue}
        while queue and chains:
            board = queue.pop()
            if board.must == "P":
                assert board.hand
                assert board.origin
                found |= board.moves(board.hand[0], True, board.origin, threats=True)
                options = ["P" + name(s) for s in board.moves(board.hand[0], True, board.origin)]
            else:
                options = board.legal()
            for option in options:
                after = board.after(option)
                if after.hand and after.mover == colour and after.key() not in known:
                    known.add(after.key())
                    queue.append(after)
        return found

    def key(self) -> object:
        pieces = tuple(frozenset(side.items()) for side in self.pieces)
        hand = tuple(self.hand) if self.hand else None
        return pieces, self.mover, self.must, hand, self.origin, self.passed, self.promoting, frozenset(self.rights)

    # ---- acting ----

    def twin(self) -> Board:
        """A copy whose board can be changed alone."""
        twin = Board.__new__(Board)
        twin.__dict__.update(self.__dict__)
        twin.pieces = [dict(side) for side in self.pieces]
        twin.rights = set(self.rights)
        return twin

    def after(self, action: str) -> Board:
        twin = self.twin()
        twin.do(action)
        return twin

    def take(self, square: tuple[int, int]) -> None:
        mine, theirs = self.pieces[self.mover], self.pieces[1 - self.mover]
        self.hand, self.origin = [mine.pop(square), theirs.pop(square, "")], square

    def do(self, action: str) -> None:
        """The board's part of an action."""
        mine, theirs = self.pieces[self.mover], self.pieces[1 - self.mover]
        if action[0] == "=":
            assert self.promoting
            mine[self.promoting] = action[1]
            self.promoting, self.idle, self.seen = None, 0, {}
            if self.must == "pF":
                self.passed = None
                self.pass_on()
            else:
                self.must = "L" if self.must == "pL" else "P"
        elif action[0] == "L":
            square = square_of(action[1:])
            self.take(square)
            assert self.hand
            if "R" in self.hand:
                self.rights -= {{(0, 0): "A", (7, 0): "H", (0, 7): "a", (7, 7): "h"}.get(square, "-")}
            self.must = "P"
        else:
            self.put_down(square_of(action[1:]), mine, theirs)

    def swap(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        for side in self.pieces:
            first, second = side.pop(one, None), side.pop(other, None)
            if first:
                side[other] = first
            if second:
                side[one] = second

    def put_down(self, square: tuple[int, int], mine: dict, theirs: dict) -> None:  # noqa: C901
        assert self.hand
        assert self.origin
        (kind, partner), origin = self.hand, self.origin
        last, up = (7, 1) if self.mover == 0 else (0, -1)
        if kind == "K":
            if abs(square[0] - origin[0]) == 2:
                self.swap((0 if square[0] == 2 else 7, square[1]), ((square[0] + origin[0]) // 2, square[1]))
            self.rights -= {"A", "H"} if self.mover == 0 else {"a", "h"}
        if kind == "P" and square == self.passed and square[0] != origin[0]:
            self.swap(square, (square[0], square[1] - up))
            self.passed = None
        if square in mine:  # a union is taken over
            self.hand, self.origin = [mine[square], ""], square
            mine[square] = kind
            if kind == "P" and square[1] == last:
                self.must, self.promoting = "pP", square
            return
        mine[square], self.hand, self.origin = kind, None, None
        if square in theirs:
            self.idle, self.seen = 0, {}
            if theirs[square] == "K":
                self.outcome = ("FIRST_WINS", "SECOND_WINS")[self.mover]
        if partner:
            theirs[square] = partner
        self.passed = None
        if kind == "P" and square[1] == last:
            self.must, self.promoting = "pF", square
            return
        if kind == "P" and abs(square[1] - origin[1]) == 2 and origin[1] == (1 if self.mover == 0 else 6):
            self.passed = (square[0], origin[1] + up)
        self.pass_on()
        if partner == "P" and square[1] == (0 if self.mover == 1 else 7):
            self.must, self.promoting = "pL", square

    def pass_on(self) -> None:
        self.mover, self.must = 1 - self.mover, "L"

    def play(self, action: str) -> None:
        """An action with all that follows from it."""
        self.idle += action[0] == "L"
        self.do(action)
        if self.outcome == "RUNNING" and self.must == "L":
            pieces = tuple(frozenset(side.items()) for side in self.pieces)
            position = pieces, self.mover, self.passed, frozenset(self.rights)
            self.seen[position] = self.seen.get(position, 0) + 1
            if self.idle >= 100 or self.seen[position] == 3:
                self.outcome = "DRAW"
        self.choices = self.legal()
        if self.outcome == "RUNNING" and not self.choices:
            self.outcome = ("SECOND_WINS", "FIRST_WINS")[self.mover]

    # ---- text ----

    def fen(self) -> str:
        rows = []
        for rank in range(7, -1, -1):
            row = "".join(self.letter((file, rank)) for file in range(8))
            for gap in range(8, 0, -1):
                row = row.replace("." * gap, str(gap))
            rows.append(row)
        board = "/".join(rows)
        if self.hand:
            assert self.origin
            mine, other = self.hand if self.mover == 0 else self.hand[::-1]
            board += f"^{name(self.origin)}{letter(mine, other)}"
        rights = "".join(right for right in "AHah" if right in self.rights) or "-"
        return f"{board} {'wb'[self.mover]} {self.idle} {rights} {name(self.passed) if self.passed else '-'} -"

    def letter(self, square: tuple[int, int]) -> str:
        return letter(self.pieces[0].get(square, ""), self.pieces[1].get(square, ""))


def letter(white: str, black: str) -> str:
    if not (white and black):
        return white or black.lower() or "."
    if KINDS.index(black) <= KINDS.index(white):
        return UNIONS[black + white]
    return UNIONS[white + black].upper()
