"""The notations of Paco Ŝako: the original engine's FEN, the exchange notation, turns as replays write them.

All functions work on Python numbers: reading a text compiles nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from plyground.errors import InvalidText, shorten
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS, State
from plyground.games.paco_sako.board import CLEAN, KING, KNIGHT, LIFT, NOWHERE, PAWN, PLACE, PROMOTIONS

SQUARES = [f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh"]
LETTERS = ".PRNBQK"
SIDES = ("white", "black")
LENIENT = True  # boards with few pieces, without kings, with untrue rights are read, as everybody writes them
AIM = "unite one of your pieces with the opponent's king; nothing is ever taken"
TYPING = "the square to lift, then the square to place, or the whole turn (e2e4, Nf3)"
UNIONS = "acdefghijlmostuvwxyz"  # of pawn and pawn, pawn and rook, ..., queen and queen, queen and king
RIGHTS = "AHah"  # in the order of their bits
HOMES = ((4, 0), (4, 7), (60, 56), (60, 63))  # the king's and the rook's square of each right

Cell = tuple[int, int]  # the kinds of the white and the black piece on a square, 0 for none


def cells(state: State) -> list[Cell]:
    """[64] what stands on each square."""
    kinds = [0] * 64, [0] * 64
    for side, planes in enumerate(state["planes"].tolist()):
        for digit, plane in enumerate(planes):
            while plane:
                kinds[side][(plane & -plane).bit_length() - 1] |= 1 << digit
                plane &= plane - 1
    return list(zip(*kinds, strict=True))


# ---- actions ----


def action_name(state: State, action: int) -> str:
    """`Le2` lifts, `Pe4` places, `=Q` promotes."""
    if action >= 128:
        return f"={'RNBQ'[action - 128]}"
    return ("L", "P")[action // 64] + SQUARES[action % 64]


def prompt(state: State) -> str:
    """What a person is asked for."""
    return ("lift", "place", "promote, then lift", "promote, then place", "promote")[int(state["required"])]


def read_action(state: State, typed: str, legal: Sequence[int]) -> list[int]:
    """The action that a bare square means, a square with its piece (`Ng1`, `NPe5`), or a bare piece."""
    name, square = f"={typed.upper()}", typed[-2:].lower()
    if square in SQUARES and state["required"] in (LIFT, PLACE):
        side, lifts = int(state["to_move"]), state["required"] == LIFT
        cell = cells(state)[SQUARES.index(square)] if lifts else state["hand"]
        own, partner = LETTERS[cell[side]], LETTERS[cell[1 - side]]
        if typed[:-2].upper() in ("", own, f"{own}{partner}"):
            name = ("L", "P")[int(state["required"])] + square
    return [action for action in legal if action_name(state, action) == name]


# ---- the engine's FEN ----


def fen(state: State) -> str:
    """The original engine's text. It tells neither a pending promotion nor how a game was drawn."""
    hand = [int(kind) for kind in state["hand"]]
    lifted = f"^{SQUARES[int(state['origin'])]}{LETTER_OF[hand[0], hand[1]]}" if any(hand) else ""
    rights = "".join(letter for bit, letter in enumerate(RIGHTS) if int(state["rights"]) >> bit & 1)
    passed = int(state["en_passant"])
    board = cells(state)  # eight ranks from the top, a letter for each occupied square
    rows = ["".join(LETTER_OF[cell] for cell in board[8 * rank : 8 * rank + 8]) for rank in reversed(range(8))]
    placed = re.sub(r"\.+", lambda gap: str(len(gap[0])), "/".join(rows))
    return (
        f"{placed}{lifted} {'wb'[int(state['to_move'])]} {int(state['idle'])} "
        f"{rights or '-'} {SQUARES[passed] if passed != NOWHERE else '-'} -"
    )


def text(state: State) -> str:
    """The FEN, and one more field where that is not enough.

    `=e8F`: the pawn on e8 must promote, and then the turn is finished (F), goes on with a lift (L) or a placement (P).
    `repetition`: the game has ended so.
    """
    line = fen(state)
    if state["promoting"] != NOWHERE:
        what = next(letter for letter, required in PROMOTIONS.items() if required == state["required"])
        line += f" ={SQUARES[int(state['promoting'])]}{what}"
    return line + (" repetition" if reason(state) == "repetition" else "")


_kinds = range(PAWN, KING + 1)
_pairs = zip(UNIONS.upper(), itertools.combinations_with_replacement(_kinds, 2), strict=False)  # not king and king
_white: dict[str, Cell] = {LETTERS[kind]: (kind, 0) for kind in _kinds} | dict(_pairs)
CELL_OF = _white | {letter.lower(): (second, first) for letter, (first, second) in _white.items()}
"""upper case: white owns the (first) piece; lower case: black does"""
LETTER_OF = {cell: letter for letter, cell in CELL_OF.items()} | {(0, 0): "."}  # lower case where both are right


# ---- reading ----

FEN = re.compile(
    r"(?P<board>[^\s^]+)(?:\^(?P<origin>[a-h][1-8])(?P<hand>[A-Za-z]))? (?P<side>[wb]) (?P<idle>[0-9]{1,3}) "
    r"(?P<rights>-|[A-Ha-h]{1,4}) (?P<passed>-|[a-h][1-8]) -"
    r"(?: =(?P<promoting>[a-h][1-8])(?P<then>[LPF]))?(?P<repetition> repetition)?"
)
EXAMPLE = "'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w 0 AHah - -'"


def parse(source: str, state: State) -> None:
    """Read a FEN as `text` or the original engine writes it, or the exchange notation: 8 lines of 8 cells."""
    if len(source) > 1000:
        raise InvalidText(f"a Paco Ŝako text has at most 1000 characters, not {len(source)}: {shorten(source)!r}")
    if "/" in source:
        _parse_fen(source, state)
    else:
        rows = [line.split() for line in source.splitlines() if line.strip()]
        if len(rows) != 8 or any(len(row) != 8 for row in rows):
            form = f"a FEN such as {EXAMPLE} nor 8 lines of 8 cells such as 'P.', '.K', 'NP'"
            raise InvalidText(f"{shorten(source)!r} is neither {form}")
        strange = [cell for row in rows for cell in row if len(cell) != 2 or not set(cell) <= set(LETTERS)]
        if strange:
            cell = shorten(strange[0])
            raise InvalidText(f"no cell is written {cell!r}; cells are two of '{LETTERS}', white's first")
        board = [(LETTERS.index(cell[0]), LETTERS.index(cell[1])) for row in reversed(rows) for cell in row]
        _set_cells(state, board)
    _conclude(state)


def exchange(state: State) -> str:
    """8 lines, rank 8 first, of 8 cells: white's piece, then black's, `.` for none."""
    board = [LETTERS[white] + LETTERS[black] for white, black in cells(state)]
    return "\n".join(" ".join(board[8 * rank : 8 * rank + 8]) for rank in reversed(range(8)))


def _parse_fen(source: str, state: State) -> None:
    found = FEN.fullmatch(" ".join(source.split()))
    if not found:
        raise InvalidText(
            f"{shorten(source)!r} is not a FEN of Paco Ŝako: board, w or b, turns without progress, castling rights, "
            f"en passant square and -, such as {EXAMPLE}"
        )
    strange = set(found["rights"]) - set(RIGHTS) - {"-"}
    if strange:
        raise InvalidText(
            f"castling rights are A, H, a and h, the files of the rooks, not {found['rights']!r} "
            f"in {shorten(source)!r}; Chess960 is not played here"
        )
    if int(found["idle"]) > 250:
        raise InvalidText(f"the counter of turns without progress ends at 100, not at {found['idle']}")
    side, hand = "wb".index(found["side"]), CELL_OF.get(found["hand"]) if found["hand"] else (0, 0)
    if hand is None or (found["hand"] and not hand[side]):
        raise InvalidText(
            f"the hand holds '^{found['origin']}{found['hand']}' in {shorten(source)!r}, "
            f"which is no piece of the player to move, {SIDES[side]}"
        )
    board = _parse_board(found["board"], source)
    _set_cells(state, board)
    state["to_move"], state["idle"] = side, int(found["idle"])
    state["hand"] = hand
    state["origin"] = SQUARES.index(found["origin"]) if found["hand"] else NOWHERE
    state["required"] = PLACE if found["hand"] else LIFT
    if all(any(cell[colour] == KING for cell in (*board, hand)) for colour in (0, 1)):
        state["rights"] = sum(1 << bit for bit, letter in enumerate(RIGHTS) if letter in found["rights"])
    if found["passed"] != "-":
        state["en_passant"] = SQUARES.index(found["passed"])
    if found["promoting"]:
        _expect_promotion(state, SQUARES.index(found["promoting"]), found["then"], source)
    if found["repetition"]:
        state["outcome"] = DRAW


def _parse_board(board: str, source: str) -> list[Cell]:
    rows: list[list[Cell]] = []
    for row in board.split("/"):
        rows.append([])
        for letter in row:
            cell = CELL_OF.get(letter)
            if letter in "12345678":
                rows[-1] += [(0, 0)] * int(letter)
            elif cell is not None:
                rows[-1].append(cell)
            else:
                raise InvalidText(f"no piece and no union is written {letter!r} (in {shorten(source)!r})")
    if len(rows) != 8 or any(len(row) != 8 for row in rows):
        widths = ", ".join(str(len(row)) for row in rows[:12])
        raise InvalidText(f"a board has 8 ranks of 8 squares, not {widths} (in {shorten(source)!r})")
    return [cell for row in reversed(rows) for cell in row]


def _expect_promotion(state: State, square: int, then: str, source: str) -> None:
    side = int(state["to_move"])
    full = bool(state["hand"][side])
    if cells(state)[square][side] != PAWN or square // 8 != (7, 0)[side] or full != (then == "P"):
        raise InvalidText(
            f"'={SQUARES[square]}{then}' does not fit {shorten(source, 120)!r}: the player to move "
            "promotes a pawn on the last rank, and then finishes (F), lifts (L) or, the hand being full, places (P)"
        )
    state["promoting"], state["required"] = square, PROMOTIONS[then]


def _set_cells(state: State, board: Sequence[Cell]) -> None:
    """Fill an empty record with the pieces of a board."""
    state["origin"] = state["en_passant"] = state["promoting"] = NOWHERE
    planes = [[0, 0, 0], [0, 0, 0]]
    for square, cell in enumerate(board):
        for side, kind in enumerate(cell):
            for digit in range(3):
                planes[side][digit] |= (kind >> digit & 1) << square
    state["planes"] = planes


def _conclude(state: State) -> None:
    """Set the outcome that follows from the board."""
    board, side = cells(state), int(state["to_move"])
    united = [any(cell[colour] == KING and all(cell) for cell in board) for colour in (0, 1)]
    if any(united):
        state["outcome"] = SECOND_WINS if united[0] else FIRST_WINS
    elif state["outcome"] == RUNNING and state["required"] == LIFT and state["idle"] >= 100:
        state["outcome"] = DRAW
    elif state["outcome"] == RUNNING and _stuck(state, board):
        state["outcome"] = FIRST_WINS if side == 1 else SECOND_WINS


STRAIGHT, SLANTED = ((1, 0), (-1, 0), (0, 1), (0, -1)), ((1, 1), (1, -1), (-1, 1), (-1, -1))
HOPS = tuple((right, up) for right in (-2, -1, 1, 2) for up in (-2, -1, 1, 2) if abs(right) != abs(up))
STEPS = {2: STRAIGHT, KNIGHT: HOPS, 4: SLANTED, 5: STRAIGHT + SLANTED, KING: STRAIGHT + SLANTED}


def _stuck(state: State, board: Sequence[Cell]) -> bool:
    """Whether the player to move has no legal action."""
    side = int(state["to_move"])
    hand = [int(kind) for kind in state["hand"]]
    if state["required"] == PLACE:
        return not _moves(state, board, hand[side], bool(hand[1 - side]), int(state["origin"]))
    own = [(square, cell[side], bool(cell[1 - side])) for square, cell in enumerate(board) if cell[side]]
    return state["required"] == LIFT and not any(_moves(state, board, kind, pair, at) for at, kind, pair in own)


def _moves(state: State, board: Sequence[Cell], kind: int, paired: bool, origin: int) -> bool:
    """Whether a piece has anywhere to go: its first step decides."""
    side = int(state["to_move"])

    def cell(right: int, up: int) -> Cell | None:
        file, rank = origin % 8 + right, origin // 8 + up
        return board[8 * rank + file] if 0 <= file < 8 and 0 <= rank < 8 else None

    if kind == PAWN:
        ahead = (1, -1)[side]
        passed = _passed_by(state, board)
        sides = [] if paired else [(right, cell(right, ahead)) for right in (-1, 1)]
        hits = [c for right, c in sides if c and (c[1 - side] or passed == origin + 8 * ahead + right)]
        return cell(0, ahead) == (0, 0) or bool(hits)
    found = [there for step in STEPS[kind] if (there := cell(*step)) is not None]
    only_empty = paired or kind == KING
    return any(there == (0, 0) or (not only_empty and there[1 - side]) for there in found)


def _passed_by(state: State, board: Sequence[Cell]) -> int | None:
    """The en passant square, where the player to move could use it."""
    square, side = int(state["en_passant"]), int(state["to_move"])
    behind = square + (-8, 8)[side]
    usable = square // 8 == (5, 2)[side] and board[square] == (0, 0) and board[behind][1 - side] == PAWN
    return square if usable else None


def reason(state: State) -> str:
    """How the game ended."""
    if state["outcome"] == RUNNING:
        return ""
    if state["outcome"] == DRAW:
        return "no progress" if state["idle"] >= 100 and state["required"] == LIFT else "repetition"
    loser = 1 if state["outcome"] == FIRST_WINS else 0
    united = any(cell[loser] == KING and all(cell) for cell in cells(state))
    return "Paco Ŝako" if united else "no legal action"


# ---- what is wrong ----


def limits(state: State) -> list[str]:
    """Why the rules and the encoders, whose numbers end at 1, are not made for this state."""
    if state["idle"] <= 100:
        return []
    return [f"{int(state['idle'])} turns without progress (the game ends at 100)"]


def problems(state: State) -> list[str]:
    """The reasons why no game reaches this state."""
    board = cells(state)
    hand = (int(state["hand"][0]), int(state["hand"][1]))
    found = [problem for side in (0, 1) for problem in _wrong_pieces(side, [*board, hand])]
    found += [*_wrong_kings(state, board, hand), *_wrong_rights(state, board, hand), *_wrong_pawns(state, board)]
    found += limits(state)
    if any(hand):
        origin, there = SQUARES[int(state["origin"])], board[int(state["origin"])]
        if any(there) and (all(hand) or not all(there)):
            found.append(f"the hand has lifted from {origin}, but the square is not empty")
    return found


def _wrong_pieces(side: int, all_cells: Iterable[Cell]) -> list[str]:
    """A side keeps its sixteen pieces; pawns become others."""
    kinds = [cell[side] for cell in all_cells if cell[side]]
    have = {letter: kinds.count(kind) for kind, letter in enumerate(LETTERS) if kind}
    found: list[str] = []
    if len(kinds) != 16:
        found.append(f"{SIDES[side]} has {len(kinds)} pieces, not 16")
    if have["K"] != 1:
        found.append(f"{SIDES[side]} has {have['K']} kings")
    if have["P"] > 8:
        found.append(f"{SIDES[side]} has {have['P']} pawns")
    if len(kinds) == 16 and have["K"] == 1:
        few = [letter for letter, least in (("R", 2), ("N", 2), ("B", 2), ("Q", 1)) if have[letter] < least]
        found += [f"{SIDES[side]} has only {have[letter]} {letter}, but no piece is ever lost" for letter in few]
    return found


def _wrong_kings(state: State, board: Sequence[Cell], hand: Cell) -> list[str]:
    """A king is in a union only where the game has ended so: the loser is to move, or the winner's pawn promotes."""
    found: list[str] = []
    for side in (0, 1):
        united = [SQUARES[square] for square, cell in enumerate(board) if cell[side] == KING and cell[1 - side]]
        last = SQUARES[int(state["promoting"])] if state["required"] == PROMOTIONS["F"] else ""
        lost = state["to_move"] == side if not last else state["to_move"] != side and united == [last]
        fits = lost and state["idle"] == 0 and not any(hand) and state["required"] in (LIFT, PROMOTIONS["F"])
        if united and not fits:
            found.append(f"the {SIDES[side]} king on {', '.join(united)} is in a union, but the game goes on")
    if KING in hand and all(hand):
        found.append("a king is in a lifted union")
    if any(cell == (KING, KING) for cell in board):
        found.append("the kings are united with each other")
    return found


def _wrong_rights(state: State, board: Sequence[Cell], hand: Cell) -> list[str]:
    """A right needs its king at home, and its rook.

    By the engine's rule a rook may have left in a chain and kept the right; then there is a union somewhere, for good.
    """
    found: list[str] = []
    unions = any(map(all, board)) or all(hand)
    for bit, (letter, (king, rook)) in enumerate(zip(RIGHTS, HOMES, strict=True)):
        side = bit // 2
        if int(state["rights"]) >> bit & 1:
            lifted = hand[side] == KING and state["origin"] == king
            if board[king][side] != KING and not lifted:
                found.append(f"castling right {letter}, but no {SIDES[side]} king on {SQUARES[king]}")
            if LETTERS[board[rook][side]] != "R" and (state["castling"] == CLEAN or not unions):
                found.append(f"castling right {letter}, but no {SIDES[side]} rook on {SQUARES[rook]}")
    return found


def _wrong_pawns(state: State, board: Sequence[Cell]) -> list[str]:
    found: list[str] = []
    for side, rank in ((0, 7), (1, 0)):
        for square in range(8 * rank, 8 * rank + 8):
            if board[square][side] == PAWN and square != state["promoting"]:
                found.append(f"a {SIDES[side]} pawn on {SQUARES[square]}, its last rank, is not promoting")
    passed, other = int(state["en_passant"]), 1 - int(state["to_move"])
    lifted = state["hand"][other] == PAWN and state["origin"] == passed + (8, -8)[other]  # in its union, by the player
    if passed != NOWHERE and _passed_by(state, board) is None and not lifted:
        found.append(f"no pawn of {SIDES[other]} has just passed over {SQUARES[passed]}")
    return found


# ---- turns, as replays write them ----


def turn_text(steps: Iterable[tuple[State, int]]) -> str:
    """One turn, given as each state with the action taken in it: `e2>e4`, `Bf1xNa6`, `Qd8>Pd5>d4`, `=N:Rh1>Nh8>g6`."""
    written = ""
    for state, action in steps:
        side, board, square = int(state["to_move"]), cells(state), action % 64
        own, partner = board[square][side], board[square][1 - side]
        if action >= 128:
            written += action_name(state, action) + (":" if state["required"] == PROMOTIONS["L"] else "")
        elif action < 64:
            written += LETTERS[own] + LETTERS[partner] if partner else _unless_pawn(own)
            written += SQUARES[square]
        elif state["hand"][side] == KING and abs(square - int(state["origin"])) == 2:
            written = written[:-3] + ("0-0" if square > state["origin"] else "0-0-0")
        else:
            slanted = state["hand"][side] == PAWN and (square - int(state["origin"])) % 8
            if slanted and square == _passed_by(state, board):
                pulled = board[square + (-8, 8)[side]]
                own, partner = pulled[side], pulled[1 - side]
            met = f">{LETTERS[own]}" if own else f"x{_unless_pawn(partner)}" if partner else ">"
            written += met + SQUARES[square]
    return written


def read_turn(written: str, side: int) -> list[str]:
    """The names of the actions of a turn of `side` in this notation, in their order."""
    castled = re.fullmatch(r"((?:=[RNBQ]:)?)0-0(-0)?", written)
    if castled:
        rank = (1, 8)[side]
        return [*([castled[1][:2]] if castled[1] else []), f"Le{rank}", f"P{'c' if castled[2] else 'g'}{rank}"]
    if not re.fullmatch(r"(=[RNBQ]:)?[PRNBQK]{0,2}[a-h][1-8](([>x][PRNBQK]?[a-h][1-8])(=[RNBQ])?)+", written):
        raise InvalidText(
            f"{shorten(written)!r} is no turn; turns look like e2>e4, Bf1xNa6, Qd8>Pd5>d4, =N:Rh1>g1, 0-0"
        )
    names = re.findall(r"=[RNBQ]|[a-h][1-8]", written)
    lifted = next(place for place, name in enumerate(names) if name[0] != "=")
    sorts = ("P" if place > lifted else "L" for place in range(len(names)))
    return [name if name[0] == "=" else sort + name for name, sort in zip(names, sorts, strict=True)]


def typed_turn(written: str, side: int) -> list[str]:
    """`read_turn` for people, who also type `e2e4`, `Ng1-f3` and `O-O`."""
    castled = re.sub(r"\b[Oo]\b", "0", written)
    return read_turn(re.sub(r"(?<=[a-h][1-8])-?(?=[PRNBQK]?[a-h][1-8])", ">", castled), side)


def _unless_pawn(kind: int) -> str:
    return "" if kind == PAWN else LETTERS[kind]
