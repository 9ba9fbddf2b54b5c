"""Chess games as PGN and their moves as SAN: reading and writing. Comments and variations are skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from plyground.errors import IllegalAction, InvalidText, shorten
from plyground.game import Game, load
from plyground.games.chess.text import move_number
from plyground.games.interface import Outcome
from plyground.position import Position

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
RESULTS = {Outcome.RUNNING: "*", Outcome.DRAW: "1/2-1/2", Outcome.FIRST_WINS: "1-0", Outcome.SECOND_WINS: "0-1"}
TOKEN = re.compile(
    r"""(?P<skip>\s+ | ^%[^\n]* | ;[^\n]* | \{[^}]*\} | \$\d+ | [0-9]+(?:\.+|(?=\s)) | \.+ | [!?]+ | e\.p\.)
      | (?P<tag>\[\s*[A-Za-z0-9_]+\s*"(?:[^"\\\n]|\\.)*"\s*\])
      | (?P<open>\() | (?P<close>\))
      | (?P<result>1-0 | 0-1 | 1/2-1/2 | \*)
      | (?P<move>[A-Za-z0](?:e\.p\.|[A-Za-z0-9+\#=:!?-])*)""",
    re.VERBOSE | re.MULTILINE,
)
TAG = re.compile(r'\[\s*(\w+)\s*"((?:[^"\\]|\\.)*)"\s*\]')
LINE = 80
READ_TAGS = {name.lower(): name for name in (*ROSTER, "SetUp", "FEN", "Variant")}
"""the tags that mean something here, by their names in small letters: not every program writes them right"""
STANDARD = ("standard", "chess", "normal", "from position")
"""what a tag `Variant` says of chess by the usual rules, in small letters"""


@dataclass
class Record:
    """One game: its first position, the actions played, and its tags."""

    start: Position
    actions: list[int] = field(default_factory=list[int])
    tags: dict[str, str] = field(default_factory=dict[str, str])
    result: str = "*"
    note: str = ""
    """a sentence where moves were left out: those that people played on with after a draw by the rules"""

    def positions(self) -> Iterator[Position]:
        """Every position from the first to the last."""
        position = self.start
        yield position
        for action in self.actions:
            position = position.play(action)
            yield position


# ---- reading ----


def read(source: str, game: Game | None = None) -> list[Record]:
    """Every game of a PGN text, or one error that names game, move and position.

    Games between people continue after a third occurrence that nobody claims: unless another game is given, only the
    automatic draws end one. Moves after such a draw are left out, and `note` says so.
    """
    rules = game or load("chess", draws="automatic")
    records: list[Record] = []
    tags: dict[str, str] = {}
    moves: list[str] = []
    for kind, token in _tokens(source.removeprefix("\ufeff")):
        if kind == "tag":
            if moves:  # the last game had no result
                records.append(_record(rules, tags, moves, "", len(records) + 1))
                tags, moves = {}, []
            name, value = TAG.fullmatch(token).groups()  # type: ignore[union-attr]
            tags[READ_TAGS.get(name.lower(), name)] = re.sub(r"\\(.)", r"\1", value)
        elif kind == "move":
            moves.append(token)
        else:
            records.append(_record(rules, tags, moves, token, len(records) + 1))
            tags, moves = {}, []
    if tags or moves:
        records.append(_record(rules, tags, moves, "", len(records) + 1))
    return records


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    """Tags, moves and results of the main lines, in order."""
    place, depth = 0, 0
    while place < len(source):
        found = TOKEN.match(source, place)
        if not found or found.end() == place:
            raise InvalidText(f"cannot read {shorten(source[place : place + 40])!r} in a PGN, at character {place}")
        kind, place = str(found.lastgroup), found.end()
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if depth < 0:
                raise InvalidText(f"a variation ends that never began, at character {place - 1} of a PGN")
        elif depth == 0 and kind != "skip":
            yield kind, found[0]
    if depth:
        raise InvalidText("a variation is not closed at the end of a PGN")


def _record(game: Game, tags: dict[str, str], moves: Sequence[str], result: str, number: int) -> Record:
    """Play the moves of one game; `result` is what stands at their end."""
    variant = tags.get("Variant", "").strip()
    if variant and variant.lower() not in STANDARD:
        usual = "chess by the usual rules has no such tag, or one of: Standard, Chess, Normal, From Position"
        raise InvalidText(
            f"game {number} of the PGN is of the variant {shorten(variant)!r}, which is not read; {usual}"
        )
    try:
        start = game.position(tags.get("FEN", "startpos"))
    except InvalidText as error:
        raise InvalidText(f"game {number} of the PGN begins from an impossible position: {error}") from error
    tagged = tags.get("Result", "*")  # it counts where nothing or `*` stands at the end of the moves
    ended = tagged if result in ("", "*") and tagged in RESULTS.values() else result or "*"
    record, position = Record(start, [], tags, ended), start
    for place, move in enumerate(moves):
        turn = f"{move_number(position.state)} {shorten(move)}"
        if position.outcome == Outcome.DRAW and position.reason != "stalemate":
            left_out = "one move" if place + 1 == len(moves) else f"{len(moves) - place} moves"
            record.note = f"a draw ({position.reason}) before {turn}: {left_out} from there on left out"
            break
        try:
            action = position.action(move)
        except IllegalAction as error:
            raise InvalidText(f"game {number} of the PGN, move {turn}: {error}") from error
        record.actions.append(action)
        position = position.play(action)
    return record


# ---- writing ----


def write(record: Record) -> str:
    """One game as PGN; the result is that of the rules where they ended it, otherwise that of the record."""
    position, words = record.start, list[str]()
    for action in record.actions:
        if position.to_move == 0 or not words:
            words.append(move_number(position.state))
        words.append(position.notation(action))
        position = position.play(action)
    result = RESULTS[position.outcome] if position.over else record.result
    usual = {name: record.tags.get(name, "????.??.??" if name == "Date" else "?") for name in ROSTER}
    tags = {**usual, **record.tags, "Result": result}  # first the seven that every PGN has, in their order
    if record.start != record.start.game.start():
        tags |= {"SetUp": "1", "FEN": record.start.text}
    head = list[str]()
    for name, value in tags.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        head.append(f'[{name} "{escaped}"]')
    lines = [""]  # of at most LINE characters
    for word in [*words, result]:
        if len(lines[-1]) + 1 + len(word) > LINE:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join([*head, "", *lines, ""])
