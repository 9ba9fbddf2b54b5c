"""`load`: a game by name, with its settings, its compiled kernels and its positions."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plyground import specs
from plyground.errors import (
    BrokenGame,
    Error,
    InvalidText,
    InvalidValue,
    is_whole,
    shorten,
    shown,
    unknown,
)
from plyground.games import GAMES
from plyground.games.cells import Cells
from plyground.games.encoder import Encoder, encoders_of, pick
from plyground.games.interface import FILE_PREFIX, Function, Rules, Value, read
from plyground.games.interpreted import Interpreted
from plyground.games.rng import agent_seeds, seeds
from plyground.games.typed_names import game_name, unknown_game
from plyground.kernels.cache import load_kernels
from plyground.kernels.numba_internals import without_lock, without_own_cache
from plyground.kernels.slots import slots_of

if TYPE_CHECKING:
    from plyground.backend.games import DeviceGame
    from plyground.position import Position


MOST_SHOWN = 1000  # characters of a path that is to be typed again
_LOCK = threading.Lock()  # several threads may load one file; none may see it before it has run


def load(name: str | os.PathLike[str] | ModuleType | Game, **settings: Value) -> Game:
    """A game: `load("connect_four")`, `load("my_game.py")`, or a module; settings by keyword or in the name.

    `load("sequence", seats=4)` and `load("sequence:seats=4")` are the same game; other spellings, such as "connect4",
    are understood. A game is returned as it is, so that names work wherever games do.
    """
    if isinstance(name, Game):
        return Game(name.word, read(name.rules.module), {**name.settings, **settings}) if settings else name
    if isinstance(name, ModuleType):
        return Game(name.__name__.rpartition(".")[2], read(name), settings)
    word, options = specs.split(game_name(name))
    return Game(word, read(_module(word)), {**options, **settings})


def _module(word: str) -> ModuleType:
    """The module of a built-in game, or of a game file."""
    if word in GAMES:
        return importlib.import_module(f"plyground.games.{word}.rules")
    if word and specs.exists(word) and Path(word).is_dir():
        run = shorten(str(Path(word)), MOST_SHOWN)
        raise InvalidValue(f"{shorten(word)!r} is a folder, not a game; what a run has learned is an agent, run:{run}")
    if not word.endswith(".py"):
        raise unknown_game(word)
    return module_of_file(word, "game file")


def module_of_file(word: str, what: str) -> ModuleType:
    """The module of a .py file; `what` it is, for errors."""
    path = Path(word)
    if not specs.exists(word) or not path.is_file():
        raise InvalidValue(f"no {what} {shorten(word)!r}: there is no such file")
    stem = "".join(c if c.isalnum() else "_" for c in path.stem)
    source = path.read_bytes()
    version = hashlib.sha256(str(path.resolve()).encode() + source).hexdigest()[:12]
    name = f"{FILE_PREFIX}{stem}_{version}"  # an edited file is another module: games loaded before keep theirs
    with _LOCK:
        if name in sys.modules:
            return sys.modules[name]
        # Its text is run: bytecode that lies beside it could be of another text, and none is written there.
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader_state = source.decode()  # which a model's file is compiled from
        sys.modules[name] = module  # compiled code imports its functions from there
        try:
            exec(compile(source, str(spec.origin), "exec", dont_inherit=True), vars(module))  # noqa: S102 (the text that was hashed)
        except Exception as error:
            del sys.modules[name]
            if isinstance(error, Error):
                raise
            lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == spec.origin]
            where = f", line {lines[-1]}," if lines else ""
            why = f"{type(error).__name__}: {error}"
            raise InvalidValue(f"the {what} {str(path)!r}{where} does not run: {why}") from error
        for value in vars(module).values():
            without_own_cache(value)
            if not (getattr(value, "__module__", None) or "").startswith("plyground."):  # ours serve other games too
                without_lock(value)
        return module


class Game:
    """The rules of one game with its settings, compiled on first use."""

    def __init__(self, word: str, rules: Rules, settings: Mapping[str, Value]) -> None:
        self.word = word
        self.rules = rules
        self.settings = _checked(rules, word, settings)
        self.blank = np.zeros(1, rules.STATE)  # [1]: what `reset` and `parse` get: settings and zeros
        for name, value in self.settings.items():
            self.blank[name] = rules.SETTINGS[name].code(value)
        self.interpreter: Interpreted | None = None  # runs the rules while they are being compiled
        self.compiles = True  # else everything is interpreted, agents included
        self.devices: dict[str, DeviceGame] = {}  # its functions on each, made by `on_device`

    def __str__(self) -> str:
        """The name with every setting that differs from its default: `sequence:seats=4`."""
        return specs.join(self.word, {k: v for k, v in self.settings.items() if v != self.rules.SETTINGS[k].default})

    @property
    def full(self) -> str:
        """The same with a file's absolute path, which means this game in every folder."""
        return str(self).replace(self.word, self.path or self.word, 1)

    @property
    def path(self) -> str:
        """The path of a game file; empty for a built-in game."""
        return str(Path(self.rules.module.__file__ or "").resolve()) if self.word.endswith(".py") else ""

    def __repr__(self) -> str:
        return f"<game {self}: {self.sizes}>"

    @property
    def sizes(self) -> str:
        """What arrays of this game look like, in words."""
        each = dict.fromkeys(self.encoders.values())
        first = next((f"{encoder} {'x'.join(map(str, encoder.shape))}" for encoder in each), "no encoder")
        others = f" and {len(each) - 1} more" if len(each) > 1 else ""
        return f"{self.num_actions:,} actions, {self.rules.SEATS} seats, {first}{others}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.full == other.full and self.rules.module is other.rules.module

    def __hash__(self) -> int:
        return hash(self.full)

    def __deepcopy__(self, memo: Any) -> Game:
        """Itself: it never changes."""
        return self

    @functools.cached_property
    def label(self) -> str:
        """A short name for files and notices: `three_in_a_row` for `examples/three_in_a_row.py`."""
        return Path(self.word).stem

    @property
    def num_actions(self) -> int:
        return self.rules.NUM_ACTIONS

    @property
    def uncertain(self) -> bool:
        """Whether a player may not know what comes next: something is hidden, or left to chance."""
        return self.rules.hidden or self.rules.CHANCE

    @functools.cached_property
    def encoders(self) -> Mapping[str, Encoder]:
        return encoders_of(self.rules)

    def encoder(self, name: str = "") -> Encoder:
        """The encoder `planes-v1`; `planes` means its newest version, no name the game's first."""
        if not self.encoders:
            raise InvalidValue(f"{self} has no encoder: add ENCODERS, as docs/adding_a_game.md says")
        name = name or next(iter(self.encoders))
        return pick(self.encoders, name)

    def index_form(self, encoder: Encoder) -> Encoder | None:
        """The encoder of indices that stands for a dense one."""
        return next((each for each in self.encoders.values() if each.dense == str(encoder)), None)

    def kernels(self, template: str = "rules") -> Any:
        """The compiled loops of `kernels/<template>.py` for this game; those of the rules may be interpreted."""
        if template == "rules" and self.interpreter is not None:
            return self.interpreter
        return self._compiled(_kernels(template, self.rules, self.label))

    def kernels_with(
        self, template: str, functions: Mapping[str, Function | bool | int | np.dtype[np.void]], name: str
    ) -> Any:
        """The compiled loops of a template with functions of the agent `name` in place of some of the rules'."""
        return self._compiled(load_kernels(template, functions, f"{self.label} {name}"))

    def _compiled(self, module: ModuleType) -> Any:
        return module if self.compiles else Interpreted(module)

    def without_compiler(self) -> Game:
        """The same game as plain Python, for a few moves of a simple agent."""
        game = Game(self.word, self.rules, self.settings)
        game.compiles = False
        return game

    def interpret(self) -> None:
        """Run the rules as plain Python until `compile` is done. A game of one's own is compiled first: nobody has
        tested that it does the same without the compiler."""
        if self.word in GAMES:
            self.interpreter = Interpreted(self.kernels())

    def compile(self) -> None:
        """Compile what a `Position` and the agent `random` need, and use it from now on."""
        game = Game(self.word, self.rules, self.settings)  # which does not interpret
        start = game.start()
        after = start.play(start.legal()[0])
        game.position(after.text, after.seat)
        after.redrawn(0, 0)
        actions = np.empty(1, np.int32)
        game.kernels().random_actions(after.states, after.rngs, actions, game.work(), game.scratch())
        self.interpreter = None

    def encode_kernels(self, encoder: Encoder) -> Any:
        return _encode_kernels(encoder, self.rules, self.label)

    def slots(self, encoder: str) -> NDArray[np.int32]:
        """[SEATS, A] which output of a network with this encoder stands for an action, as each seat sees the board."""
        slots = np.empty((self.rules.SEATS, self.num_actions), np.int32)
        self.encode_kernels(self.encoder(encoder)).fill_slots(slots)
        return slots

    @functools.cached_property
    def images(self) -> NDArray[np.int32]:
        """[SYMMETRIES, A] the action that each becomes under each symmetry; the first is the identity."""
        images = np.empty((self.rules.SYMMETRIES, self.num_actions), np.int32)
        self.kernels("symmetry").fill_images(images)
        return images

    @functools.cached_property
    def fresh(self) -> NDArray[np.void]:
        """[1] a new game's record as `reset` leaves it; where `reset` draws from the generator, as it receives it."""
        if self.rules.CHANCE:
            return self.blank
        fresh = self.blank.copy()
        self.kernels().reset_all(fresh, self.blank, np.zeros(1, np.uint64))
        return fresh

    def work(self) -> NDArray[np.void]:
        """[1] working memory for one thread."""
        return np.zeros(1, self.rules.WORK)

    def scratch(self) -> NDArray[np.int32]:
        """[MAX_LEGAL] room for one legal list."""
        return np.empty(self.rules.MAX_LEGAL, np.int32)

    def heads(self, states: NDArray[np.void]) -> NDArray[np.void]:
        """[N] copies of the leading part of each state that a replay buffer keeps (HEAD)."""
        return self.arrays.heads(states)

    def searched(self, states: NDArray[np.void]) -> NDArray[np.void]:
        """[N] copies of the states as perft and search play them on."""
        return states.copy() if self.rules.SEARCHED == self.rules.STATE else self.heads(states)

    def agent_rngs(self, seed: int, n: int) -> NDArray[np.uint64]:
        """[n] generators for the agents of games whose own are `seeds(seed, n)`. Where something can be foreseen, no
        calculation leads from one to the other; elsewhere they, and so the games, stay those of older versions."""
        return agent_seeds(seed, n) if self.uncertain else seeds(seed + 1, n)

    def redrawn(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.void]:
        """[N] the states as the seats to act may know them: where something is hidden, copies in which that is drawn
        again, from the generators [N], which advance; elsewhere the states themselves."""
        if not self.rules.hidden:
            return states
        drawn, seats = states.copy(), np.empty(len(states), np.int32)
        self.kernels().seats_to_act(drawn, seats)
        self.kernels().determinize_all(drawn, seats, rngs)
        return drawn

    def perft(self, states: NDArray[np.void], depth: int) -> NDArray[np.int64]:
        """[N] how many sequences of exactly `depth` actions can be played from each of `states` [N]."""
        self.check_perft(depth)
        leaves, searched = np.ones(len(states), np.int64), self.searched(states)
        if depth:
            stack, lists = np.zeros(depth, searched.dtype), np.empty((depth, self.rules.MAX_LEGAL), np.int32)
            rngs = np.zeros(len(states), np.uint64)  # nothing is drawn
            self.kernels().perft_all(searched, depth, leaves, stack, lists, rngs, self.work())
        return leaves

    def check_perft(self, depth: int) -> None:
        if self.rules.CHANCE:
            raise InvalidValue(f"perft needs a game without chance; {self} has it")
        if not is_whole(depth, 0, 64):
            raise InvalidValue(f"perft's depth is 0 to 64, not {shown(depth)}")

    def legal_mask(
        self, states: NDArray[np.void], out: NDArray[np.bool_] | None = None, threads: int = 1
    ) -> NDArray[np.bool_]:
        """[N, A] which actions are legal in `states` [N]."""
        return self.arrays.legal_mask(states, out, threads)

    def first_illegal(self, states: NDArray[np.void], actions: NDArray[np.int32], threads: int = 1) -> int:
        """The first row [N] whose action is not legal, or -1."""
        return self.arrays.first_illegal(states, actions, threads)

    def encode(
        self,
        encoder: str,
        states: NDArray[np.void],
        seat: int | None = None,
        out: NDArray[Any] | None = None,
        threads: int = 1,
    ) -> NDArray[Any]:
        """[N, *shape] the network input for `states` [N], for the seat to act in each or for `seat`."""
        return self.arrays.encode(encoder, states, seat, out, threads=threads)

    @functools.cached_property
    def cells(self) -> Cells:
        """The groups of cells of which models are built."""
        cells: Cells | None = self.rules.CELLS
        if cells is None:
            raise InvalidValue(f"{self} has no cells: add CELLS, as docs/adding_a_game.md says")
        if len(cells.images) != self.rules.SYMMETRIES:
            fault = f"`images` of CELLS has {len(cells.images)} rows for {self.rules.SYMMETRIES} SYMMETRIES"
            raise BrokenGame(f"{self}: {fault}; see {self.rules.place('CELLS')}")
        return cells

    def write_cells(
        self, states: NDArray[np.void], seat: int | None = None, out: NDArray[np.int16] | None = None
    ) -> NDArray[np.int16]:
        """[N, count] the cells of `states` [N] (`games/cells.py`), for the seat to act in each or for `seat`."""
        return self.arrays.write_cells(states, seat, out)

    @functools.cached_property
    def arrays(self) -> DeviceGame:
        """The game's functions on batches of numpy arrays; on other devices: `backend/games.py`."""
        from plyground.backend.games import on_device

        return on_device(self)

    def start(self, seed: int = 0) -> Position:
        """A fresh game; `seed` determines its random numbers."""
        from plyground.position import Position

        return Position.start(self, seed)

    def position(self, source: Any = "startpos", seed: int | None = None, strict: bool | None = None) -> Position:
        """A position from a text (or an array, where the game reads one). `startpos` is a fresh game.

        `strict` refuses positions that no game can reach; most games do so unless given `strict=False`, which refuses
        those that cannot be played.
        """
        from plyground.position import Position

        if isinstance(source, str) and source.strip() in ("", "startpos"):
            return self.start(seed or 0)
        state = self.blank.copy()
        if isinstance(source, str):
            self.rules.parse(source.strip(), state[0])
        elif self.rules.from_array is not None:
            self.rules.from_array(source, state[0])
        else:
            raise InvalidText(f"{self} reads positions from texts, not from {type(source).__name__}")
        strict = not self.rules.LENIENT if strict is None else strict
        problems: list[str] = (self.rules.problems if strict else self.rules.limits)(state[0])
        if problems:
            raise InvalidText(f"not a position of {self}: {'; '.join(problems)} (in {shorten(str(source))!r})")
        if "settle" in self.rules.compiled:
            self.kernels().settle_all(state)
        return Position(self, state, seed)


def agent_repr(self: Any) -> str:
    """`<agent for chess: greedy>`: the `repr` of an agent that has a game and whose `str` is its spec."""
    return f"<agent for {self.game}: {self}>"


@functools.cache
def _kernels(template: str, rules: Rules, label: str) -> Any:
    return load_kernels(template, slots_of(rules), label)


@functools.cache
def _encode_kernels(encoder: Encoder, rules: Rules, label: str) -> Any:
    functions = {"write": encoder.write, **rules.compiled}
    if encoder.slot is not None:
        functions["slot"] = encoder.slot
    return load_kernels("encode", functions, f"{label} {encoder}")


def _checked(rules: Rules, word: str, given: Mapping[str, Value]) -> dict[str, Value]:
    """All settings of a game, the given ones checked, the others at their defaults."""
    settings = {name: setting.default for name, setting in rules.SETTINGS.items()}
    for name, value in given.items():
        if name not in settings:
            raise unknown(f"setting of {word}", name, settings)
        choices = rules.SETTINGS[name].choices
        matching = [choice for choice in choices if specs.same(choice, value)]
        if not matching:
            allowed = ", ".join(map(str, choices)) if len(choices) < 12 else f"{choices[0]} to {choices[-1]}"
            raise InvalidValue(f"{word}: {name} cannot be {shorten(str(value))!r}; it is one of: {allowed}")
        settings[name] = matching[0]
    return settings
