"""A game's compiled functions on rows of bytes. A batch of states is a tensor [N, bytes] uint8, of whole records or of
their heads, told apart by their size; on the CPU it shares its memory with the records that compiled loops read."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from plyground.backend.clock import timed
from plyground.backend.device import SIMULATED, TORCH_TYPES, Arguments, Cpu, Cuda, Launch, free_memory, get
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.games.interface import Function
from plyground.kernels.arrays import Legal
from plyground.kernels.slots import slots_of
from plyground.kernels.threads import over_parts

STAGED = 640  # bytes: on a GPU, shorter observations are written by way of shared memory
STAGED_BLOCK = 2 if SIMULATED else 32  # threads that share it
TRANSPOSED = 1 << 30  # bytes of longer ones that are written at once
EXPAND_BLOCK = 2 if SIMULATED else 32  # threads that write a row
FRONTIER = 1 << 18  # positions whose children perft plays at once on a GPU
MOST_CHILDREN = 0.1  # of the free memory: those children
ONE_THREAD = Launch()
DENSE_TYPES = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}


@functools.cache
def on_device(game: Game, device: str) -> DeviceGame:
    """A game's functions on `cpu` or `cuda`; raises InvalidValue if that device cannot be used."""
    return DeviceGame(game, device)


class DeviceGame:
    """A game's kernels on one device. All tensors are on that device; N is the number of states."""

    def __init__(self, game: Game, device: str) -> None:
        self.game, self.rules, self.name = game, game.rules, device
        self.on: Cpu | Cuda = get(device)
        self.device = self.on.torch
        self.kernels: Any = self.load("rules")
        self.fresh = self.from_records(game.fresh)  # [1, bytes]: see `Game.fresh`
        self._sizes = self.rules.STATE.itemsize, self.rules.HEAD.itemsize

    def load(self, template: str, **functions: Function) -> Any:
        """The kernels of a template for this game and device; `functions` fill further slots."""
        names = " ".join(function.__name__ for function in functions.values())
        return _loaded(self.on, template, self.game, tuple(functions.items()), f"{self.game.label} {names}".strip())

    def run_rows(
        self, kernel: Any, rows: int, arrays: Arguments, others: Arguments = (), how: Launch = ONE_THREAD
    ) -> None:
        """Run `kernel(*arrays, *others, work)` over rows, with the game's working memory; the arrays have a row for
        each state. See `Cpu.run_rows`."""
        self.on.run_rows(kernel, rows, self.rules.WORK, arrays, others, how)

    # ---- states ----

    def rows(self, states: Tensor) -> Tensor:
        """States as kernels can read them: contiguous and aligned. Kernels check no bounds, so this function checks."""
        right = isinstance(states, Tensor) and states.ndim == 2 and states.dtype == torch.uint8  # pyright: ignore
        if not right or states.shape[1] not in self._sizes or states.device.type != self.device.type:
            where = f" on {states.device}" if isinstance(states, Tensor) else ""  # pyright: ignore
            given = f"{states.dtype} of shape {tuple(states.shape)}{where}"
            raise InvalidValue(f"{self.game} reads rows of its own records as bytes on {self.name}, not {given}")
        states = states.contiguous()
        return states.clone() if states.data_ptr() % self.rules.STATE.alignment else states

    def records(self, states: Tensor) -> Any:
        """[N] the states that `rows` returned, as kernels read them: the same memory."""
        return self.on.view(states, (len(states),), self._dtype(states))

    def _dtype(self, states: Tensor) -> np.dtype[np.void]:
        return self.rules.STATE if states.shape[1] == self._sizes[0] else self.rules.HEAD

    def words(self, states: Tensor, size: int) -> Any:
        """[N, bytes / size] the same as unsigned integers of `size` bytes."""
        assert states.shape[1] % size == 0
        return self.on.view(states, (len(states), states.shape[1] // size), f"u{size}")

    def from_records(self, records: NDArray[np.void]) -> Tensor:
        """[N, bytes] a copy of records on the device."""
        rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.dtype.itemsize)
        return torch.from_numpy(rows.copy()).to(self.device)

    def to_records(self, states: Tensor) -> NDArray[np.void]:
        """[N] records: on the CPU the same memory if the rows are contiguous, else a copy."""
        return states.contiguous().cpu().numpy().reshape(-1).view(self._dtype(states))

    def heads(self, states: Tensor) -> Tensor:
        """[N, bytes of a head] a copy of the part of each state that a replay buffer stores."""
        return states[:, : self.rules.HEAD.itemsize].clone(memory_format=torch.contiguous_format)

    def field(self, states: Tensor, name: str) -> Tensor:
        """[N] the states' field of one number; a view if it is one byte long."""
        fields: Any = self.rules.STATE.fields
        dtype, offset = fields[name][:2]
        return states[:, offset : offset + dtype.itemsize].view(TORCH_TYPES[dtype])[:, 0]

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Tensor:
        """Zeros of a numpy type; for a record type [*shape, bytes] uint8."""
        record = np.dtype(dtype)
        if record.names:
            return torch.zeros((*shape, record.itemsize), dtype=torch.uint8, device=self.device)
        return torch.zeros(shape, dtype=TORCH_TYPES[record], device=self.device)

    # ---- rules ----

    @timed("rules")
    def legal_mask(self, states: Tensor, out: Tensor | None = None, threads: int = 1) -> Tensor:
        """[N, A] which actions are legal."""
        masks = self._room(out, (len(states), self.game.num_actions), torch.bool)
        self._find_legal(states, threads, masks=masks)
        return masks

    @timed("rules")
    def legal_outputs(self, states: Tensor, outputs: Tensor, count: int) -> Tensor:
        """[N, count] which outputs of a network stand for legal actions.

        `outputs` [SEATS, A] int32: the output for each action as each seat sees it; those from `count` on are left out.
        """
        masks = self._room(None, (len(states), count), torch.bool)
        self._find_legal(states, masks=masks, outputs=outputs)
        return masks

    @timed("rules")
    def legal_list(self, states: Tensor, threads: int = 1) -> tuple[Tensor, Tensor]:
        """The legal actions [N, MAX_LEGAL] int32, ascending and then -1, and how many there are [N] int32."""
        lists = self.on.empty((len(states), self.rules.MAX_LEGAL), torch.int32)
        counts = self.on.empty((len(states),), torch.int32)
        self._find_legal(states, threads, lists=lists, counts=counts)
        return lists, counts

    @timed("rules")
    def random_actions(self, states: Tensor, rngs: Tensor, threads: int = 1) -> Tensor:
        """[N] int32 one legal action in each row, all equally likely; -1 where the game is over."""
        drawn = self.on.empty((len(states),), torch.int32)
        self._find_legal(states, threads, rngs=rngs, drawn=drawn)
        return drawn

    @timed("rules")
    def find_illegal(self, states: Tensor, actions: Tensor, threads: int = 1) -> Tensor:
        """[1] int32 the first row whose action is not legal; N if all are. It does not synchronise."""
        illegal = torch.full((1,), len(states), dtype=torch.int32, device=self.device)
        self._find_legal(states, threads, chosen=actions, illegal=illegal)
        return illegal

    def first_illegal(self, states: Tensor, actions: Tensor, threads: int = 1) -> int:
        """The first row whose action [N] int32 is not legal, or -1."""
        row = int(self.find_illegal(states, actions, threads).item())
        return -1 if row == len(states) else row

    def _find_legal(self, states: Tensor, threads: int = 1, **asked: Tensor) -> None:
        """Fill the fields of `Legal` that are asked for. On a GPU one kernel does, because `legal` takes most of its
        compile time; on the CPU there is a loop for each question."""
        rows = self.rows(states)
        if isinstance(self.on, Cpu):
            self._find_legal_in_loops(self.records(rows), threads, {k: each.numpy() for k, each in asked.items()})
        elif "masks" in asked and "outputs" not in asked and "mask" in self.rules.compiled:
            self.on.run(self.load("mask").legal_masks, len(rows), self.records(rows), asked["masks"])
        else:
            for name, value in (("masks", False), ("lists", -1)):
                if name in asked:
                    asked[name].fill_(value)
            legal = Legal(**(_not_asked(self.device) | asked))
            self.run_rows(self.kernels.find_legal, len(rows), (self.records(rows), legal))

    def _find_legal_in_loops(self, states: NDArray[np.void], threads: int, asked: dict[str, Any]) -> None:
        game, kernels, n = self.game, self.kernels, len(states)
        if "outputs" in asked:
            asked["masks"].fill(False)
            arrays = states, asked["masks"]
            self.run_rows(kernels.mask_outputs, n, arrays, (asked["outputs"],), Launch(threads))
        elif "masks" in asked:
            game.legal_mask(states, asked["masks"], threads)
        elif "illegal" in asked:
            row = game.first_illegal(states, asked["chosen"], threads)
            asked["illegal"][0] = row if row >= 0 else n
        elif "lists" in asked:
            lists, counts = asked["lists"], asked["counts"]
            self.run_rows(kernels.legal_lists, n, (states, lists, counts), how=Launch(threads))
        else:
            arrays = states, asked["rngs"], asked["drawn"]
            over_parts(lambda *part: kernels.random_actions(*part, game.work(), game.scratch()), n, threads, *arrays)

    @timed("rules")
    def choose(
        self, function: Function, subject: str, states: Tensor, where: Tensor, rngs: Tensor, actions: Tensor
    ) -> None:
        """Write a scripted agent's actions into `actions` [N] int32 where `where` [N] bool is set.

        Its compiled function draws from `rngs` [N]; `subject` names it while it compiles.
        """
        kernel = _choose_kernel(self.on, function, f"{self.game.label} {subject}")
        rows = self.rows(states)
        self.run_rows(kernel, len(rows), (self.records(rows), where, rngs, actions))

    @timed("rules")
    def seats(self, states: Tensor) -> Tensor:
        """[N] int32 the seat that acts."""
        seats, rows = self.on.empty((len(states),), torch.int32), self.rows(states)
        self.on.run(self.kernels.seats_to_act, len(rows), self.records(rows), seats)
        return seats

    @timed("rules")
    def transform(self, states: Tensor, symmetries: Tensor) -> None:
        """Replace each state by its image under the symmetry [N] int32, in place."""
        rows = self.rows(states)
        self.on.run(self.kernels.transform_all, len(rows), self.records(rows), symmetries)
        if rows is not states:
            states.copy_(rows)

    @timed("rules")
    def evaluate(self, states: Tensor) -> Tensor:
        """[N] float32 the game's own evaluation, for the side to move."""
        if "evaluate" not in self.rules.compiled:
            raise InvalidValue(f"shaping needs a game that defines `evaluate`; {self.game} does not")
        values, rows = self.on.empty((len(states),), torch.float32), self.rows(states)
        self.on.run(self.load("evaluate").evaluate_all, len(rows), self.records(rows), values)
        return values

    def perft(self, states: Tensor, depth: int) -> Tensor:
        """[N] int64 how many sequences of exactly `depth` actions each state has."""
        self.game.check_perft(depth)
        if isinstance(self.on, Cpu):
            return torch.from_numpy(self.game.perft(self.records(self.rows(states)), depth))
        return self._count(self.heads(states) if "play_head" in self.rules.compiled else self.rows(states), depth)

    def _count(self, states: Tensor, depth: int) -> Tensor:
        """Perft on a GPU, level by level. The last level is counted, not played."""
        leaves = torch.zeros(len(states), dtype=torch.int64, device=self.device)
        if depth == 0:
            return leaves + 1
        if depth == 1:
            self.run_rows(self.kernels.count_all, len(states), (self.records(states), leaves))
            return leaves
        most = int(free_memory()[0] * MOST_CHILDREN) // (self.rules.MAX_LEGAL * states.shape[1])
        frontier = max(1, min(FRONTIER, most))
        for first in range(0, len(states), frontier):
            part = states[first : first + frontier]
            actions, counts = self.legal_list(part)
            parents = torch.repeat_interleave(torch.arange(len(part), device=self.device), counts)  # [children]
            children, moves = part[parents], actions[actions >= 0]
            unused = torch.zeros(len(moves), dtype=torch.uint64, device=self.device)
            self.run_rows(self.kernels.play_heads, len(moves), (self.records(children), moves, unused))
            leaves[first : first + frontier].index_add_(0, parents, self._count(children, depth - 1))
        return leaves

    # ---- encoders ----

    @timed("encoding")
    def encode(
        self,
        encoder: str,
        states: Tensor,
        seat: int | None = None,
        out: Tensor | None = None,
        dtype: torch.dtype | None = None,
        threads: int = 1,
    ) -> Tensor:
        """[N, *shape] observations of `states`, for the seat to act in each or for `seat`; in the encoder's own type of
        numbers or another. On a GPU a dense encoder that has an index form is written by way of that."""
        chosen = self.game.encoder(encoder)
        if seat is not None and not 0 <= seat < self.rules.SEATS:
            raise InvalidValue(f"{self.game} has seats 0 to {self.rules.SEATS - 1}, not {seat}")
        short, own = self.game.index_form(chosen), TORCH_TYPES[np.dtype(chosen.dtype)]
        if isinstance(self.on, Cuda) and short is not None:
            return self.expand(short, self._encode(short, states, seat), dtype or torch.float32, out)
        if dtype not in (None, own):
            found = self._encode(chosen, states, seat, threads=threads).to(dtype)
            return found if out is None else self._room(out, tuple(found.shape), dtype).copy_(found)
        return self._encode(chosen, states, seat, out, threads)

    def _encode(
        self, chosen: Encoder, states: Tensor, seat: int | None, out: Tensor | None = None, threads: int = 1
    ) -> Tensor:
        out = self._room(out, (len(states), *chosen.shape), TORCH_TYPES[np.dtype(chosen.dtype)])
        rows = self.rows(states)
        if isinstance(self.on, Cpu):
            self.game.encode(str(chosen), self.records(rows), seat, out.numpy(), threads)
        else:
            self._encode_in_blocks(self.on, chosen, rows, -1 if seat is None else seat, out)
        return out

    def _encode_in_blocks(self, on: Cuda, chosen: Encoder, states: Tensor, seat: int, out: Tensor) -> None:
        """By way of shared memory; longer observations by way of the transpose, part by part."""
        kernels: Any = self.load("encode", write=chosen.write)
        flat, size = out.view(len(states), math.prod(chosen.shape)), out.element_size()
        length = flat.shape[1]
        if length * size > STAGED:
            part = max(1, TRANSPOSED // (length * size))
            for first in range(0, len(states), part):
                rows = states[first : first + part]
                columns = on.empty((length, len(rows)), out.dtype)
                on.run(kernels.encode_columns, len(rows), self.records(rows), seat, columns)
                flat[first : first + part] = columns.T
            return
        flat = flat.view(-1)
        blocks, block_bytes = min(-(-len(states) // STAGED_BLOCK), 1 << 16), STAGED_BLOCK * length * size
        shared = -(-block_bytes // 8) * 8
        block_words = 0 if flat.data_ptr() % 8 or block_bytes % 8 else shared // 8
        words = on.view(flat, (flat.nbytes // 8,), np.uint64)
        rows = self.records(states)
        on.run_blocks(kernels.encode_staged, blocks, STAGED_BLOCK, shared, rows, seat, length, flat, words, block_words)

    @timed("encoding")
    def expand(
        self, encoder: Encoder | str, tokens: Tensor, dtype: torch.dtype = torch.float32, out: Tensor | None = None
    ) -> Tensor:
        """[N, *dense shape] the observations that the tokens [N, T] of an index encoder stand for.

        The tokens may be on the CPU: they are a fiftieth of the dense form's bytes. From pinned memory they are copied
        without synchronisation.
        """
        chosen = self.game.encoder(encoder) if isinstance(encoder, str) else encoder
        if chosen.spread is None:
            raise InvalidValue(f"the encoder {chosen} of {self.game} has nothing to expand")
        if tuple(tokens.shape[1:]) != chosen.shape or tokens.dtype.is_floating_point:
            given = f"{tokens.dtype} of shape {tuple(tokens.shape)}"
            raise InvalidValue(f"{chosen} expands whole numbers of shape (N, {chosen.shape[0]}), not {given}")
        if dtype not in DENSE_TYPES:
            raise InvalidValue(f"an observation is float32, float16 or bfloat16, not {dtype}")
        shape = self.game.encoder(chosen.dense).shape
        out = self._room(out, (len(tokens), *shape), dtype)
        kernel: Any = self.load("expand", spread=chosen.spread).expand_all
        here, flat = tokens.to(self.device, non_blocking=True).contiguous(), out.view(len(tokens), math.prod(shape))
        if isinstance(self.on, Cuda):
            self._expand_in_blocks(self.on, kernel, here, flat)
            return out
        dense = flat.zero_() if dtype == torch.float32 else torch.zeros(flat.shape)
        self.on.run(kernel, len(here), here, _palette(torch.float32, self.device).view(torch.float32), dense)
        if dense is not flat:
            flat.copy_(dense)
        return out

    def _expand_in_blocks(self, on: Cuda, kernel: Any, tokens: Tensor, out: Tensor) -> None:
        fill = -out.shape[1] % (8 // out.element_size())  # cells that a row lacks to whole words of eight bytes
        whole = on.empty((len(out), out.shape[1] + fill), out.dtype) if fill or out.data_ptr() % 8 else out
        opaque, row_bytes = whole.view(DENSE_TYPES[out.dtype]), whole.shape[1] * out.element_size()
        words = on.view(opaque, (len(opaque), row_bytes // 8), np.uint64)
        blocks, palette = min(len(tokens), 1 << 15), _palette(out.dtype, self.device)
        on.run_blocks(kernel, blocks, EXPAND_BLOCK, row_bytes, tokens, palette, opaque, words)
        if whole is not out:
            out.copy_(whole[:, : out.shape[1]])

    def _room(self, out: Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """The tensor to write into. Kernels check no bounds, so this function checks."""
        if out is None:
            return self.on.empty(shape, dtype)
        fits = tuple(out.shape) == shape and out.dtype == dtype and out.is_contiguous()
        if not fits or out.device.type != self.device.type:
            given = f"{out.dtype} of shape {tuple(out.shape)} on {out.device}"
            raise InvalidValue(f"`out` is a contiguous {dtype} of shape {shape} on {self.name}, not {given}")
        return out


@functools.cache
def _loaded(
    on: Cpu | Cuda, template: str, game: Game, functions: tuple[tuple[str, Function], ...], subject: str
) -> Any:
    return on.load(template, {**dict(functions), **slots_of(game.rules)}, subject)


@functools.cache
def _choose_kernel(on: Cpu | Cuda, function: Function, subject: str) -> Any:
    return on.load("choose", {"choose": function}, subject).choose_where


@functools.cache
def _not_asked(device: torch.device) -> dict[str, Tensor]:
    """An empty array for each field of `Legal`."""
    shapes = {"lists": (0, 0), "masks": (0, 0), "outputs": (0, 0)}
    types = {"masks": torch.bool, "rngs": torch.uint64}
    return {
        name: torch.empty(shapes.get(name, (0,)), dtype=types.get(name, torch.int32), device=device)
        for name in Legal._fields
    }


@functools.cache
def _palette(dtype: torch.dtype, device: torch.device) -> Tensor:
    """[101] the hundredths from 0 to 1, as bits."""
    return (torch.arange(101, dtype=torch.float32) / 100).to(dtype).view(DENSE_TYPES[dtype]).to(device)


# ---- kernels that belong to no game ----


def run_kernel(device_name: str, template: str, kernel: str, rows: int, *arguments: Any) -> None:
    """Run a kernel that belongs to no game over `rows` rows: `run_kernel("cpu", "replay", "sample_uniform", n, …)`.

    `template` is a file of `kernels/` or a module's full name; its docstrings say what each kernel takes. Tensors and
    NamedTuples of tensors are converted for the device, without copies; they must be contiguous.
    """
    get(device_name).run(getattr(_gameless(device_name, template), kernel), rows, *arguments)


@functools.cache
def _gameless(device_name: str, template: str) -> ModuleType:
    return get(device_name).load(template, {}, template.rpartition(".")[2])


# ---- some of the rows ----


def fill_selected(where: Tensor, out: Tensor, compute: Callable[[Tensor | slice], Tensor]) -> None:
    """Write `compute(rows)` into the rows of `out` [N] where `where` [N] is set; see `selected_rows`.

    `compute` is not called on the CPU if no row is set. On a GPU it answers for all rows.
    """
    rows = selected_rows(where)
    if isinstance(rows, slice):
        out.copy_(torch.where(where, compute(rows), out))
    elif len(rows):
        out[rows] = compute(rows)


def selected_rows(where: Tensor) -> Tensor | slice:
    """The indices where `where` [N] is set; on a GPU all rows, `slice(None)`, because counting would synchronise."""
    return slice(None) if where.device.type == "cuda" else where.nonzero()[:, 0]
