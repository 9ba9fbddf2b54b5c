"""A dataset's positions as records, and as lines: one JSON object for each, written, read back and checked.

    fen              the position (other games: `position`, in the game's own text)
    side             "w" or "b" (other games: the side's name)
    best_action      the teacher's best action
    top_k            its best actions, best first
    teacher_policy   {action: probability} over them
    value            the value of the best one for the side to move, -1 to 1
    valid_actions    all legal actions, ascending
    move             the name of the exact best move
    game_id, ply, ts the game, the ply of the position in it, and a time stamp

Chess actions are 64 * from + to for every promotion; `move` tells promotions apart. Every line and every record of
unknown origin is validated: types and ranges first, then everything that the rules determine about the position.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.checked_states import read_positions, rebuild
from plyground.errors import Error, shorten
from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.teaching.config import MOST_TOP

LONGEST_LINE = 1 << 16  # bytes
MANY_CHARACTERS = 1000  # of a rejected line are kept
TOGETHER = 512  # positions whose states fit a core's cache
SUM_ERROR = 1e-3  # how far a policy may be from a sum of 1
DIGITS = 6  # of values and probabilities, behind the point
LONGEST_ID = 40  # bytes of a game's name; of a longer one a record keeps the hash

Records = NDArray[np.void]
Ints = NDArray[np.int32]


class BadLine(Error):
    """A line that a teacher cannot have written."""


class Fault(NamedTuple):
    """A rejected line (or record, counted from 1) and the reason."""

    line: int
    reason: str
    text: bytes


class Lines:
    """The positions of one game with a teacher's evaluations, as lines and as records."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.form = game.rules.DATASET
        self.place, self.sides = self.form.position, self.form.sides
        numbers = ("best_action", "top_k", "teacher_policy", "value", "valid_actions", "move", "game_id", "ply", "ts")
        self.fields = (self.place, "side", *numbers)
        self.learned = np.dtype(
            [
                ("state", game.rules.HEAD),
                ("key", np.uint64),  # the same for the same position and side
                ("game", np.uint64),  # the same for the same game
                ("top", np.int32, (MOST_TOP,)),  # best first, then -1
                ("policy", np.float32, (MOST_TOP,)),  # then 0
                ("value", np.float32),
                ("ply", np.int32),
            ]
        )
        """what a network learns from"""
        told = [("move", np.int32), ("time", np.int64), ("game_id", f"S{LONGEST_ID}")]  # exact best action; of UNIX
        self.dtype = np.dtype([*((name, self.learned[name]) for name in self.learned.names or ()), *told])
        """and what else a line tells"""

    def keys(self, texts: Sequence[str]) -> list[int]:
        """[N] 64 bits that distinguish the positions of these texts: without their clocks."""
        clocks = self.form.clocks
        return [hash_of(text.rsplit(" ", clocks)[0] if clocks else text) for text in texts]

    def texts(self, heads: Records) -> list[str]:
        """[N] the texts of positions."""
        batch = self.form.batch
        return batch.write(heads) if batch is not None else [self.game.rules.text(head) for head in heads]

    def names(self, heads: Records, actions: Ints) -> list[str]:
        """[N] the names of actions [N]."""
        if self.form.batch is not None:
            return self.form.batch.names(heads, actions)
        return [self.game.rules.action_name(*each) for each in zip(heads, actions.tolist(), strict=True)]

    def _legal(self, states: Records) -> tuple[Ints, Ints]:
        """[N, M] the legal actions, ascending, then -1; and by which numbers they go in a dataset."""
        legal, counts = np.empty((len(states), self.game.rules.MAX_LEGAL), np.int32), np.empty(len(states), np.int32)
        self.game.kernels().legal_lists(states, legal, counts, self.game.work())
        legal = np.ascontiguousarray(legal[:, : max(1, counts.max(initial=0))])
        return legal, np.where(legal >= 0, self.form.actions(states, legal), -1)

    # ---- records to lines ----

    def write(self, records: Records) -> list[bytes]:
        """[N] the lines of records."""
        return [
            line
            for first in range(0, len(records), TOGETHER)
            for line in self._write(records[first : first + TOGETHER])
        ]

    def _write(self, records: Records) -> list[bytes]:
        heads = np.ascontiguousarray(records["state"])
        _, numbers = self._legal(heads)
        columns: tuple[list[Any], ...] = (
            *(self.texts(heads), heads["to_move"].tolist(), records["top"].tolist(), _rounded(records["policy"])),
            *(_rounded(records["value"]), numbers.tolist(), self.names(heads, records["move"])),
            *(records["game_id"].tolist(), records["ply"].tolist(), records["time"].tolist()),
        )
        lines = list[bytes]()
        for text, side, every, policy, value, legal, move, name, ply, time in zip(*columns, strict=True):
            top: list[int] = [action for action in every if action >= 0]
            valid: list[int] = sorted({*legal} - {-1})
            chances: dict[str, float] = dict(zip(map(str, top), policy, strict=False))
            cells: list[Any] = [text, self.sides[side], top[0], top, chances, value, valid, move]
            cells += [name.decode(errors="replace"), ply, _stamp(time)]
            lines.append(json.dumps(dict(zip(self.fields, cells, strict=True))).encode() + b"\n")
        return lines

    # ---- lines to records ----

    def read(self, lines: Sequence[tuple[int, bytes]]) -> tuple[Records, list[Fault]]:
        """Records of the valid lines, and the faults of the others."""
        found, faults = [np.empty(0, self.dtype)], list[Fault]()
        for first in range(0, len(lines), TOGETHER):
            records, wrong = self._read(lines[first : first + TOGETHER])
            found.append(records)
            faults += wrong
        return np.concatenate(found), sorted(faults)

    def _read(self, lines: Sequence[tuple[int, bytes]]) -> tuple[Records, list[Fault]]:
        faults, given = list[Fault](), list[tuple[int, bytes, dict[str, Any]]]()
        for number, text in lines:
            try:
                given.append((number, text, self._fields(text)))
            except BadLine as error:
                faults.append(Fault(number, str(error), text))
        states, rows, wrong = read_positions(self.game, [fields[self.place] for *_, fields in given])
        faults += [Fault(given[row][0], reason, given[row][1]) for row, reason in wrong.items()]
        kept: list[int] = rows.tolist()
        given = [given[row] for row in kept]
        legal, numbers = self._legal(states)
        sides = np.where(states["outcome"] == RUNNING, states["to_move"], -1).tolist()
        good, moves = list[int](), legal[:, 0].copy()
        for row, ((number, text, fields), side, here) in enumerate(zip(given, sides, numbers.tolist(), strict=True)):
            try:
                self._check_rules(fields, side, here)
            except BadLine as error:
                faults.append(Fault(number, str(error), text))
            else:
                moves[row] = legal[row, here.index(fields["best_action"])]
                good.append(row)
        names, heads = dict(zip(good, self.names(states[good], moves[good]), strict=True)), list[int]()
        for row, name in names.items():
            number, text, fields = given[row]
            meant = {name: moves[row]}
            if name != fields["move"]:  # others may go by the same number
                others = legal[row, numbers[row] == fields["best_action"]]
                meant = dict(zip(self.names(states[[row] * len(others)], others), others, strict=True))
            if fields["move"] in meant:
                moves[row] = meant[fields["move"]]
                heads.append(row)
            else:
                best = f"best_action {fields['best_action']}, which is {' or '.join(meant)}"
                faults.append(Fault(number, f"move {shorten(fields['move'])!r} is not {best}", text))
        return self._records(states[heads], moves[heads], [given[row][2] for row in heads]), faults

    def _fields(self, text: bytes) -> dict[str, Any]:
        """The line as an object that has exactly the known fields, each of its type."""
        if len(text) > LONGEST_LINE:
            raise BadLine(f"the line is longer than {LONGEST_LINE} bytes")
        try:
            found = decode(text.decode())
        except (ValueError, RecursionError) as error:
            if isinstance(error, UnicodeDecodeError):
                raise BadLine("the line is not UTF-8") from None
            raise BadLine(f"the line is cut or not JSON: {shorten(str(error))}") from None
        if not isinstance(found, dict):
            raise BadLine(f"the line is not an object but {shorten(repr(found))}")
        named: dict[str, Any] = found  # pyright: ignore[reportUnknownVariableType]
        if named.keys() != set(self.fields):
            wrong = [f"the field {shorten(name)!r} is missing" for name in self.fields if name not in named]
            wrong += [f"the field {shorten(name)!r} is unknown" for name in named if name not in self.fields]
            raise BadLine("; ".join(wrong[:4]))
        _check_kinds(named, self.place)
        return named

    def _check_rules(self, fields: Mapping[str, Any], side: int, legal: list[int]) -> None:
        """Compare the line with the rules: the side to move, -1 where the game is over, and the legal actions."""
        top, best, valid = fields["top_k"], fields["best_action"], fields["valid_actions"]
        if side < 0:
            raise BadLine(f"the game is over in {shorten(fields[self.place])!r}")
        if fields["side"] != self.sides[side]:
            raise BadLine(f"side is {self.sides[side]!r} there, not {shorten(fields['side'])!r}")
        numbers = {*valid}
        if valid + [-1] * (len(legal) - len(valid)) != legal and valid != sorted(
            {*legal} - {-1}
        ):  # some share a number
            wrong = sorted(numbers ^ ({*legal} - {-1}))
            raise BadLine(f"valid_actions are not the legal ones: {shorten(str(wrong or 'not ascending'))}")
        if not numbers.issuperset(top) or len({*top}) < len(top):
            raise BadLine(f"top_k names actions that are not legal, or one twice: {shorten(str(top))}")
        if top[0] != best:
            raise BadLine(f"best_action {best} is not the first of top_k, {top[0]}")
        if {*map(str, top)} != fields["teacher_policy"].keys():
            raise BadLine("teacher_policy does not name exactly the actions of top_k")

    def _records(self, states: Records, moves: Ints, lines: Sequence[Mapping[str, Any]]) -> Records:
        found = np.zeros(len(lines), self.dtype)
        heads = found["state"] = self.game.heads(states)
        found["key"] = self.keys(self.texts(heads))  # normalised: a position may be written in several ways
        tops = [line["top_k"] for line in lines]
        there = np.arange(MOST_TOP) < np.array([len(top) for top in tops], np.int64)[:, None]
        chances = [line["teacher_policy"][str(action)] for line, top in zip(lines, tops, strict=True) for action in top]
        found["top"] = -1
        found["top"][there] = [action for top in tops for action in top]
        found["policy"][there] = chances
        found["value"], found["ply"] = ([line[name] for line in lines] for name in ("value", "ply"))
        found["move"], found["time"] = moves, [_time(line["ts"]) for line in lines]
        ids = [game_name(line["game_id"]) for line in lines]
        found["game"], found["game_id"] = [each for each, _ in ids], [each for _, each in ids]
        return found

    # ---- records of unknown origin ----

    def check(self, records: Records) -> NDArray[np.bool_]:
        """[N] which records are right: those that reading their own lines would give, as far as columns are there."""
        return np.concatenate(
            [self._check(records[first : first + TOGETHER]) for first in range(0, len(records), TOGETHER)]
            or [np.zeros(0, np.bool_)]
        )

    def _check(self, records: Records) -> NDArray[np.bool_]:
        heads = np.ascontiguousarray(records["state"])
        rebuilt, good = rebuild(self.game, heads)
        good &= (_bytes_of(rebuilt) == _bytes_of(heads)).all(1) & (heads["outcome"] == RUNNING)
        rows, there = np.flatnonzero(good), records.dtype.names or ()
        records = records[rows]
        fine, (legal, numbers) = np.ones(len(rows), np.bool_), self._legal(heads[rows])
        if "value" in there:
            fine &= np.abs(records["value"]) <= 1  # a NaN is not
        if "ply" in there:
            fine &= records["ply"] >= 0
        if "result" in there:
            fine &= np.abs(records["result"]) <= 1
        if "quiet" in there:
            fine &= (records["quiet"] == 0) | (records["quiet"] == 1)
        if "move" in there:
            fine &= ((legal == records["move"][:, None]) & (legal >= 0)).any(1)
        if "top" in there:
            count = (records["top"] >= 0).sum(1)
            width = int(count.max(initial=1))
            named, top = np.arange(width) < count[:, None], records["top"][:, :width]
            ascending = np.sort(top, 1)
            fine &= (count > 0) & (named == (top >= 0)).all(1) & (records["top"] >= -1).all(1)
            fine &= ~((ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] >= 0)).any(1)
            fine &= ((top[:, :, None] == numbers[:, None]).any(2) | ~named).all(1)
            if "move" in there:
                fine &= ((legal == records["move"][:, None]) & (numbers == top[:, :1])).any(1)
            if "policy" in there:
                policy = records["policy"][:, :width]
                fine &= ((policy >= 0) & (policy <= 1) & (named | (policy == 0))).all(1)
                fine &= (np.abs(policy.sum(1) - 1) <= SUM_ERROR) & ~records["policy"][:, width:].any(1)
        good[rows] = fine
        return good


def _bytes_of(records: Records) -> NDArray[np.uint8]:
    """[N, bytes]"""
    return np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.dtype.itemsize)


def _rounded(values: NDArray[np.float32]) -> list[Any]:
    return np.round(values.astype(np.float64), DIGITS).tolist()


# ---- cells of a line ----


def _check_kinds(fields: Mapping[str, Any], place: str) -> None:
    """Each field's type and range."""
    for name, (wanted, fits) in {place: TEXT, **KINDS}.items():
        if not fits(fields[name]):
            raise BadLine(f"{name} is {wanted}, not {shorten(repr(fields[name]))}")
    total = math.fsum(fields["teacher_policy"].values())
    if abs(total - 1) > SUM_ERROR:
        raise BadLine(f"teacher_policy sums to {total:.6g}, not to 1")


def _is_list(value: Any) -> bool:
    return type(value) is list and {*map(type, value)} == {int} and min(value) >= 0 and max(value) < 2**31  # pyright: ignore


def _is_policy(value: Any) -> bool:
    chances: list[Any] = list(value.values()) if type(value) is dict else []  # pyright: ignore
    return bool(chances) and {*map(type, chances)} <= {int, float} and min(chances) >= 0 and max(chances) <= 1


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


Kind = tuple[str, Callable[[Any], bool]]  # in words, and whether a value is of it
TEXT: Kind = "a text", lambda value: type(value) is str
COUNT: Kind = "a whole number", lambda value: type(value) is int and 0 <= value < 2**31
NAME: Kind = "a text or a number", lambda value: type(value) is str or _is_number(value)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("side", "move"), TEXT),
    **dict.fromkeys(("best_action", "ply"), COUNT),
    "top_k": (f"a list of 1 to {MOST_TOP} actions", lambda value: _is_list(value) and len(value) <= MOST_TOP),
    "teacher_policy": ("a probability for each action", _is_policy),
    "value": ("a number from -1 to 1", lambda value: _is_number(value) and -1 <= value <= 1),
    "valid_actions": ("a list of actions", _is_list),
    **dict.fromkeys(("game_id", "ts"), NAME),
}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a number")


decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant).decode


# ---- names of games, times ----


def hash_of(text: str) -> int:
    """64 bits, the same on every machine."""
    found = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8)
    return int.from_bytes(found.digest(), "little")


@functools.lru_cache(typed=True)
def game_name(name: str | float) -> tuple[int, bytes]:
    """A game's name as a record keeps it: a hash, and the name, or the hash in its place if it is too long."""
    text = str(name)
    found, plain = hash_of(text), text.encode(errors="replace")
    kept = len(plain) <= LONGEST_ID and plain.decode() == text and not text.endswith("\0")
    return found, plain if kept else f"#{found:016x}".encode()


@functools.lru_cache
def _time(stamp: str | float) -> int:
    """Seconds of UNIX; 0 where a time stamp is no time."""
    try:
        if isinstance(stamp, str):
            found = datetime.fromisoformat(stamp)
            stamp = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        return int(stamp) if abs(stamp) < 2**62 else 0
    except (ValueError, OverflowError):
        return 0


@functools.lru_cache
def _stamp(time: int) -> str:
    try:
        return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds") if time else ""
    except (ValueError, OverflowError, OSError):
        return ""
