"""What a game is: one numpy record type and a handful of plain functions over single records.

A game is a module. `load` reads the names below from it; everything else (batches, encoders, agents, matches, the
command line) is generic. The functions marked *compiled* are decorated with `numba.njit`, work on ONE record, change
it in place, and never allocate, recurse or raise, so that the same source also runs on a GPU. Read a field as
`state["ply"]`, never `state.ply`: only the first also runs with the compiler switched off.

Required                                  | law
------------------------------------------|--------------------------------------------------------------------------
STATE       an aligned record dtype       | has the fields `to_move` (side 0 or 1) and `outcome`; it is absolute:
                                          | "mine" and "theirs" exist only in encoders
NUM_ACTIONS how many actions there are    | actions are the integers 0 .. NUM_ACTIONS - 1
MAX_LEGAL   most legal actions of a state | `legal` never writes more
MAX_PLIES   most actions of a game        | every game has ended by then (a match stops there and counts a draw)
reset(state, rng)             *compiled*  | receives a record that holds the settings and zeros, leaves a running game
legal(state, actions) -> n    *compiled*  | writes the n legal actions in ascending order; n > 0 while the game runs,
                                          | n = 0 when it is over
play(state, action, rng)      *compiled*  | plays a legal action, sets `to_move` and `outcome`
text(state) -> str                        | `parse` reads it back to an equal head (see HEAD)
parse(text, state)                        | fills a record as `reset` gets it from any arrangement, raises InvalidText
action_name(state, action) -> str         | different legal actions of one state have different names

Optional                                  | law, and what holds without it
------------------------------------------|--------------------------------------------------------------------------
mask(state, mask)             *compiled*  | writes the legal mask as `legal` implies it; for games that can do it faster
evaluate(state) -> float      *compiled*  | in [-1, 1], for the side to move; without it there is no minimax
loudness(state, action) -> n  *compiled*  | 0 for a quiet action, more for one that changes much, such as a capture: a
                                          | search looks at louder ones first and, past its depth, follows only them
settle(state)                 *compiled*  | works out what follows from a parsed arrangement without problems: outcome,
                                          | counters; otherwise `parse` fills everything
read_action(state, text, legal) -> [int]  | the legal actions that another spelling than the name may mean; else none
problems(state) -> [str]                  | all that is wrong with a parsed arrangement; empty for reachable states
LENIENT     True if `game.position` reads | arrangements with problems too, and only `strict=True` refuses them (False)
draw(state) -> str                        | a picture of characters for people; otherwise `text`
SIDES       two names for people          | otherwise: "first" and "second"
draw_choices(state, actions) -> str       | the same for the player to move, with what may be done marked in it
draw_last(state, seat, action) -> str     | the same for a seat, with the action that was played last (-1: none) marked
prompt(state) -> str                      | what a person is asked for at a terminal; otherwise "your move"
TYPING      how a move is typed, in words | otherwise: "a move by its name"
notation(state, action, legal) -> str     | how people write an action, which `read_action` reads; otherwise its name
typed_turn(text, side) -> [str]           | the names of all actions of a turn, where it has several, or InvalidText
STYLES      {pattern: style}              | how a terminal colours what the patterns find in the picture
reason(state) -> str                      | how the game ended; otherwise ""
from_array(array, state)                  | reads an array of numbers, as `parse` reads a text
SETTINGS    {name: Setting}               | each is also a field of STATE; `reset` and `play` obey it
HEAD        a record dtype                | the leading fields of STATE: all that memory keeps. `legal`, `evaluate`,
                                          | `text` and the encoders read no other. Otherwise the whole record.
play_head(state, action, rng) *compiled*  | `play` on a HEAD: sees no draws by repetition, clock or material, so that
                                          | perft counts as everybody does; perft and search then copy only heads
count_legal(state, actions) -> n          | *compiled*: what `legal` returns, `actions` being scratch space: for perft
UNCOUNTED   tuple of HEAD's fields        | repetition counters and what hangs on them, which a text does not carry
SYMMETRIES  how many, identity included   | `transform(state, k)` changes the record, `transform_action(action, k)`
                                          | the action; both *compiled*. Playing and transforming commute
WORK        a record dtype                | working memory: `legal` and `play` take one more argument, `work`, one
                                          | record of it for each thread, whose content means nothing between calls
OPENING_PLIES  random plies that open a game of a match (4)
CHANCE      True if `reset` or `play` draw from `rng` (False)

Turns need not alternate: `to_move` says who acts, and one side may act several times. A value changes its sign only
where `to_move` changes.

Hidden information and chance. `rng` is an array of one uint64, the game's own generator (`games/chance.py`): results
depend on the seed alone. Where a seat does not see everything, the game also defines

seat(state) -> int            *compiled*  | who acts, 0 .. SEATS - 1; its side is `seat % 2` (otherwise: `to_move`)
SEATS       how many seats (2)
observe(state, seat) -> str               | the picture that the seat may see
view(state, seat) -> str                  | the same in one line, which errors quote (otherwise: `observe`,
                                          | or `text` where nothing is hidden)
determinize(state, seat, rng) *compiled*  | redraws what `seat` cannot see, consistently with all it can: what it may do
                                          | and what the encoders show it stay the same

An encoder is handed the seat that looks, and may read only what that seat may know.

Two more names belong to the layers below, but a game in a file of its own may define them beside its rules:
ENCODERS    tuple of `Encoder`            | what networks see: `encoders/encoder.py`
POLICIES    {word: function}              | the game's own agents, such as `greedy`: `agents/agent.py`
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np
from numba import config, njit
from numpy.typing import NDArray

from plyground.errors import BrokenGame
from plyground.games.rng import Rng

__all__ = ["DRAW", "FIRST_WINS", "RUNNING", "SECOND_WINS", "Actions", "Outcome", "Rng", "Rules", "Setting", "State"]

State = np.void  # one record of STATE; in compiled code a view into the batch
Actions = NDArray[np.int32]  # [MAX_LEGAL]
Value = bool | int | str

RUNNING, DRAW, FIRST_WINS, SECOND_WINS = range(4)  # what happened, whoever asks


class Outcome(IntEnum):
    """The same four words for people."""

    RUNNING = RUNNING
    DRAW = DRAW
    FIRST_WINS = FIRST_WINS
    SECOND_WINS = SECOND_WINS

    def __str__(self) -> str:
        return self.name


@njit
def value_for(outcome: int, side: int) -> float:
    """+1 for a side that won, -1 for one that lost, else 0: the only place where an outcome gets a point of view."""
    if outcome < FIRST_WINS:
        return 0.0
    return 1.0 if outcome == FIRST_WINS + side else -1.0


@dataclass(frozen=True)
class Setting:
    """One choice a game offers: `game:name=value`. In the record a number stands for itself, a word for its place."""

    default: Value
    choices: Sequence[Value]
    meaning: str = ""

    def code(self, value: Value) -> int:
        """What the record's field holds."""
        return self.choices.index(value) if isinstance(value, str) else int(value)


Function = Callable[..., Any]
REQUIRED = ("STATE", "NUM_ACTIONS", "MAX_LEGAL", "MAX_PLIES", "reset", "legal", "play", "text", "parse", "action_name")


@dataclass(frozen=True)
class Rules:
    """A game's module, read and checked: the names of this file's table with their defaults filled in."""

    module: ModuleType
    STATE: np.dtype[np.void]
    HEAD: np.dtype[np.void]
    WORK: np.dtype[np.void]
    NUM_ACTIONS: int
    MAX_LEGAL: int
    MAX_PLIES: int
    OPENING_PLIES: int
    SEATS: int
    SYMMETRIES: int
    CHANCE: bool
    LENIENT: bool
    UNCOUNTED: tuple[str, ...]
    SETTINGS: Mapping[str, Setting]
    compiled: Mapping[str, Function] = field(repr=False)
    """the compiled functions that the module defines, by name"""
    text: Function
    parse: Function
    action_name: Function
    problems: Function
    draw: Function
    observe: Function
    view: Function
    SIDES: tuple[str, str]
    draw_choices: Function | None
    draw_last: Function | None
    prompt: Function
    TYPING: str
    notation: Function
    typed_turn: Function | None
    STYLES: Mapping[str, str]
    reason: Function
    from_array: Function | None
    read_action: Function

    @property
    def name(self) -> str:
        """How people know the game: by its module or, if it is a file of its own, by its path."""
        return _name(self.module)

    @property
    def SEARCHED(self) -> np.dtype[np.void]:  # noqa: N802
        """The records that perft and search copy: as short as the game can play them."""
        return self.HEAD if "play_head" in self.compiled else self.STATE

    @property
    def hidden(self) -> bool:
        """Whether some seat does not see everything."""
        return "determinize" in self.compiled


COMPILED = (
    *("reset", "legal", "play", "mask", "evaluate", "seat", "determinize", "transform", "transform_action"),
    *("settle", "play_head", "count_legal", "loudness"),
)
FILE_PREFIX = "plyground_file_"  # begins the names of modules that are game files
NO_WORK = np.dtype([("unused", np.int8)], align=True)


def read(module: ModuleType) -> Rules:
    """Read a game's module, or raise `BrokenGame` with everything that is missing or wrong."""

    def get(name: str, default: Any = None) -> Any:
        return getattr(module, name, default)

    missing = [name for name in REQUIRED if get(name) is None]
    if missing:
        raise BrokenGame(f"the game {_name(module)} does not define {', '.join(missing)}")
    faults = list(_faults(get))
    if faults:
        raise BrokenGame(f"the game {_name(module)}: {'; '.join(faults)}")
    return Rules(
        module=module,
        STATE=get("STATE"),
        HEAD=get("HEAD", get("STATE")),
        WORK=get("WORK", NO_WORK),
        NUM_ACTIONS=get("NUM_ACTIONS"),
        MAX_LEGAL=get("MAX_LEGAL"),
        MAX_PLIES=get("MAX_PLIES"),
        OPENING_PLIES=get("OPENING_PLIES", 4),
        SEATS=get("SEATS", 2),
        SYMMETRIES=get("SYMMETRIES", 1),
        CHANCE=get("CHANCE", False),
        LENIENT=get("LENIENT", False),
        UNCOUNTED=get("UNCOUNTED", ()),
        SETTINGS=get("SETTINGS", {}),
        compiled={name: get(name) for name in COMPILED if get(name) is not None},
        text=get("text"),
        parse=get("parse"),
        action_name=get("action_name"),
        problems=get("problems", _no_problems),
        draw=(draw := get("draw", get("text"))),
        observe=get("observe", lambda state, seat: draw(state)),  # pyright: ignore[reportUnknownLambdaType]
        view=get("view", (get("determinize") and get("observe")) or (lambda state, seat: get("text")(state))),  # pyright: ignore[reportUnknownLambdaType]
        SIDES=get("SIDES", ("first", "second")),
        draw_choices=get("draw_choices"),
        draw_last=get("draw_last"),
        prompt=get("prompt", lambda state: "your move"),  # pyright: ignore[reportUnknownLambdaType]
        TYPING=get("TYPING", "a move by its name"),
        notation=get("notation", lambda state, action, legal: get("action_name")(state, action)),  # pyright: ignore[reportUnknownLambdaType]
        typed_turn=get("typed_turn"),
        STYLES=get("STYLES", {}),
        reason=get("reason", _no_reason),
        from_array=get("from_array"),
        read_action=get("read_action", _no_action),
    )


def _name(module: ModuleType) -> str:
    """How people know a game: a file of its own by its path."""
    return f"in {module.__file__}" if module.__name__.startswith(FILE_PREFIX) else module.__name__


def brought(module: ModuleType, name: str, file: str) -> Any:
    """What a game defines beside its rules: in its own file, or in the file of that name in its folder."""
    found: Any = getattr(module, name, None)
    home, _, own = module.__name__.rpartition(".")
    if found is None and own == "rules" and importlib.util.find_spec(f"{home}.{file}"):
        found = getattr(importlib.import_module(f"{home}.{file}"), name, None)
    return found


def uncompiled(name: str, function: Any) -> list[str]:
    """The fault of a function that must be compiled, but is not."""
    fine = config.DISABLE_JIT or hasattr(function, "py_func")  # pyright: ignore
    return [] if fine else [f"`{name}` is not compiled: write @njit above it"]


def _faults(get: Function) -> Sequence[str]:
    """What is wrong with the values a module does define."""
    state: np.dtype[np.void] = get("STATE")
    head: np.dtype[np.void] = get("HEAD", state)
    faults = [fault for name in COMPILED if get(name) for fault in uncompiled(name, get(name))]
    if not state.isalignedstruct:
        faults.append("STATE must be an aligned record: np.dtype([...], align=True)")
    fields, leading = dict(state.fields or {}), dict(head.fields or {})
    needed = ["to_move", "outcome", *get("SETTINGS", {})]
    faults += [f"STATE has no field {name!r}" for name in needed if name not in fields]
    faults += [
        f"HEAD's field {name!r} differs from STATE's" for name, where in leading.items() if fields.get(name) != where
    ]
    faults += [f"HEAD has no field {name!r}" for name in needed if name in fields and name not in leading]
    for name in ("NUM_ACTIONS", "MAX_LEGAL", "MAX_PLIES"):
        if not isinstance(get(name), int) or get(name) < 1:
            faults.append(f"{name} is a whole number of at least 1, not {get(name)!r}")
    if get("determinize") and not get("observe"):
        faults.append("a game that hides something (`determinize`) says what a seat may see (`observe`)")
    if get("SYMMETRIES", 1) > 1 and not (get("transform") and get("transform_action")):
        faults.append("SYMMETRIES needs `transform` and `transform_action`")
    return faults


def _no_problems(state: State) -> list[str]:
    return []


def _no_action(state: State, text: str, legal: Sequence[int]) -> list[int]:
    return []


def _no_reason(state: State) -> str:
    return ""
