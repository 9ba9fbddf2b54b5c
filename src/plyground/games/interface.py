"""The contract: a game is one numpy record type and a handful of plain functions over single records.

`Rules` below is the one table of the contract. Each entry is a name that a game may define, its kind, its value where a
game does not define it, and below that its law; reading, checking, documentation and tests follow the table. The names
form three parts: *rules* (the record and the compiled functions), *people* (text, notation, drawing, scenes),
*learning* (evaluation, encoders, cells, table keys, agents). A game in one file defines any of them there. A game in a
folder of its own has a file for each group of names (`PARTS`), which is imported when one of its names is first read.

Functions of the kind *compiled* are decorated with `numba.njit`, work on ONE record, change it in place, and never
allocate, recurse or raise, so that the same source also runs on a GPU. Read a field as `state["ply"]`, never
`state.ply`: only the first form also runs with the compiler switched off.

Turns need not alternate: `to_move` is the side that acts, and one side may act several times. A value changes its sign
only where `to_move` changes. `rng` is an array of one uint64, the game's own generator (`games/rng.py`): results depend
on the seed alone. Encoders, cells, `observe`, `view` and `scene` are given a seat and may show only what that seat may
know.

`python -m plyground.games.interface` prints the table as `docs/contract.md` contains it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba import config, njit
from numpy.typing import NDArray

from plyground.errors import BrokenGame, shorten
from plyground.games.dataset_format import DatasetFormat, plain_dataset
from plyground.games.near_names import questions
from plyground.games.records import state_type, without_padding
from plyground.games.rng import Rng
from plyground.games.signatures import misfit

__all__ = ["DRAW", "FIRST_WINS", "RUNNING", "SECOND_WINS", "Actions", "Outcome", "Rng", "Rules", "Setting", "State"]

State = np.void  # one record of STATE; in compiled code a view into the batch
Actions = NDArray[np.int32]  # [MAX_LEGAL]
Value = bool | int | str
Function = Callable[..., Any]

RUNNING, DRAW, FIRST_WINS, SECOND_WINS = range(4)  # absolute: the same for both sides


class Outcome(IntEnum):
    """The four outcomes as an enumeration, for people."""

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
    """One choice a game offers: `game:name=value`. The record holds a number as it is, a word as its index."""

    default: Value
    choices: Sequence[Value]
    meaning: str = ""

    def code(self, value: Value) -> int:
        """What the record's field holds."""
        return self.choices.index(value) if isinstance(value, str) else int(value)


# ---- kinds of values, and what is wrong with a value ----


def uncompiled(name: str, function: Any) -> list[str]:
    """The fault of a function that must be compiled, but is not."""
    fine = config.DISABLE_JIT or hasattr(function, "py_func")  # pyright: ignore
    return [] if fine else [f"`{name}` is not compiled: write @njit above it"]


KINDS: Mapping[str, Callable[[Any], bool]] = {
    "a record type": lambda value: isinstance(value, np.dtype),
    "a whole number of at least 1": lambda value: type(value) is int and value >= 1,
    "a whole number of at least 0": lambda value: type(value) is int and value >= 0,
    "True or False": lambda value: isinstance(value, bool),
    "a text": lambda value: isinstance(value, str),
    "a tuple": lambda value: isinstance(value, tuple | list),
    "a mapping": lambda value: isinstance(value, Mapping),
    "any value": lambda value: True,
    "a function": callable,
    "a compiled function": callable,
    "a mapping to compiled functions": lambda value: isinstance(value, Mapping),
    "a tuple of encoders": lambda value: isinstance(value, tuple | list),
    "cells": lambda value: hasattr(value, "write"),
}

PARTS: Mapping[str, Sequence[str]] = {
    "rules": ("rules",),
    "people": ("text", "drawing", "scene", "record"),
    "learning": ("evaluate", "encoders", "cells", "table_keys", "agents", "grade", "dataset"),
}
"""the parts, and the files of a game's folder that hold their names; a folder may have others"""


class Name:
    """An entry of the table: a descriptor of `Rules` that reads the name from the game when it is first needed."""

    def __init__(
        self,
        file: str,
        kind: str,
        otherwise: Callable[[Rules], Any] | None,
        then: Callable[[Rules, Any], Any] = lambda rules, value: value,
    ) -> None:
        self.name, self.file, self.kind, self.required, self.then = "", file, kind, otherwise is None, then
        self.otherwise: Callable[[Rules], Any] = otherwise or _always(None)  # the value where a game defines none

    @property
    def is_function(self) -> bool:
        return self.kind.endswith("function")

    def __set_name__(self, owner: type[Rules], name: str) -> None:
        self.name = name

    def __get__(self, rules: Rules | None, owner: type[Rules]) -> Any:
        if rules is None:
            return self
        found = rules.defined(self)
        faults = self.faults(found)
        if faults:
            raise BrokenGame(f"the game {rules.name}: {'; '.join(faults)}")
        value = self.otherwise(rules) if found is None else self.then(rules, found)
        vars(rules)[self.name] = value  # Python reads it from there from now on
        return value

    def faults(self, value: Any) -> list[str]:
        """What is wrong with a value that a game defines; None is no value."""
        if value is None:
            return []
        if not KINDS[self.kind](value):
            return [f"{self.name} is {self.kind}, not {shorten(repr(value))}"]
        inner = {
            "a compiled function": lambda: {self.name: value},
            "a mapping to compiled functions": lambda: {function.__name__: function for function in value.values()},
            "a tuple of encoders": lambda: {each.write.__name__: each.write for each in value},
            "cells": lambda: {value.write.__name__: value.write},
        }.get(self.kind, dict[str, Any])
        return [fault for name, function in inner().items() for fault in uncompiled(name, function)]


def _required(kind: str, file: str = "rules") -> Any:
    return Name(file, kind, None)


def _optional(
    kind: str, default: Any = None, file: str = "rules", otherwise: Callable[[Rules], Any] | None = None
) -> Any:
    return Name(file, kind, otherwise or (lambda rules: default))


def _record(otherwise: Callable[[Rules], Any] | None, then: Callable[[Rules, Any], Any]) -> Any:
    return Name("rules", "a record type", otherwise, then)


def _always(value: Any) -> Function:
    return lambda *arguments: value


def _without_last(function: Function) -> Function:
    return lambda *arguments: function(*arguments[:-1])


def _nothing(*arguments: Any) -> list[Any]:
    return []


NO_WORK = np.dtype([("unused", np.int8)], align=True)
FILE_PREFIX = "plyground_file_"  # begins the names of modules that are game files

_text = functools.partial(_optional, file="text")
_drawing = functools.partial(_optional, file="drawing")
_scene = functools.partial(_optional, file="scene")
_agents = functools.partial(_optional, file="agents")


class Rules:
    """A game's names, read and checked, with defaults for those that it does not define."""

    # ---- rules: required ----
    STATE: np.dtype[np.void] = _record(None, lambda rules, own: state_type(own, rules.defined("HEAD") or own))
    """an aligned record type with the fields `to_move` (side 0 or 1) and `outcome`; it is absolute: "own" and
    "opponent's" exist only in encoders; the loader turns gaps between fields into fields (`games/records.py`)"""
    NUM_ACTIONS: int = _required("a whole number of at least 1")
    """actions are the integers 0 .. NUM_ACTIONS - 1"""
    MAX_LEGAL: int = _required("a whole number of at least 1")
    """`legal` never writes more actions"""
    MAX_PLIES: int = _required("a whole number of at least 1")
    """every game has ended by then (a match stops there and counts a draw)"""
    reset: Function = _required("a compiled function")
    """`reset(state, rng)` receives a record that holds the settings and zeros, leaves a running game"""
    legal: Function = _required("a compiled function")
    """`legal(state, actions) -> n` writes the n legal actions in ascending order; n > 0 while the game runs, n = 0 when
    it is over"""
    play: Function = _required("a compiled function")
    """`play(state, action, rng)` plays a legal action, sets `to_move` and `outcome`"""

    # ---- rules: optional ----
    SETTINGS: Mapping[str, Setting] = _optional("a mapping", {})
    """{name: Setting}: each is also a field of STATE; `reset` and `play` obey it"""
    OPENING_PLIES: int = _optional("a whole number of at least 0", 4)
    """random plies that open a game of a match; otherwise 4"""
    CHANCE: bool = _optional("True or False", False)
    """True if `reset` or `play` draw from `rng`; otherwise False"""
    SEATS: int = _optional("a whole number of at least 1", 2)
    """how many seats; a seat's side is `seat % 2`; otherwise 2"""
    seat: Function | None = _optional("a compiled function")
    """`seat(state) -> int`: the seat that acts; otherwise `to_move`"""
    determinize: Function | None = _optional("a compiled function")
    """`determinize(state, seat, rng)` redraws what `seat` cannot see, consistently with all that it can; what it may do
    and is shown stays the same; the result depends on what it sees and on `rng` alone; otherwise nothing is hidden"""
    HEAD: np.dtype[np.void] = _record(lambda rules: rules.STATE, lambda rules, own: without_padding(own))
    """the leading fields of STATE: all that a replay buffer keeps; `legal`, `evaluate`, `text`, encoders and cells read
    no other; otherwise STATE"""
    UNCOUNTED: tuple[str, ...] = _optional("a tuple", ())
    """fields of HEAD that a text does not carry: repetition counters and what depends on them"""
    WORK: np.dtype[np.void] = _record(_always(NO_WORK), lambda rules, own: without_padding(own))
    """working memory: `legal`, `play` and scripted agents may take one more argument, `work`, one such record for each
    thread, whose content means nothing between calls"""
    mask: Function | None = _optional("a compiled function")
    """`mask(state, mask)` writes the legal mask as `legal` implies it, where a game can do it faster"""
    play_head: Function | None = _optional("a compiled function")
    """`play_head(state, action, rng)`: `play` on a HEAD, without draws by repetition, clock or material; perft and
    search then copy only heads"""
    count_legal: Function | None = _optional("a compiled function")
    """`count_legal(state, actions) -> n`: what `legal` returns; `actions` is scratch space; for perft"""
    settle: Function | None = _optional("a compiled function")
    """`settle(state)` computes what follows from a parsed arrangement without problems (outcome, counters); otherwise
    `parse` fills everything"""
    SYMMETRIES: int = _optional("a whole number of at least 1", 1)
    """how many, with the identity; otherwise 1"""
    transform: Function | None = _optional("a compiled function")
    """`transform(state, k)` changes the record; playing and transforming commute"""
    transform_action: Function | None = _optional("a compiled function")
    """`transform_action(action, k) -> action`, a permutation"""

    # ---- people: text and notation ----
    text: Function = _required("a function", file="text")
    """`text(state) -> str`, one line; `parse` reads an equal head back"""
    parse: Function = _required("a function", file="text")
    """`parse(text, state)` fills a record as `reset` gets it from any arrangement, or raises InvalidText"""
    action_name: Function = _required("a function", file="text")
    """`action_name(state, action) -> str`: different legal actions have different names"""
    problems: Function = _text("a function", _nothing)
    """`problems(state) -> [str]`: everything that is wrong with a parsed arrangement; empty for reachable states"""
    limits: Function = _text("a function", otherwise=lambda rules: _nothing if rules.LENIENT else rules.problems)
    """`limits(state) -> [str]`: the problems with which the rules cannot be played, such as more pieces than a list of
    actions has room for: `strict=False` refuses them too; otherwise all problems or, with LENIENT, none"""
    LENIENT: bool = _text("True or False", False)
    """True if `game.position` also reads arrangements with problems unless `strict=True`; otherwise False"""
    from_array: Function | None = _text("a function")
    """`from_array(array, state)` reads an array as `parse` reads a text"""
    reason: Function = _text("a function", _always(""))
    """`reason(state) -> str`: how the game ended; otherwise an empty text"""
    read_action: Function = _text("a function", _nothing)
    """`read_action(state, text, legal) -> [int]`: the legal actions that a spelling other than the name may mean"""
    notation: Function = _text("a function", otherwise=lambda rules: _without_last(rules.action_name))
    """`notation(state, action, legal) -> str`: the action as people write it, which `read_action` reads; otherwise its
    name"""
    sign: Function | None = _text("a function")
    """`sign(state) -> str`: what people write behind the notation of an action that leads to this state, such as `+`
    for check; otherwise nothing"""
    move_number: Function | None = _text("a function")
    """`move_number(state) -> str`: the number that people write before the next action, such as `5...`; otherwise plies
    are counted"""
    typed_turn: Function | None = _text("a function")
    """`typed_turn(text, side) -> [str]`: the action names of a turn of several actions, or InvalidText"""
    turn_text: Function | None = _text("a function")
    """`turn_text([(state, action), ...]) -> str`: a turn of several actions as people write it, which `typed_turn`
    reads; otherwise the notation of each action"""
    view: Function = _text(
        "a function", otherwise=lambda rules: rules.observe if rules.hidden else _without_last(rules.text)
    )
    """`view(state, seat) -> str`: the text as the seat may see it, which errors quote; otherwise `observe`, or `text`
    where nothing is hidden"""
    SIDES: tuple[str, str] = _text("a tuple", ("first", "second"))
    """the sides' names; otherwise `first` and `second`"""
    AIM: str = _text("a text", otherwise=lambda rules: (rules.module.__doc__ or "").strip().partition("\n")[0])
    """what a side plays for, in a sentence; otherwise the first line of the module's docstring"""
    TYPING: str = _text("a text", "a move by its name")
    """how a move is typed, in words; otherwise by its name"""
    prompt: Function = _text("a function", _always("your move"))
    """`prompt(state) -> str`: what a person is asked for; otherwise `your move`"""
    UCI: bool = _text("True or False", False)
    """True if texts are FENs and names are UCI moves: UCI engines can play; otherwise False"""

    # ---- people: drawing, scenes, files ----
    draw: Function = _drawing("a function", otherwise=lambda rules: rules.text)
    """`draw(state) -> str`: a picture of characters; otherwise `text`"""
    observe: Function = _drawing("a function", otherwise=lambda rules: _without_last(rules.draw))
    """`observe(state, seat)`: the picture that the seat may see, required with `determinize`; otherwise `draw`"""
    draw_marked: Function | None = _drawing("a function")
    """`draw_marked(state, seat, before, choices) -> str`: the picture for a seat, with marks on what differs from the
    record `before`, at which the last turn began (None: there was none), on the actions `choices` that the seat has,
    and on a winning line; otherwise `observe`"""
    STYLES: Mapping[str, str] = _drawing("a mapping", {})
    """{pattern: style}: how a terminal colours what the patterns find in a picture"""
    scene: Function | None = _scene("a function")
    """`scene(state, seat) -> Scene` (`games/scene.py`): the position as plain data, as the seat may see it; otherwise
    the picture of characters and a list of the legal actions"""
    clicks: Function | None = _scene("a function")
    """`clicks(state, action) -> [str]`: the cells and items by which a person plays an action; no path of a legal
    action begins another's; defined together with `scene`"""
    write_record: Function | None = _optional("a function", file="record")
    """`write_record(start, actions, players, outcome) -> str`: a game in the game's own file format, such as PGN;
    otherwise a plain list of actions"""
    read_records: Function | None = _optional("a function", file="record")
    """`read_records(text, game) -> [(start, actions, players, outcome)]`: the games of a text in that format, with the
    players' names, empty where they are not told, and the outcome that it tells, such as one by resignation"""

    # ---- learning ----
    evaluate: Function | None = _optional("a compiled function", file="evaluate")
    """`evaluate(state) -> float` in [-1, 1] for the side to move; otherwise there is no minimax"""
    evaluate_fine: Function | None = _optional("a compiled function", file="evaluate")
    """`evaluate_fine(state) -> float`: the same, more exact and slower, for searches by time; otherwise `evaluate`"""
    loudness: Function | None = _optional("a compiled function", file="evaluate")
    """`loudness(state, action) -> n`: 0 for a quiet action, more for one that changes much, such as a capture; search
    looks at louder ones first and, past its depth, follows only them"""
    legal_loud: Function | None = _optional("a compiled function", file="evaluate")
    """`legal_loud(state, actions) -> n`: the loud actions that `legal` lists, in the same order; quiet ones may be
    among them; faster than listing all where search follows only loud ones; otherwise `legal`"""
    transposition_key: Function | None = _optional("a compiled function", file="evaluate")
    """`transposition_key(state) -> np.uint64`: equal for positions that differ only in counters, such as clocks; a
    search finds transpositions and repetitions by it; otherwise all bytes of the state are hashed"""
    in_check: Function | None = _optional("a compiled function", file="evaluate")
    """`in_check(state) -> bool`: whether the opponent, were it its turn, would win at once; a search by time looks a
    turn deeper there; otherwise never"""
    can_win: Function | None = _optional("a compiled function", file="evaluate")
    """`can_win(state) -> bool`: whether the side to move, at the beginning of its turn, can win within it; for games
    with turns of several actions; otherwise a search plays the turns out"""
    pass_turn: Function | None = _optional("a compiled function", file="evaluate")
    """`pass_turn(state) -> bool` gives the turn away (a null move) and returns True, or returns False where that could
    be an advantage; a search by time prunes by it; otherwise it prunes nothing"""
    ENCODERS: tuple[Any, ...] = _optional("a tuple of encoders", (), file="encoders")
    """each an `Encoder` (`games/encoder.py`): network inputs; the first is the default"""
    CELLS: Any = _optional("cells", file="cells")
    """a `Cells` (`games/cells.py`): the position as small integers, as a seat sees it, from which models are built;
    otherwise only models with an encoder or a table key can learn the game"""
    KEYS: tuple[Any, ...] = _optional("a tuple", (), file="table_keys")
    """each a `TableKey` (`games/table_key.py`): what a table learner looks values up by; where nothing is hidden, the
    key `exact` is added"""
    POLICIES: Mapping[str, Function] = _agents("a mapping to compiled functions", {})
    """{name: `(state, rng) -> action`}: scripted agents, such as `greedy`"""
    SCORERS: Mapping[str, Function] = _agents("a mapping to compiled functions", {})
    """{name: `(state, action) -> score in [-1, 1]`}: teachers for the side to move"""
    ROLLOUT: str = _agents("a text", otherwise=lambda rules: "punisher" if "punisher" in rules.POLICIES else "")
    """the scripted agent that plays on from the leaves of a search; SCORERS may rank the actions of hidden games by the
    same name; otherwise `punisher`, if there is one, or random play"""
    AGENTS: Mapping[str, Function] = _agents("a mapping", {})
    """{name: class}, made with the game: agents of other kinds; one with `scores(states)` is also a teacher"""
    STRONGEST: str = _agents("a text", "")
    """the spec of the strongest agent without a network, which `level:10` plays; otherwise `search:time=0.5`"""
    STRONGEST_WITH_NETWORK: str = _agents("a text", "")
    """the spec of a stronger agent with the pretrained network, which `level:10` plays where torch is installed"""
    advise: Function | None = _agents("a function")
    """`advise(position) -> str`: advice for a person, or an empty text"""
    solve: Function | None = _agents("a function")
    """`solve(position, seconds) -> {action: (score, words)}`: exact scores of all legal actions for the mover"""
    grade: Function | None = _optional("a function", file="grade")
    """`grade(game, agent, positions, seed, games, progress=None) -> Grade` (`arena/grade.py`): an agent measured by
    exact play"""
    DATASET: DatasetFormat = _optional("any value", file="dataset", otherwise=lambda rules: plain_dataset(rules.SIDES))
    """a `DatasetFormat` (`games/dataset_format.py`): how a teacher's datasets write positions, sides and actions;
    otherwise the field `position`, SIDES and the actions themselves"""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        package, _, own = module.__name__.rpartition(".")
        self.folder = package if own == "rules" else ""

    @property
    def name(self) -> str:
        """The name for messages: a game's module or, for a file of one's own, its path."""
        module = self.module
        return f"in {module.__file__}" if module.__name__.startswith(FILE_PREFIX) else module.__name__

    def home(self, file: str) -> ModuleType | None:
        """The module in which the game defines the names of a file; None where its folder has no such file."""
        if not self.folder or file == "rules":
            return self.module
        if importlib.util.find_spec(f"{self.folder}.{file}") is None:
            return None
        return importlib.import_module(f"{self.folder}.{file}")

    def defined(self, name: Name | str) -> Any:
        """What the game itself defines for a name of the table, or None."""
        entry = TABLE[name] if isinstance(name, str) else name
        value = getattr(self.home(entry.file), entry.name, None)
        if entry.kind == "cells" and not KINDS["cells"](value):
            return None  # games older than this name have other things called CELLS, such as how many there are
        return value

    def place(self, *names: str) -> str:
        """`my_game.py, line 12`: where the game defines the first of these that it does; otherwise its file."""
        for name in names:
            home = self.home(TABLE[name].file) if name in TABLE else self.module
            if home is None or home.__file__ is None or not hasattr(home, name):
                continue
            beginning = re.compile(rf"def {name}\b|(?:\w+ = )*{name}(?::[^=]+)? =")
            for number, line in enumerate(Path(home.__file__).read_text(encoding="utf-8").splitlines(), start=1):
                if beginning.match(line):
                    return f"{home.__file__}, line {number}"
        return str(self.module.__file__)

    @functools.cached_property
    def compiled(self) -> Mapping[str, Function]:
        """The compiled functions that the game defines, by name."""
        return {name: function for name in COMPILED if (function := getattr(self, name)) is not None}

    @property
    def SEARCHED(self) -> np.dtype[np.void]:  # noqa: N802
        """The records that perft and search copy: as short as the game can play them."""
        return self.HEAD if self.play_head else self.STATE

    @property
    def hidden(self) -> bool:
        """Whether some seat does not see everything."""
        return self.determinize is not None


TABLE: Mapping[str, Name] = {name: entry for name, entry in vars(Rules).items() if isinstance(entry, Name)}
ARGUMENTS = re.compile(r"(?:\{name: )?`\w*(?P<arguments>\(.*?\))(?: -> .*?)?`")  # at the beginning of a law
COMPILED = tuple(name for name, entry in TABLE.items() if entry.kind == "a compiled function")


@functools.cache
def read(module: ModuleType) -> Rules:
    """Read a game's module, or raise `BrokenGame` with everything that is missing or wrong."""
    rules = Rules(module)
    missing = [entry.name for entry in TABLE.values() if entry.required and rules.defined(entry) is None]
    if missing:
        path = Path(getattr(module, "__file__", None) or "")
        kinds = {name: TABLE[name].is_function for name in missing}  # of a game file they may be misspelt
        alike = questions(path, kinds, TABLE) if path.suffix == ".py" and path.is_file() else []
        asked = "".join(f"; {each}" for each in alike)
        raise BrokenGame(f"the game {rules.name} does not define {', '.join(missing)}{asked}")
    here = [entry for entry in TABLE.values() if entry.file == "rules" or not rules.folder]  # others later
    faults = [fault for entry in here for fault in entry.faults(rules.defined(entry))] or list(_faults(rules))
    if faults:
        where = rules.place(*re.findall(r"\w+", faults[0]))
        raise BrokenGame(f"the game {rules.name}: {'; '.join(faults)}; see {where}")
    return rules


def _faults(rules: Rules) -> Iterator[str]:
    """What is wrong with its functions' parameters, and between the names that a game defines."""
    if not rules.folder:  # the tests call those of our own
        yield from _misfits(rules)
    state, head = rules.defined("STATE"), rules.defined("HEAD")
    fields, leading = dict(state.fields or {}), dict((state if head is None else head).fields or {})
    needed = ["to_move", "outcome", *rules.SETTINGS]
    if not state.isalignedstruct:
        yield "STATE must be an aligned record: np.dtype([...], align=True)"
    yield from (f"STATE has no field {name!r}" for name in needed if name not in fields)
    for name, where in leading.items():
        if fields.get(name) != where:
            yield f"HEAD's field {name!r} differs from STATE's"
    yield from (f"HEAD has no field {name!r}" for name in needed if name in fields and name not in leading)
    if rules.hidden and not rules.defined("observe"):
        yield "a game that hides something (`determinize`) says what a seat may see (`observe`)"
    if rules.SYMMETRIES > 1 and not (rules.transform and rules.transform_action):
        yield "SYMMETRIES needs `transform` and `transform_action`"
    if (rules.scene is None) != (rules.clicks is None):
        yield "`scene` and `clicks` are defined together: clicks name the cells and items of the scene"


def _misfits(rules: Rules) -> Iterator[str]:
    """The functions that do not take the arguments that their laws begin with: `play(state, action, rng)`."""
    for name, law in laws().items():
        value, called = rules.defined(name), ARGUMENTS.match(law)
        if value is None or called is None:
            continue
        several = TABLE[name].kind == "a mapping to compiled functions"
        for function in value.values() if several else [value]:
            own = function.__name__ if several else name
            yield from misfit(own, function, called["arguments"], work=several or name in COMPILED)
    for encoder in rules.defined("ENCODERS") or ():
        yield from misfit(encoder.write.__name__, encoder.write, "(state, seat, out)")
    if cells := rules.defined("CELLS"):
        yield from misfit(cells.write.__name__, cells.write, "(state, seat, out)")


@functools.cache
def laws() -> dict[str, str]:
    """Each name's law: the text below it in the table."""
    (table,) = ast.parse(inspect.getsource(Rules)).body
    assert isinstance(table, ast.ClassDef)
    texts: dict[str, str] = {}
    for entry, below in itertools.pairwise(table.body):
        if isinstance(entry, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            texts[ast.unparse(entry.target)] = " ".join(str(below.value.value).split())
    return texts


def documentation() -> str:
    """The table in Markdown, a section for each part."""
    lines, texts = list[str](), laws()
    for part, files in PARTS.items():
        lines += [f"### {part.capitalize()}", "", "| name | kind | file in a folder | law |", "|---|---|---|---|"]
        for name, entry in TABLE.items():
            if entry.file in files:
                law = f"**required**; {texts[name]}" if entry.required else texts[name]
                lines.append(f"| `{name}` | {entry.kind} | `{entry.file}.py` | {law} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(documentation())
