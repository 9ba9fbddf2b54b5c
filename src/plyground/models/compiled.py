"""`CompiledModel`: weights in one block of memory, and functions that kernels call with that block as an argument.

A model is to its weights what a game is to its states: one record type, and a few plain functions over one record. Its
file is a template, as those of `kernels/` are, in which `plyground.kernels.slots` stands for the game's functions:

    weights(game) -> dtype    the record type of the weights: named arrays at known offsets, of known sizes
    scratch(game) -> dtype    optional: what is computed along the way, such as accumulators
    value(state, weights, scratch) -> float    compiled: in [-1, 1], for the side to move
    refresh(state, weights, scratch)    optional, compiled: fill the scratch memory from a state
    update(before, after, weights, scratch, next_scratch)    optional, compiled: the same, from the state before an
        action or a null move and its scratch memory
    learn(state, target, rate, weights, scratch)    optional, compiled: a step of the weights towards a value

A search keeps a row of scratch memory for each level, calls `refresh` at the root, `update` after each action, `value`
where it needs one. Without `update`, `refresh` is called instead. The sizes are part of the record types, so that loops
over them are compiled for them; a template of a search is compiled once for a kind of model, a game and its sizes,
whatever the weights are: training recompiles nothing.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, shorten
from plyground.game import Game
from plyground.games.interface import NO_WORK, Function
from plyground.kernels.arrays import Judge
from plyground.kernels.cache import load_kernels
from plyground.kernels.slots import slots_of
from plyground.models import evaluate

Records = NDArray[np.void]
JUDGE, REFRESHED = "plyground.models.judge", "plyground.models.refreshed"
SLOTS = {"value": "model_value", "refresh": "refresh", "update": "update", "learn": "learn"}
"""a model's function: the slot that it fills"""


class CompiledModel:
    """A model of one kind for one game. Models of equal kind, game and sizes share their compiled code."""

    compiled = True
    spec, folder = "evaluate", None

    def __init__(self, game: Game, module: ModuleType, own: Mapping[str, Function] | None = None, **sizes: int) -> None:
        """`own`: functions in place of some of the game's; `sizes`: what `weights` and `scratch` take beside the game.
        All weights are zero at first."""
        self.game, self.module, self.kind = game, module, Path(module.__file__ or "").stem
        self.weights: Records = np.zeros(1, _record(module, "weights", game, sizes))
        self.scratch_type = _record(module, "scratch", game, sizes)
        self.folder: Path | None = None
        self.version = 0  # of the weights: how often they were replaced
        self._loaded: dict[tuple[str, str], Any] = {}
        slots = {**slots_of(game.rules), **(own or {})}
        made = vars(load_kernels(module.__name__, slots, f"{game.label} {self.kind}"))
        self.functions: dict[str, Function] = {slot: made[name] for name, slot in SLOTS.items() if name in vars(module)}
        if "model_value" not in self.functions:
            raise InvalidValue(f"{self.source} is no model: it defines no `value(state, weights, scratch)`")
        if "refresh" in self.functions and "update" not in self.functions:
            again = load_kernels(REFRESHED, self.functions, f"{game.label} {self.kind}")
            self.functions["update"] = vars(again)["update"]

    def __repr__(self) -> str:
        return f"<model {self.kind} for {self.game}: {self.weights.itemsize:,} bytes of weights>"

    @property
    def option(self) -> str:
        """`,model=PATH.py` in an agent's spec; empty for the game's own `evaluate`, which needs no name."""
        return "" if self.spec == CompiledModel.spec else f",model={self.spec}"

    @property
    def source(self) -> str:
        return self.module.__file__ or self.module.__name__

    @property
    def identity(self) -> dict[str, str]:
        return {"game": str(self.game), self.kind: str(self.weights.dtype.descr)}

    @property
    def words(self) -> str:
        return f"Model {self.kind} of {self.weights.itemsize:,} bytes"

    def code(self) -> dict[str, tuple[Any, ...]]:
        return {self.kind: tuple(self.functions[name] for name in sorted(self.functions))}

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights by name: views of the one block, which may be written to."""
        return {name: self.weights[name][0, ...] for name in self.weights.dtype.names or ()}

    def scratch(self, rows: int = 1) -> Records:
        """[rows] scratch memory."""
        return np.zeros(rows, self.scratch_type)

    def kernels(self, template: str, more: Mapping[str, Function | bool] | None = None, name: str = "") -> Any:
        """The compiled loops of a template with this kind of model in its slots, and more functions, of an agent."""
        if (template, name) not in self._loaded:
            functions = {**slots_of(self.game.rules), **self.functions, **(more or {})}
            self._loaded[template, name] = self.game.kernels_with(template, functions, f"{self.kind} {name}".strip())
        return self._loaded[template, name]

    def as_judge(self) -> Judge:
        """The model for kernels that judge positions one by one, with scratch memory for one thread."""
        return Judge(self.weights, self.scratch(2))

    def state(self) -> Mapping[str, NDArray[Any]]:
        return self.arrays

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        check_fitting(state, self.arrays)
        for name, values in state.items():
            self.weights[name][0] = values

    def copy(self) -> Self:
        found = copy.copy(self)
        found.weights = self.weights.copy()
        return found

    def take(self, other: Self) -> None:
        self.swap(other.weights.copy())

    def swap(self, weights: Records) -> None:
        """Have other weights [1], whole: a search that runs ends with those it began with, the next one has these."""
        if weights.shape != (1,) or weights.dtype != self.weights.dtype:
            raise InvalidValue(f"the weights of another model: {weights.dtype} of shape {weights.shape}")
        self.weights, self.version = weights, self.version + 1

    def judge(self, states: Records) -> NDArray[np.float64]:
        """[N] the values of states [N], for the sides to move."""
        values = np.empty(len(states))
        self.kernels(JUDGE).judge_all(states, self.as_judge(), values)
        return values


def check_fitting(found: Mapping[str, NDArray[Any]], wanted: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays whose names, shapes or types are not those of `wanted`."""
    sizes = [{name: (values.shape, values.dtype) for name, values in each.items()} for each in (found, wanted)]
    if odd := [name for name in {**wanted, **found} if sizes[0].get(name) != sizes[1].get(name)]:
        raise InvalidValue(f"the weights of another model: {', '.join(sorted(odd))} do not fit")


def _record(module: ModuleType, name: str, game: Game, sizes: Mapping[str, int]) -> np.dtype[np.void]:
    """A record type that a model's file gives for a game; one byte where it gives none."""
    made = vars(module).get(name)
    if made is None:
        return NO_WORK
    if not inspect.isfunction(made):
        raise InvalidValue(f"{name} of {module.__file__} is a function of the game, not {shorten(repr(made))}")
    found: Any = made(game, **sizes)
    if not getattr(found, "names", None):
        raise InvalidValue(f"{name}(game) of {module.__file__} is a record type, not {shorten(repr(found))}")
    return found


@functools.cache
def _handwritten(game: Game, fine: bool, compiles: bool) -> CompiledModel:
    own = game.rules.compiled.get("evaluate_fine") if fine else None
    return CompiledModel(game, evaluate, {"evaluate": own} if own else {})


def handwritten(game: Game, fine: bool = False) -> CompiledModel:
    """A game's own `evaluate` as a model, or the finer one that a search by time affords."""
    return _handwritten(game, fine, game.compiles)
