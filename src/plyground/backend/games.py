"""A game's compiled functions on batches of states, on any device. `Game`'s own methods and `Batch` call them.

With torch tensors, on a CPU or a GPU: `tensor_games.py`.
"""

from __future__ import annotations

import functools
import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from plyground.backend.clock import timed
from plyground.backend.runner import Arguments, Numpy, get
from plyground.errors import InvalidValue, is_whole, shown
from plyground.games.encoder import Encoder
from plyground.games.interface import Function
from plyground.kernels.arrays import Games
from plyground.kernels.slots import slots_of
from plyground.kernels.threads import over_parts, over_slices

if TYPE_CHECKING:
    from plyground.game import Game

Array = Any  # of a device: a numpy array or a torch tensor


def on_device(game: Game, device: str = "numpy") -> DeviceGame:
    """A game's functions on `numpy`, `cpu` or `cuda`; raises InvalidValue if that device cannot be used."""
    if device not in game.devices:
        game.devices[device] = DeviceGame(game, device) if device == "numpy" else _of_tensors(game, device)
    return game.devices[device]


def _of_tensors(game: Game, device: str) -> DeviceGame:
    from plyground.backend.tensor_games import CudaGame, TensorGame  # which imports torch

    return CudaGame(game, device) if device == "cuda" else TensorGame(game, device)


class DeviceGame:
    """A game's kernels on one device; all arrays are on that device. N states are records [N], of STATE or of HEAD."""

    def __init__(self, game: Game, device: str) -> None:
        self.game, self.rules, self.name = game, game.rules, device
        self.on = get(device)
        self.device = self.on.device

    @property
    def kernels(self) -> Any:
        """The loops over the rules; while they are compiled, the interpreter may stand in."""
        return self.game.kernels()

    def load(self, template: str, **functions: Function) -> Any:
        """The kernels of a template for this game and device; `functions` fill further slots."""
        names = " ".join(function.__name__ for function in functions.values())
        return _loaded(self.on, template, self.game, tuple(functions.items()), f"{self.game.label} {names}".strip())

    def run_rows(self, kernel: Any, rows: int, arrays: Arguments, others: Arguments = (), threads: int = 1) -> None:
        """Run `kernel(*arrays, *others, work)` over rows, with the game's working memory; the arrays have a row for
        each state. See `Numpy.run_rows`."""
        self.on.run_rows(kernel, rows, self.rules.WORK, arrays, others, threads)

    # ---- states ----

    def rows(self, states: Array) -> Array:
        """States as kernels can read them. Kernels check no types, so this function checks."""
        if states.dtype not in (self.rules.STATE, self.rules.HEAD) or states.ndim != 1:
            given = f"{states.dtype} of shape {states.shape}"
            raise InvalidValue(f"{self.game} reads rows of its own records, not {given}")
        return states

    def records(self, states: Array) -> Any:
        """[N] what `rows` returned, as kernels read it: the same memory."""
        return states

    def bytes_of(self, states: Array) -> Array:
        """[N, bytes] uint8 the same memory."""
        return states.view(np.uint8).reshape(len(states), states.dtype.itemsize)

    def words(self, states: Array, size: int) -> Any:
        """[N, bytes / size] the same as unsigned integers of `size` bytes."""
        rows = self.bytes_of(states)
        assert rows.shape[1] % size == 0
        return self.on.view(rows, (len(rows), rows.shape[1] // size), f"u{size}")

    def from_records(self, records: NDArray[np.void]) -> Array:
        """A copy of records [N] on the device, byte for byte."""
        return DeviceGame.bytes_of(self, np.ascontiguousarray(records)).copy().reshape(-1).view(records.dtype)

    def to_records(self, states: Array) -> NDArray[np.void]:
        """[N] records: on the CPU the same memory if the rows are contiguous, else a copy."""
        return states

    def heads(self, states: Array) -> Array:
        """[N] a copy of the part of each state that a replay buffer stores."""
        rows = self.bytes_of(np.ascontiguousarray(states))
        return rows[:, : self.rules.HEAD.itemsize].copy().reshape(-1).view(self.rules.HEAD)

    def field(self, states: Array, name: str) -> Array:
        """[N] the states' field of one number; a view if it is one byte long."""
        return states[name]

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Zeros of a numpy type; of a record type, states."""
        return self.on.zeros(shape, np.dtype(dtype))

    # ---- games side by side ----

    @property
    def head_word(self) -> int:
        """Bytes of the largest unsigned integers that divide both STATE and HEAD."""
        return math.gcd(self.rules.STATE.alignment, self.rules.HEAD.itemsize)

    @functools.cached_property
    def fresh_state(self) -> Array:
        """[1] `Game.fresh` on the device."""
        return self.from_records(self.game.fresh)

    @property
    def fresh(self) -> Any:
        """[1, SIZE] the same memory in the words that kernels copy: on a GPU this array keeps no memory alive."""
        return self.words(self.fresh_state, self.rules.STATE.alignment)

    def games(self, states: Array, next_states: Array, rngs: Array, plies: Array) -> Games:
        """The arrays of N games as kernels take them, the same memory: states, heads of the states that the last
        actions led to, generators, and plies played."""
        return Games(
            states=self.records(states),
            words=self.words(states, self.rules.STATE.alignment),
            heads=self.words(states, self.head_word),
            next_heads=self.words(next_states, self.head_word),
            rngs=self.on.converted(rngs),
            plies=self.on.converted(plies),
        )

    def random_play(self, games: Games, count: int, threads: int = 1) -> Array:
        """Play `count` random actions in each row, game after game; [4] how many games ended with each outcome."""
        kernel, ended = self.kernels.random_play, list[NDArray[np.int64]]()

        def run(games: Games) -> None:
            counts = np.zeros(4, np.int64)  # of this thread
            kernel(games, count, counts, self.fresh, self.game.work())
            ended.append(counts)

        over_parts(run, len(games.states), threads, games)
        return self.on.from_numpy(np.sum(ended, axis=0))

    # ---- rules ----

    @timed("rules")
    def legal_mask(self, states: Array, out: Array | None = None, threads: int = 1) -> Array:
        """[N, A] which actions are legal."""
        rows, game, loop = self.rows(states), self.game, self._mask_kernels().legal_masks
        masks = self.on.room(out, (len(rows), game.num_actions), np.bool_)
        arrays = self.records(rows), self.on.converted(masks)
        over_parts(lambda *part: loop(*part, game.work(), game.scratch()), len(rows), threads, *arrays)
        return masks

    @timed("rules")
    def legal_outputs(self, states: Array, outputs: Array, count: int) -> Array:
        """[N, count] which outputs of a network stand for legal actions.

        `outputs` [SEATS, A] int32: the output for each action as each seat sees it; those from `count` on are left out.
        """
        rows, masks = self.rows(states), self.on.zeros((len(states), count), np.bool_)
        self.run_rows(self.kernels.mask_outputs, len(rows), (self.records(rows), masks), (outputs,))
        return masks

    @timed("rules")
    def legal_list(self, states: Array, threads: int = 1) -> tuple[Array, Array]:
        """The legal actions [N, MAX_LEGAL] int32, ascending and then -1, and how many there are [N] int32."""
        rows, n = self.rows(states), len(states)
        lists, counts = self.on.empty((n, self.rules.MAX_LEGAL), np.int32), self.on.empty((n,), np.int32)
        self.run_rows(self.kernels.legal_lists, n, (self.records(rows), lists, counts), (), threads)
        return lists, counts

    @timed("rules")
    def random_actions(self, states: Array, rngs: Array, threads: int = 1) -> Array:
        """[N] int32 one legal action in each row, all equally likely; -1 where the game is over."""
        rows, game, loop = self.rows(states), self.game, self.kernels.random_actions
        drawn = self.on.empty((len(rows),), np.int32)
        arrays = self.records(rows), self.on.converted(rngs), self.on.converted(drawn)
        over_parts(lambda *part: loop(*part, game.work(), game.scratch()), len(rows), threads, *arrays)
        return drawn

    @timed("rules")
    def children(self, states: Array, actions: Array, rngs: Array, threads: int = 1) -> Array:
        """[N, K] the states after each of the actions [N, K] int32, up to a row's first -1; then zeros. What chance or
        hidden cards may bring is drawn anew, from the generators [N], which advance."""
        shape, rows = (len(states), actions.shape[1]), self.rows(states)
        dtype, word = self.rules.STATE, self.rules.STATE.alignment
        children = self.zeros(shape, dtype)
        arrays = self.records(rows), self.words(rows, word), rngs, actions, self.on.view(children, shape, dtype)
        words = self.on.view(children, (*shape, dtype.itemsize // word), f"u{word}")
        self.run_rows(self.kernels.play_children, len(rows), (*arrays, words), (), threads)
        return children

    def first_illegal(self, states: Array, actions: Array, threads: int = 1) -> int:
        """The first row whose action [N] int32 is not legal, or -1."""
        game, loop, found = self.game, self._mask_kernels().first_illegal, list[int]()
        records, chosen = self.records(self.rows(states)), self.on.converted(actions)

        def look(part: slice) -> None:
            row = loop(records[part], chosen[part], game.num_actions, game.work(), game.scratch())
            found.extend([part.start + row] if row >= 0 else [])

        over_slices(look, len(records), threads)
        return min(found, default=-1)

    @timed("rules")
    def find_illegal(self, states: Array, actions: Array) -> Array:
        """[1] int32 the first row whose action is not legal; N if all are. On a GPU it does not synchronise."""
        row = self.first_illegal(states, actions)
        return self.on.from_numpy(np.array([row if row >= 0 else len(states)], np.int32))

    def _mask_kernels(self) -> Any:
        return self.game.kernels("mask") if "mask" in self.rules.compiled else self.kernels

    @timed("rules")
    def choose(
        self, function: Function, subject: str, states: Array, where: Array, rngs: Array, actions: Array
    ) -> None:
        """Write a scripted agent's actions into `actions` [N] int32 where `where` [N] bool is set.

        Its compiled function draws from `rngs` [N]; `subject` names it while it compiles.
        """
        kernel = _choose_kernel(self.on, function, f"{self.game.label} {subject}")
        rows = self.rows(states)
        self.run_rows(kernel, len(rows), (self.records(rows), where, rngs, actions))

    @timed("rules")
    def seats(self, states: Array) -> Array:
        """[N] int32 the seat that acts."""
        seats, rows = self.on.empty((len(states),), np.int32), self.rows(states)
        self.on.run(self.kernels.seats_to_act, len(rows), self.records(rows), seats)
        return seats

    @timed("rules")
    def transform(self, states: Array, symmetries: Array) -> None:
        """Replace each state by its image under the symmetry [N] int32, in place."""
        rows = self.rows(states)
        self.on.run(self.kernels.transform_all, len(rows), self.records(rows), symmetries)
        if rows is not states:
            states[:] = rows

    @timed("rules")
    def evaluate(self, states: Array) -> Array:
        """[N] float32 the game's own evaluation, for the side to move."""
        if "evaluate" not in self.rules.compiled:
            raise InvalidValue(f"shaping needs a game that defines `evaluate`; {self.game} does not")
        values, rows = self.on.empty((len(states),), np.float32), self.rows(states)
        self.on.run(self.load("evaluate").evaluate_all, len(rows), self.records(rows), values)
        return values

    def perft(self, states: Array, depth: int, threads: int = 1) -> Array:
        """[N] int64 how many sequences of exactly `depth` actions each state has."""
        rows, leaves = self.rows(states), np.empty(len(states), np.int64)

        def count(states: NDArray[np.void], leaves: NDArray[np.int64]) -> None:
            leaves[:] = self.game.perft(states, depth)

        over_parts(count, len(rows), threads, self.records(rows), leaves)
        return self.on.from_numpy(leaves)

    # ---- encoders ----

    @timed("encoding")
    def encode(
        self,
        encoder: str,
        states: Array,
        seat: int | None = None,
        out: Array | None = None,
        dtype: Any = None,
        threads: int = 1,
    ) -> Array:
        """[N, *shape] observations of `states`, for the seat to act in each or for `seat`; in the encoder's own type of
        numbers or another. On a GPU a dense encoder that has an index form is written by way of that."""
        chosen = self.game.encoder(encoder)
        self._check_seat(seat)
        return self._encode(chosen, self.rows(states), seat, out, dtype, threads)

    def _check_seat(self, seat: int | None) -> None:
        if seat is not None and not is_whole(seat, 0, self.rules.SEATS - 1):
            raise InvalidValue(f"{self.game} has seats 0 to {self.rules.SEATS - 1}, not {shown(seat)}")

    @timed("encoding")
    def write_cells(self, states: Array, seat: int | None = None, out: Array | None = None) -> Array:
        """[N, count] int16 the cells of `states`, for the seat to act in each or for `seat`."""
        self._check_seat(seat)
        rows, kernels = self.rows(states), self.load("cells")
        cells = self.on.room(out, (len(rows), self.game.cells.count), np.int16)
        if seat is None:
            self.on.run(kernels.write_all, len(rows), self.records(rows), cells)
        else:
            self.on.run(kernels.write_for, len(rows), self.records(rows), seat, cells)
        return cells

    def _encode(self, chosen: Encoder, rows: Array, seat: int | None, out: Array, dtype: Any, threads: int) -> Array:
        own = self.on.dtype(chosen.dtype)
        room = self.on.room(out, (len(rows), *chosen.shape), own if dtype is None else dtype)
        if room.dtype == own:
            self._write(chosen, rows, seat, room, threads)
        else:
            room[:] = self._encode(chosen, rows, seat, None, None, threads)
        return room

    def _write(self, chosen: Encoder, rows: Array, seat: int | None, out: Array, threads: int) -> None:
        """Write the observations of states that `rows` returned into `out` [N, *shape]."""
        kernels, records, n = self.game.encode_kernels(chosen), self.records(rows), len(rows)
        flat = self.on.converted(out).reshape(n, math.prod(chosen.shape))  # [N, size]
        if seat is None:
            over_parts(kernels.encode_all, n, threads, records, flat)
        else:
            over_parts(kernels.encode_for, n, threads, records, np.full(n, seat, np.int32), flat)

    @timed("encoding")
    def expand(self, encoder: Encoder | str, tokens: Array, dtype: Any = None, out: Array | None = None) -> Array:
        """[N, *dense shape] the observations that the tokens [N, T] of an index encoder stand for.

        The tokens may be on the CPU: they are a fiftieth of the dense form's bytes. From pinned memory they are copied
        without synchronisation.
        """
        chosen = self.game.encoder(encoder) if isinstance(encoder, str) else encoder
        if chosen.spread is None:
            raise InvalidValue(f"the encoder {chosen} of {self.game} has nothing to expand")
        if tuple(tokens.shape[1:]) != chosen.shape or not self.on.are_whole(tokens):
            given = f"{tokens.dtype} of shape {tuple(tokens.shape)}"
            raise InvalidValue(f"{chosen} expands whole numbers of shape (N, {chosen.shape[0]}), not {given}")
        dtype = dtype or self.on.dtype(np.float32)
        if dtype not in self.on.dense_types:
            raise InvalidValue(f"an observation is float32, float16 or bfloat16, not {dtype}")
        shape = self.game.encoder(chosen.dense).shape
        out = self.on.room(out, (len(tokens), *shape), dtype)
        self._expand(self.load("expand", spread=chosen.spread).expand_all, tokens, out)
        return out

    def _expand(self, kernel: Any, tokens: Array, out: Array) -> None:
        """Write the observations of `tokens` [N, T] into `out` [N, *shape], of any type of floats."""
        hundredths = np.arange(101, dtype=np.float32) / 100
        dense = np.zeros((len(tokens), math.prod(out.shape[1:])), np.float32)
        kernel(np.ascontiguousarray(self.on.converted(tokens)), hundredths, dense)
        out[:] = self.on.from_numpy(dense.reshape(tuple(out.shape)))


@functools.cache
def _loaded(on: Numpy, template: str, game: Game, functions: tuple[tuple[str, Function], ...], subject: str) -> Any:
    return on.load(template, {**dict(functions), **slots_of(game.rules)}, subject)


@functools.cache
def _choose_kernel(on: Numpy, function: Function, subject: str) -> Any:
    return on.load("choose", {"choose": function}, subject).choose_where


# ---- kernels that belong to no game ----


def run_kernel(device_name: str, template: str, kernel: str, rows: int, *arguments: Any) -> None:
    """Run a kernel that belongs to no game over `rows` rows: `run_kernel("cpu", "replay", "sample_uniform", n, …)`.

    `template` is a file of `kernels/` or a module's full name; its docstrings say what each kernel takes. Arrays and
    NamedTuples of arrays are converted for the device, without copies; they must be contiguous.
    """
    get(device_name).run(getattr(_gameless(device_name, template), kernel), rows, *arguments)


@functools.cache
def _gameless(device_name: str, template: str) -> ModuleType:
    return get(device_name).load(template, {}, template.rpartition(".")[2])
