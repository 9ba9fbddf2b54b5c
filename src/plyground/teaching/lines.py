"""A dataset's lines: one JSON object for each position, written, read back and checked against the rules.

    fen              the position (other games: `position`, in the game's own text)
    side             "w" or "b" (other games: the side's name)
    best_action      the teacher's best action
    top_k            its best actions, best first
    teacher_policy   {action: probability} over them
    value            the value of the best one for the side to move, -1 to 1
    valid_actions    all legal actions, ascending
    move             the name of the exact best move
    game_id, ply, ts the game, the ply of the position in it, and a time stamp

Chess actions are 64 * from + to for every promotion; `move` tells promotions apart. Every line is validated: types and
ranges first, then everything that the rules determine about the position. Lines in the form that is written here are
read in bulk by compiled functions where the game has them (`bulk.py`), all others one by one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.errors import Error, shorten
from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.teaching.bulk import SUM_ERROR, Bulk, hash_of
from plyground.teaching.config import MOST_TOP

LONGEST_LINE = 1 << 16  # bytes
MANY_CHARACTERS = 1000  # of a rejected line are kept

Records = NDArray[np.void]


class BadLine(Error):
    """A line that a teacher cannot have written."""


class Fault(NamedTuple):
    """A rejected line and the reason."""

    line: int
    reason: str
    text: bytes


class Lines:
    """The line format of one game, and its conversion to records of positions and the teacher's evaluations."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.form = game.rules.DATASET
        self.place, self.sides = self.form.position, self.form.sides
        numbers = ("best_action", "top_k", "teacher_policy", "value", "valid_actions", "move", "game_id", "ply", "ts")
        self.fields = (self.place, "side", *numbers)
        self.dtype = np.dtype(
            [
                ("state", game.rules.HEAD),
                ("key", np.uint64),  # the same for the same position and side
                ("game", np.uint64),  # the same for the same game
                ("top", np.int32, (MOST_TOP,)),  # best first, then -1
                ("policy", np.float32, (MOST_TOP,)),
                ("value", np.float32),
                ("ply", np.int32),
            ]
        )
        self.bulk = Bulk(game, self.fields) if self.form.codec is not None else None

    def key_text(self, position: str) -> str:
        """The text that distinguishes positions: without its clocks."""
        return position.rsplit(" ", self.form.clocks)[0] if self.form.clocks else position

    # ---- writing ----

    def texts(self, states: Records) -> list[str]:
        """The texts of positions."""
        return self.bulk.texts(states) if self.bulk is not None else [self.game.rules.text(state) for state in states]

    def names(self, states: Records, actions: NDArray[np.int32]) -> list[str]:
        """The names of actions [N] of states [N]."""
        if self.bulk is not None:
            return self.bulk.names(states, actions)
        return [self.game.rules.action_name(*each) for each in zip(states, actions.tolist(), strict=True)]

    def line(
        self, side: int, text: str, valid: list[int], top: list[int], policy: list[float], rest: dict[str, Any]
    ) -> bytes:
        """One line, in the order of the fields; `rest` has value, move, game_id, ply and ts."""
        found = {self.place: text, "side": self.sides[side], "valid_actions": valid, **rest}
        found |= {"best_action": top[0], "top_k": top, "teacher_policy": dict(zip(map(str, top), policy, strict=True))}
        return json.dumps({name: found[name] for name in self.fields}).encode() + b"\n"

    # ---- reading ----

    def read(self, lines: Sequence[tuple[int, bytes]]) -> tuple[Records, list[Fault]]:
        """[N] records of the valid lines, and the faults of the others."""
        found, kept = np.zeros(len(lines), self.dtype), np.zeros(len(lines), np.bool_)
        if self.bulk is not None:
            self.bulk.read([text for _, text in lines], found, kept)
        faults = self._read_one_by_one(lines, np.flatnonzero(~kept), found, kept)
        return found[kept], sorted(faults)

    def _read_one_by_one(
        self, lines: Sequence[tuple[int, bytes]], rows: NDArray[np.int64], found: Records, kept: NDArray[np.bool_]
    ) -> list[Fault]:
        """Fill the records of some lines, and mark those that are valid; returns the faults of the others."""
        faults: list[Fault] = []
        good: list[tuple[int, dict[str, Any]]] = []  # row, fields
        states = np.repeat(self.game.blank, len(rows))
        places: list[int] = rows.tolist()
        for row in places:
            number, text = lines[row]
            try:
                fields = self._fields(text)
                self._read_position(fields[self.place], states[len(good) : len(good) + 1])
                good.append((row, fields))
            except Error as error:
                faults.append(Fault(number, str(error), text))
        states = states[: len(good)]
        if "settle" in self.game.rules.compiled:
            self.game.kernels().settle_all(states)
        legal = np.empty((len(good), self.game.rules.MAX_LEGAL), np.int32)
        self.game.kernels().legal_lists(states, legal, np.empty(len(good), np.int32), self.game.work())
        views = self.form.actions(states, legal)
        heads = self.game.heads(states)
        for k, (row, fields) in enumerate(good):
            count = int((legal[k] >= 0).sum())
            try:
                self._check_rules(fields, states[k], legal[k, :count].tolist(), views[k, :count].tolist())
                self._fill(found[row], states[k], fields)
                found["state"][row], kept[row] = heads[k], True
            except Error as error:
                faults.append(Fault(lines[row][0], str(error), lines[row][1]))
        return faults

    def _fields(self, text: bytes) -> dict[str, Any]:
        """The line as an object that has exactly the known fields, each of its type."""
        if len(text) > LONGEST_LINE:
            raise BadLine(f"the line is longer than {LONGEST_LINE} bytes")
        try:
            found = json.loads(text.decode(), object_pairs_hook=_object, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            if isinstance(error, UnicodeDecodeError):
                raise BadLine("the line is not UTF-8") from None
            raise BadLine(f"the line is cut or not JSON: {shorten(str(error))}") from None
        if not isinstance(found, dict):
            raise BadLine(f"the line is not an object but {shorten(repr(found))}")
        named: dict[str, Any] = found  # pyright: ignore[reportUnknownVariableType]
        wrong = [f"the field {shorten(name)!r} is missing" for name in self.fields if name not in named]
        wrong += [f"the field {shorten(name)!r} is unknown" for name in named if name not in self.fields]
        if wrong:
            raise BadLine("; ".join(wrong[:4]))
        _check_kinds(named, self.place)
        return named

    def _read_position(self, text: str, state: Records) -> None:
        state[0] = self.game.blank[0]
        self.game.rules.parse(text.strip(), state[0])
        if problems := self.game.rules.problems(state[0]):
            raise BadLine(f"{shorten(text)!r} cannot be: {'; '.join(problems)}")

    def _check_rules(self, fields: Mapping[str, Any], state: np.void, legal: list[int], view: list[int]) -> None:
        """Compare the line with the rules."""
        top, best, side = fields["top_k"], fields["best_action"], self.sides[int(state["to_move"])]
        if state["outcome"] != RUNNING:
            raise BadLine(f"the game is over in {shorten(fields[self.place])!r}")
        if fields["side"] != side:
            raise BadLine(f"side is {side!r} there, not {shorten(fields['side'])!r}")
        if fields["valid_actions"] != sorted(set(view)):
            wrong = sorted(set(fields["valid_actions"]) ^ set(view))
            raise BadLine(f"valid_actions are not the legal ones: {shorten(str(wrong or 'not ascending'))}")
        if not set(top) <= set(view) or len(set(top)) < len(top):
            raise BadLine(f"top_k names actions that are not legal, or one twice: {shorten(str(top))}")
        if top[0] != best:
            raise BadLine(f"best_action {best} is not the first of top_k, {top[0]}")
        if {str(action) for action in top} != set(fields["teacher_policy"]):
            raise BadLine("teacher_policy does not name exactly the actions of top_k")
        meant = [action for action, seen in zip(legal, view, strict=True) if seen == best]
        names = [self.game.rules.action_name(state, action) for action in meant]
        if fields["move"] not in names:
            raise BadLine(f"move {shorten(fields['move'])!r} is not best_action {best}, which is {' or '.join(names)}")

    def _fill(self, record: np.void, state: np.void, fields: Mapping[str, Any]) -> None:
        top: list[int] = fields["top_k"]
        text = self.game.rules.text(state)  # normalised: a position may be written in several ways
        record["key"], record["game"] = hash_of(self.key_text(text)), hash_of(str(fields["game_id"]))
        record["value"], record["ply"] = fields["value"], fields["ply"]
        record["top"] = top + [-1] * (MOST_TOP - len(top))
        record["policy"][: len(top)] = [fields["teacher_policy"][str(action)] for action in top]
        record["policy"] /= record["policy"].sum()


def _check_kinds(fields: Mapping[str, Any], place: str) -> None:
    """Each field's type and range."""
    kinds: list[tuple[str, Callable[[Any], bool], tuple[str, ...]]] = [
        ("a text", _is_text, (place, "side", "move")),
        ("a whole number", _is_count, ("best_action", "ply")),
        (f"a list of 1 to {MOST_TOP} actions", lambda value: _is_list(value) and len(value) <= MOST_TOP, ("top_k",)),
        ("a probability for each action", _is_policy, ("teacher_policy",)),
        ("a number from -1 to 1", lambda value: _is_number(value) and -1 <= value <= 1, ("value",)),
        ("a list of actions", _is_list, ("valid_actions",)),
        ("a text or a number", lambda value: _is_text(value) or _is_number(value), ("game_id", "ts")),
    ]
    for wanted, fits, names in kinds:
        for name in names:
            if not fits(fields[name]):
                raise BadLine(f"{name} is {wanted}, not {shorten(repr(fields[name]))}")
    total = math.fsum(fields["teacher_policy"].values())
    if abs(total - 1) > SUM_ERROR:
        raise BadLine(f"teacher_policy sums to {total:.6g}, not to 1")


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _is_list(value: Any) -> bool:
    return type(value) is list and len(value) > 0 and all(map(_is_count, value))  # pyright: ignore[reportUnknownArgumentType]


def _is_policy(value: Any) -> bool:
    return type(value) is dict and all(_is_number(chance) and 0 <= chance <= 1 for chance in list[Any](value.values()))  # pyright: ignore


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a number")
