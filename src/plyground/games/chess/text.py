"""How chess is written: positions as FEN, moves as UCI and SAN. Plain Python: nothing compiles."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence

from plyground.errors import InvalidText, shorten
from plyground.games.bits import FALLING, LEFT_RIGHT, RISING, UP_DOWN, reach
from plyground.games.chess import board
from plyground.games.chess.rules import MAX_LEGAL
from plyground.games.interface import State

LETTERS = "PNBRQK"  # in the order of the record's `pieces`; small letters are Black's
SQUARES = [f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh"]
SIDES = ("White", "Black")
RIGHTS = "KQkq"
HOMES = {"K": (4, 7), "Q": (4, 0), "k": (60, 63), "q": (60, 56)}  # where king and rook of a castling right stand
UCI = True
AIM = "attack the opponent's king so that it cannot escape (checkmate)"
TYPING = "a move such as e4, Nf3, O-O or e2e4"
MOST_PIECES = 16  # of a side, as many as a game begins with
MOST_MOVES = (27, 8, 13, 14, 27, 10)  # of a pawn (once it is a queen), knight, bishop, rook, queen and king
ENDINGS = ("", "checkmate", "stalemate", "insufficient material")
COUNTED = (("third occurrence", "50-move rule"), ("fifth occurrence", "75-move rule"))  # by the setting `draws`


def reason(state: State) -> str:
    """How the game ended."""
    return (*ENDINGS, *COUNTED[int(state["draws"])])[int(state["ending"])]


# ---- positions ----


def text(state: State) -> str:
    """The position as FEN; an en-passant square stands there only where a pawn can legally capture."""
    cells = letters(state)
    ranks = ["".join(cell or "." for cell in cells[8 * rank : 8 * rank + 8]) for rank in reversed(range(8))]
    placed = compressed("/".join(ranks))
    rights = "".join(right for k, right in enumerate(RIGHTS) if int(state["castling"]) >> k & 1) or "-"
    passed = "-" if state["en_passant"] < 0 else SQUARES[int(state["en_passant"])]
    return f"{placed} {'wb'[int(state['to_move'])]} {rights} {passed} {state['clock']} {state['move_number']}"


def compressed(cells: str) -> str:
    """Letters and dots as a FEN writes them: numbers for dots."""
    return re.sub(r"\.+", lambda dots: str(len(dots[0])), cells)


def parse(source: str, state: State) -> None:
    """Read a FEN; the two counters at its end may be missing."""
    fields = source.split()
    if not 4 <= len(fields) <= 6:
        raise InvalidText(
            f"a FEN has 6 fields (pieces, side, castling, en passant, clock, move), not {len(fields)}: {_quote(source)}"
        )
    placed, side, rights, passed, *counters = fields
    _place(placed, state)
    if side not in ("w", "b"):
        raise InvalidText(f"the side to move is 'w' or 'b', not {_quote(side)} in {_quote(source)}")
    state["to_move"] = side == "b"
    if rights != "-" and (set(rights) - set(RIGHTS) or len(set(rights)) < len(rights)):
        raise InvalidText(f"castling is '-' or some of 'KQkq', not {_quote(rights)} in {_quote(source)}")
    state["castling"] = sum(1 << RIGHTS.index(right) for right in rights if right != "-")
    if passed != "-" and passed not in SQUARES:
        raise InvalidText(f"the en-passant square is '-' or a square, not {_quote(passed)} in {_quote(source)}")
    state["en_passant"] = -1 if passed == "-" else SQUARES.index(passed)
    for name, least, default in (("clock", 0, "0"), ("move_number", 1, "1")):
        counter = counters.pop(0) if counters else default
        if not re.fullmatch(r"[0-9]{1,4}", counter) or int(counter) < least:
            wanted = f"the {name.replace('_', ' ')} is a number from {least} to 9999"
            raise InvalidText(f"{wanted}, not {_quote(counter)} in {_quote(source)}")
        state[name] = int(counter)


def _place(placed: str, state: State) -> None:
    """Put the pieces of a FEN's first field on the board."""
    ranks = placed.split("/")
    if len(ranks) != 8:
        raise InvalidText(f"a FEN has 8 ranks, not {len(ranks)}: {_quote(placed)}")
    pieces, sides = [0] * 6, [0] * 2
    for rank, row in zip(reversed(range(8)), ranks, strict=True):
        if not re.fullmatch(r"[PNBRQKpnbrqk1-8]*", row):
            raise InvalidText(f"a rank is written with 'PNBRQK', 'pnbrqk' and 1 to 8, not {_quote(row)}")
        cells = re.sub(r"[1-8]", lambda gap: "." * int(gap[0]), row)
        if len(cells) != 8:
            raise InvalidText(f"rank {rank + 1} has 8 squares, not {len(cells)}: {_quote(row)} in {_quote(placed)}")
        for file, cell in enumerate(cells):
            if cell != ".":
                pieces[LETTERS.index(cell.upper())] |= 1 << (8 * rank + file)
                sides[cell.islower()] |= 1 << (8 * rank + file)
    state["pieces"], state["sides"] = pieces, sides


def problems(state: State) -> list[str]:
    """Everything that keeps an arrangement from being a position of a game, as far as one can easily tell."""
    pieces, sides = _sets(state)
    found = [problem for side in (0, 1) for problem in _piece_problems(_counts(pieces, sides[side]), SIDES[side])]
    found += [f"a pawn stands on {SQUARES[square]}" for square in _squares(pieces[board.PAWNS] & 0xFF000000000000FF)]
    found += _playing_problems(state, pieces, sides)
    mover = int(state["to_move"])
    if _has_kings(pieces, sides) and _attackers(pieces, sides, mover).bit_count() > 2:
        found.append(f"more than two pieces give check to {SIDES[mover]}")
    return found


def limits(state: State) -> list[str]:
    """What the rules cannot play: a king that is missing or can be taken, rights without their pieces, and more pieces
    than a game begins with or than MAX_LEGAL moves surely suffice for."""
    pieces, sides = _sets(state)
    found = list[str]()
    for side, name in enumerate(SIDES):
        counts = _counts(pieces, sides[side])
        if counts[board.KINGS] != 1:
            found.append(f"{name} has {counts[board.KINGS]} kings")
        elif sum(counts) > MOST_PIECES:
            found.append(f"{name} has {sum(counts)} pieces, but at most {MOST_PIECES} can be played with")
        elif _piece_problems(counts, name) and sum(map(operator.mul, counts, MOST_MOVES)) > MAX_LEGAL:
            found.append(f"{name} may have more than {MAX_LEGAL} moves with pieces that promoted pawns do not explain")
    return found + _playing_problems(state, pieces, sides)


def _playing_problems(state: State, pieces: list[int], sides: list[int]) -> list[str]:
    """Faults that would carry over into moves: wrong rights, and a king that can be taken."""
    found, square, mover = list[str](), int(state["en_passant"]), int(state["to_move"])
    for k, right in enumerate(RIGHTS):
        own, (king, rook) = sides[right.islower()], HOMES[right]
        at_home = (pieces[board.KINGS] & own) >> king & (pieces[board.ROOKS] & own) >> rook & 1
        if int(state["castling"]) >> k & 1 and not at_home:
            found.append(f"castling right {right!r} without king on {SQUARES[king]} and rook on {SQUARES[rook]}")
    if square >= 0 and square // 8 != (5, 2)[mover]:
        found.append(f"en passant on {SQUARES[square]}, but {SIDES[mover]} captures on rank {(6, 3)[mover]}")
    elif square >= 0:
        start, end = (square + 8, square - 8) if mover == 0 else (square - 8, square + 8)
        if not pieces[board.PAWNS] & sides[1 - mover] & 1 << end or (sides[0] | sides[1]) & (1 << square | 1 << start):
            way = f"from {SQUARES[start]} to {SQUARES[end]}"
            found.append(f"en passant on {SQUARES[square]}, but no pawn can have come {way}")
    if _has_kings(pieces, sides) and _attackers(pieces, sides, 1 - mover):
        found.append(f"{SIDES[1 - mover]} is in check, but {SIDES[mover]} is to move")
    return found


def _has_kings(pieces: list[int], sides: list[int]) -> bool:
    return all((pieces[board.KINGS] & own).bit_count() == 1 for own in sides)


def _counts(pieces: list[int], own: int) -> list[int]:
    """[6] how many pieces of each kind a side has."""
    return [(each & own).bit_count() for each in pieces]


def _piece_problems(counts: list[int], name: str) -> list[str]:
    usual = {board.KNIGHTS: 2, board.BISHOPS: 2, board.ROOKS: 2, board.QUEENS: 1}
    promoted = sum(max(0, counts[kind] - number) for kind, number in usual.items())
    found = [f"{name} has {counts[board.KINGS]} kings"] if counts[board.KINGS] != 1 else []
    if counts[board.PAWNS] > 8:
        found.append(f"{name} has {counts[board.PAWNS]} pawns")
    if promoted > max(0, 8 - counts[board.PAWNS]):
        found.append(f"{name} has more pieces than promoted pawns explain")
    return found


def _attackers(pieces: list[int], sides: list[int], side: int) -> int:
    """The opponent's pieces that attack the only king of a side."""
    square, occupied = (pieces[board.KINGS] & sides[side]).bit_length() - 1, sides[0] | sides[1]
    ahead = 1 if side == 0 else -1
    attacking = reach(square, [(ahead, -1), (ahead, 1)], once=True) & pieces[board.PAWNS]
    attacking |= reach(square, board.JUMPS, once=True) & pieces[board.KNIGHTS]
    attacking |= reach(square, board.EVERY_WAY, once=True) & pieces[board.KINGS]
    attacking |= reach(square, RISING + FALLING, occupied=occupied) & (pieces[board.BISHOPS] | pieces[board.QUEENS])
    attacking |= reach(square, UP_DOWN + LEFT_RIGHT, occupied=occupied) & (pieces[board.ROOKS] | pieces[board.QUEENS])
    return attacking & sides[1 - side]


# ---- moves ----

SAN = re.compile(r"([KQRBN])?([a-h])?([1-8])?[x:-]?([a-h][1-8])(?:=?\(?([QRBN])\)?)?(?:e\.?p\.?)?[+#]{0,2}[!?]{0,2}")
CASTLING = re.compile(r"([O0])-\1(-\1)?[+#]{0,2}[!?]{0,2}")


def squares_of(action: int, side: int) -> tuple[int, int, str]:
    """From where to where an action goes, and the letter of a promotion to less than a queen."""
    if action < board.QUEENING_ACTIONS:
        return action // 64, action % 64, ""
    number = action - board.QUEENING_ACTIONS
    start = (48, 8)[side] + number // 9
    return start, start + (8, -8)[side] + number // 3 % 3 - 1, "NBR"[number % 3]


def action_name(state: State, action: int) -> str:
    """The UCI move: e2e4, e1g1, e7e8q."""
    start, end, promoted = promotion(state, action)
    return f"{SQUARES[start]}{SQUARES[end]}{promoted.lower()}"


def notation(state: State, action: int, legal: Sequence[int]) -> str:
    """The move in algebraic notation, without the sign for check or mate."""
    cells, (start, end, promoted) = letters(state), promotion(state, action)
    letter = cells[start].upper()
    if letter == "K" and abs(start - end) == 2:
        return "O-O" if end > start else "O-O-O"
    captures = "x" if cells[end] or (letter == "P" and end == state["en_passant"]) else ""
    if letter == "P":
        came_from = SQUARES[start][0] if captures else ""
        return f"{came_from}{captures}{SQUARES[end]}{'=' if promoted else ''}{promoted}"
    moves = [squares_of(each, int(state["to_move"])) for each in legal]
    rivals = [SQUARES[s] for s, e, _ in moves if e == end and s != start and cells[s] == cells[start]]
    file, rank = SQUARES[start]
    if not rivals:
        came_from = ""
    elif all(rival[0] != file for rival in rivals):
        came_from = file
    else:
        came_from = rank if all(rival[1] != rank for rival in rivals) else file + rank
    return f"{letter}{came_from}{captures}{SQUARES[end]}"


def sign(state: State) -> str:
    """What stands behind the move that led here: `#` for mate, `+` for check."""
    return "#" if reason(state) == "checkmate" else "+" if state["checkers"] else ""


def move_number(state: State) -> str:
    """The number before the next move: `5.` for White, `5...` for Black."""
    return f"{state['move_number']}{('.', '...')[int(state['to_move'])]}"


def read_action(state: State, source: str, legal: Sequence[int]) -> list[int]:
    """The legal moves that a text in algebraic notation may mean: Nf3, exd6, O-O, e8=Q+, also Ng1-f3 and 0-0."""
    cells, castling, written = letters(state), CASTLING.fullmatch(source), SAN.fullmatch(source)
    if castling:
        king = 4 + 56 * int(state["to_move"])
        action = 64 * king + king + (-2 if castling[2] else 2)
        return [action] if action in legal and cells[king].upper() == "K" else []
    if not written:
        return []
    letter, file, rank, target, promoted = written.groups()
    if not letter and not (file and rank):  # with both, any piece: a1-b1
        letter, file = "P", file or target[0]  # a pawn that captures says where it came from
    found: list[int] = []
    for action in legal:
        start, end, becomes = promotion(state, action)
        came_from = letter or cells[start].upper(), file or SQUARES[start][0], rank or SQUARES[start][1]
        asked = *came_from, target, promoted or becomes
        if asked == (cells[start].upper(), *SQUARES[start], SQUARES[end], becomes):
            found.append(action)
    return found


def promotion(state: State, action: int) -> tuple[int, int, str]:
    """From where to where an action goes, and the letter of what a pawn becomes."""
    start, end, promoted = squares_of(action, int(state["to_move"]))
    if not promoted and end // 8 in (0, 7) and int(state["pieces"][board.PAWNS]) >> start & 1:
        promoted = "Q"
    return start, end, promoted


# ---- helpers ----


def _sets(state: State) -> tuple[list[int], list[int]]:
    """The record's sets of squares as Python's own integers."""
    return [int(each) for each in state["pieces"]], [int(each) for each in state["sides"]]


def letters(state: State) -> list[str]:
    """[64] the letter of the piece on each square, "" where there is none."""
    pieces, (_, black) = _sets(state)
    cells = [""] * 64
    for letter, where in zip(LETTERS, pieces, strict=True):
        for square in _squares(where):
            cells[square] = letter.lower() if black >> square & 1 else letter
    return cells


def _squares(squares: int) -> list[int]:
    """The squares of a set, from a1 on."""
    found: list[int] = []
    while squares:
        found.append((squares & -squares).bit_length() - 1)
        squares &= squares - 1
    return found


def _quote(source: str) -> str:
    return repr(shorten(source))
