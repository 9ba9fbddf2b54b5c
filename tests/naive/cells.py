"""The cells of each game, read off the texts that people read, with strings and lists."""

from __future__ import annotations

from naive.paco_sako import UNIONS
from naive.sequence import PACK

CHESS, PACO_SAKO, PROMOTIONS = "PNBRQK", "PRNBQK", "LPF"


def connect_four(text: str, seat: int) -> list[int]:
    """`text`: six rows of `.xo` from the top."""
    rows = text.split("/")
    found: list[int] = []
    for k, row in enumerate(rows):
        for column, mark in enumerate(row):
            supported = k == 5 or rows[k + 1][column] != "."
            found.append({".": 3 if supported else 0, "xo"[seat]: 1, "ox"[seat]: 2}[mark])
    return found


def rows_of(board: str) -> list[str]:
    """The eight ranks of a FEN, the first rank first, `.` for each empty square."""
    for gap in range(8, 0, -1):
        board = board.replace(str(gap), gap * ".")
    return board.split("/")[::-1]


def en_passant(square: str, seat: int, files: str) -> list[int]:
    """`square`: as a FEN writes it; behind a pawn of White stands rank 3."""
    found = [0] * 8
    if square != "-":
        found[files.index(square[0])] = 1 if (square[1] == "3") == (seat == 1) else 2
    return found


def chess(text: str, seat: int) -> list[int]:
    """`text`: a FEN that names the en passant square only where such a capture is legal."""
    board, _, rights, passed = text.split()[:4]
    rows, files = rows_of(board), "abcdefgh"
    if seat == 1:
        rows = [row.swapcase() for row in reversed(rows)]  # now upper case is the seat's own
    if any("K" in row[4:] for row in rows):
        rows, files = [row[::-1] for row in rows], files[::-1]
    found = [0 if mark == "." else 1 + (CHESS + CHESS.lower()).index(mark) for row in rows for mark in row]
    wings = "QK" if files[0] == "a" else "KQ"  # of the king, or the queen, who begins on the left
    sides = (str.upper, str.lower) if seat == 0 else (str.lower, str.upper)
    return [*found, *(int(side(wing) in rights) for side in sides for wing in wings), *en_passant(passed, seat, files)]


def pair(mark: str, seat: int) -> tuple[int, int]:
    """The own and the opponent's piece of a FEN's letter."""
    both = {letter: (PACO_SAKO.index(one), PACO_SAKO.index(two)) for (one, two), letter in UNIONS.items()}
    alone = {letter.lower(): (number, -1) for number, letter in enumerate(PACO_SAKO)}
    first, second = {**both, **alone, ".": (-1, -1)}[mark.lower()]
    white, black = (first, second) if mark.isupper() else (second, first)
    return (white + 1, black + 1) if seat == 0 else (black + 1, white + 1)


def paco_sako(text: str, seat: int) -> list[int]:
    """`text`: a FEN, with `^e7d` after the board for what was lifted, and `=e8F` at the end for a promotion."""
    board, _, _, rights, passed, _, *more = text.split()
    board, _, lifted = board.partition("^")
    rows, ranks = rows_of(board), "12345678"
    if seat == 1:
        rows, ranks = rows[::-1], ranks[::-1]
    pairs, hands = [pair(mark, seat) for row in rows for mark in row], [(0, 0)] * 64
    if lifted:
        hands["abcdefgh".index(lifted[0]) + 8 * ranks.index(lifted[1])] = pair(lifted[2], seat)
    promotion = [word[-1] for word in more if word.startswith("=")]
    required = 2 + PROMOTIONS.index(promotion[0]) if promotion else int(bool(lifted))
    found = [kind for squares in (pairs, hands) for layer in (0, 1) for kind in [each[layer] for each in squares]]
    own = [int(letter in rights) for letter in ("AHah", "ahAH")[seat]]
    return [*found, *own, *en_passant(passed, seat, "abcdefgh"), required]


def sequence(view: str, seat: int) -> list[int]:
    """`view`: what the seat knows, with `??` for cards that it does not, a `+` behind those that everybody does."""
    board, *words = view.split()
    values = dict(word.split("=") for word in words)
    found = [("_rbXO#", "_brOX#")[seat % 2].index(mark) for mark in board.replace("/", "")]
    hands = [hand.replace("'", "") for hand in values["hands"].split(",")]
    own = hands[seat] if seat < len(hands) else ""
    others = [[word[-2:] for word in hand.split("+")[:-1]] for hand in hands]  # what a `+` follows
    partners, opponents = (
        [card for k, hand in enumerate(others) if k != seat and (k + seat) % 2 == side for card in hand]
        for side in (0, 1)
    )
    piles = [pieces(own.replace("+", "")), partners, opponents, pieces(values["display"]), pieces(values["discards"])]
    for pile in piles:
        found += [pile.count(card) for card in PACK]
    scores = [int(score) for score in values["sequences"].split(",")]
    teams = [min(2, sum(scores[side::2])) for side in (seat % 2, 1 - seat % 2)]
    return [*found, *teams, int(values.get("traded", 0)), len(range(0, int(values["deck"]), 8))]


def pieces(word: str) -> list[str]:
    return [word[k : k + 2] for k in range(0, len(word), 2)]
