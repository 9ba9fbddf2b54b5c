"""What a game's compiled functions do with states on a GPU. There a batch of states is a tensor of bytes, [N, size of
a record]: of whole records or of their heads, told apart by their size."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.device import (
    CUDA,
    MOST_THREADS,
    SIMULATED,
    TORCH_TYPES,
    array,
    empty,
    free_memory,
    launch,
    launch_blocks,
    records,
    require,
    stream,
    words,
    words_in,
)
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.kernels.cache import load_kernels

STAGED = 640  # bytes: shorter observations go through shared memory
STAGED_BLOCK = 2 if SIMULATED else 32  # threads that share it
TRANSPOSED = 1 << 30  # bytes of longer ones that are written at once
EXPAND_BLOCK = 2 if SIMULATED else 32  # threads that make a row
MOST_WORK = 0.2  # of the free memory
LARGEST_BLOCK = 4 if SIMULATED else 512
FRONTIER = 1 << 18  # positions that perft plays on at once
MOST_CHILDREN = 0.1  # of the free memory, for the positions behind them
DENSE_TYPES = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}


@functools.cache
def on_gpu(game: Game) -> GpuGame:
    """A game's functions on the GPU; refuses where there is none."""
    require()
    return GpuGame(game)


class GpuGame:
    """A game's kernels and the memory that their threads work in."""

    def __init__(self, game: Game) -> None:
        self.game, self.rules = game, game.rules
        sizes = {"STATE": self.rules.STATE, "MAX_LEGAL": self.rules.MAX_LEGAL, "CHANCE": self.rules.CHANCE}
        self.kernels: Any = load_kernels("cuda_rules", {**self.rules.compiled, **sizes}, game.label)
        self.mask_kernels: Any = None
        if "mask" in self.rules.compiled:
            self.mask_kernels = load_kernels("cuda_mask", self.rules.compiled, game.label)
        fresh = np.zeros(1, self.rules.STATE)
        game.kernels().reset_all(fresh, game.blank, np.zeros(1, np.uint64))
        self.fresh = self.to_gpu(game.blank if self.rules.CHANCE else fresh)  # [1, bytes]
        fitting = int(free_memory()[0] * MOST_WORK) // self.rules.WORK.itemsize
        self.threads = min(MOST_THREADS, max(LARGEST_BLOCK, fitting // LARGEST_BLOCK * LARGEST_BLOCK))
        self._work: dict[int, Tensor] = {}  # kernels see it, torch owns it
        self.head_word = math.gcd(self.rules.STATE.alignment, self.rules.HEAD.itemsize)  # bytes; divides both

    def launch(self, kernel: Any, rows: int, *arguments: Any) -> None:
        """Run a kernel over rows, with working memory for each thread."""
        launch(kernel, rows, *arguments, self.working_memory(rows), threads=self.threads)

    def working_memory(self, rows: int) -> Any:
        """[threads] records to work in, for the kernels of one stream, which run one after the other."""
        blocks = -(-min(rows, self.threads) // LARGEST_BLOCK)
        work, size = self._work.get(stream()), self.rules.WORK.itemsize
        if work is None or len(work) < blocks * LARGEST_BLOCK:
            work = self._work[stream()] = empty((blocks * LARGEST_BLOCK, size), torch.uint8).zero_()
        return records(work, self.rules.WORK)

    # ---- states ----

    def rows(self, states: Tensor) -> Tensor:
        """States as kernels can read them: on the GPU, end to end. Kernels check nothing, so all is checked here."""
        sizes = self.rules.STATE.itemsize, self.rules.HEAD.itemsize
        right = isinstance(states, Tensor) and states.ndim == 2 and states.dtype == torch.uint8  # pyright: ignore
        if not right or states.shape[1] not in sizes or states.device.type != CUDA.type:
            where = f" on {states.device}" if isinstance(states, Tensor) else ""  # pyright: ignore
            given = f"{states.dtype} of shape {tuple(states.shape)}{where}"
            raise InvalidValue(f"{self.game} reads rows of its own records as bytes on the GPU, not {given}")
        states = states.contiguous()
        return states.clone() if states.data_ptr() % self.rules.STATE.alignment else states

    def records(self, states: Tensor) -> Any:
        """[N] states, which `rows` gave, as kernels read them. A copy made here would be gone too soon."""
        whole = states.shape[1] == self.rules.STATE.itemsize
        return records(states, self.rules.STATE if whole else self.rules.HEAD)

    def words(self, states: Tensor) -> Any:
        """[N, size] the same in the whole numbers that kernels copy."""
        return words(states, self.rules.STATE.alignment)

    def to_gpu(self, states: NDArray[np.void]) -> Tensor:
        """[N, bytes] records, copied to the GPU."""
        rows = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), states.dtype.itemsize)
        return torch.from_numpy(rows.copy()).to(CUDA)

    def to_cpu(self, states: Tensor) -> NDArray[np.void]:
        """[N] records, copied from the GPU."""
        dtype = self.rules.STATE if states.shape[1] == self.rules.STATE.itemsize else self.rules.HEAD
        return states.cpu().numpy().copy().reshape(-1).view(dtype)

    def heads(self, states: Tensor) -> Tensor:
        """[N, bytes of a head] the part of each state that memory keeps, as a copy."""
        return self.rows(states)[:, : self.rules.HEAD.itemsize].clone(memory_format=torch.contiguous_format)

    def field(self, states: Tensor, name: str) -> Tensor:
        """[N] what the states' field of one number holds; a view where a byte holds it."""
        fields: Any = self.rules.HEAD.fields
        dtype, offset = fields[name][:2]
        return states[:, offset : offset + dtype.itemsize].view(TORCH_TYPES[dtype])[:, 0]

    # ---- rules ----

    def legal_mask(self, states: Tensor, out: Tensor | None = None) -> Tensor:
        """[N, A] which actions are legal in `states` [N]."""
        masks = _room(out, (len(states), self.game.num_actions), torch.bool)
        if self.mask_kernels is None:
            self._look(states, masks=masks.zero_())
        else:
            rows = self.rows(states)
            launch(self.mask_kernels.legal_masks, len(rows), self.records(rows), array(masks))
        return masks

    def legal_list(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """The legal actions [N, MAX_LEGAL], ascending and then -1, and how many there are [N]."""
        lists = empty((len(states), self.rules.MAX_LEGAL), torch.int32).fill_(-1)
        counts = empty((len(states),), torch.int32)
        self._look(states, lists=lists, counts=counts)
        return lists, counts

    def random_actions(self, states: Tensor, rngs: Tensor) -> Tensor:
        """[N] one legal action in each row."""
        drawn = empty((len(states),), torch.int32)
        self._look(states, rngs=rngs, drawn=drawn)
        return drawn

    def first_illegal(self, states: Tensor, actions: Tensor) -> int:
        """The first row [N] whose action is not legal, or -1."""
        row = int(self.find_illegal(states, actions).item())
        return -1 if row == len(states) else row

    def find_illegal(self, states: Tensor, actions: Tensor) -> Tensor:
        """[1] the same without waiting for it; how many rows there are, where all actions are legal."""
        illegal = torch.full((1,), len(states), dtype=torch.int32, device=CUDA)
        self._look(states, chosen=actions, illegal=illegal)
        return illegal

    def _look(self, states: Tensor, **asked: Tensor) -> None:
        """See `look_all` in `kernels/cuda_rules.py`."""
        answers, rows = {**_unasked(), **asked}, self.rows(states)
        self.launch(self.kernels.look_all, len(rows), self.records(rows), *map(array, answers.values()))

    def seats(self, states: Tensor) -> Tensor:
        """[N] who acts."""
        seats, rows = empty((len(states),), torch.int32), self.rows(states)
        launch(self.kernels.seats_to_act, len(rows), self.records(rows), array(seats))
        return seats

    def perft(self, states: Tensor, depth: int) -> Tensor:
        """[N] how many sequences of exactly `depth` actions each state has. The last level is counted, not played."""
        return self._count(self.heads(states) if "play_head" in self.rules.compiled else self.rows(states), depth)

    def _count(self, states: Tensor, depth: int) -> Tensor:
        leaves = torch.zeros(len(states), dtype=torch.int64, device=CUDA)
        if depth == 0:
            return leaves + 1
        if depth == 1:
            self.launch(self.kernels.count_all, len(states), self.records(states), array(leaves))
            return leaves
        most = int(free_memory()[0] * MOST_CHILDREN) // (self.rules.MAX_LEGAL * states.shape[1])
        frontier = max(1, min(FRONTIER, most))
        for first in range(0, len(states), frontier):
            part = states[first : first + frontier]
            actions, counts = self.legal_list(part)
            parents = torch.repeat_interleave(torch.arange(len(part), device=CUDA), counts)  # [children]
            children, moves = part[parents], actions[actions >= 0]
            unused = torch.zeros(len(moves), dtype=torch.uint64, device=CUDA)
            self.launch(self.kernels.play_heads, len(moves), self.records(children), array(moves), array(unused))
            leaves[first : first + frontier].index_add_(0, parents, self._count(children, depth - 1))
        return leaves

    # ---- encoders ----

    def encode(
        self, encoder: str, states: Tensor, seat: int | None = None, out: Tensor | None = None, dtype: Any = None
    ) -> Tensor:
        """[N, *shape] what a network sees of `states` [N], for the seat to act in each or for `seat`.

        A dense encoder that has an index form is written by way of it, and then in any of `DENSE_TYPES`.
        """
        chosen = self.game.encoder(encoder)
        if seat is not None and not 0 <= seat < self.rules.SEATS:
            raise InvalidValue(f"{self.game} has seats 0 to {self.rules.SEATS - 1}, not {seat}")
        short = self.game.index_form(chosen)
        if short is not None:
            return self.expand(short, self._encode(short, states, seat), dtype or torch.float32, out)
        wanted = TORCH_TYPES[np.dtype(chosen.dtype)]
        if dtype not in (None, wanted):
            found = self._encode(chosen, states, seat).to(dtype)
            return found if out is None else _room(out, tuple(found.shape), dtype).copy_(found)
        return self._encode(chosen, states, seat, out)

    def _encode(self, chosen: Encoder, states: Tensor, seat: int | None, out: Tensor | None = None) -> Tensor:
        kernels, states = _encode_kernels(self.game, chosen), self.rows(states)
        rows = self.records(states)
        out = _room(out, (len(states), *chosen.shape), TORCH_TYPES[np.dtype(chosen.dtype)])
        flat, looking = out.view(len(states), math.prod(chosen.shape)), -1 if seat is None else seat
        size = out.element_size()
        if flat.shape[1] * size > STAGED:
            self._encode_long(kernels.encode_columns, states, looking, flat)
            return out
        length, flat = flat.shape[1], flat.view(-1)
        blocks, bytes_of_block = min(-(-len(states) // STAGED_BLOCK), 1 << 16), STAGED_BLOCK * length * size
        shared = -(-bytes_of_block // 8) * 8
        words_of_block = 0 if flat.data_ptr() % 8 or bytes_of_block % 8 else shared // 8
        arrays = array(flat), words_in(flat), words_of_block
        launch_blocks(kernels.encode_staged, blocks, STAGED_BLOCK, shared, rows, looking, length, *arrays)
        return out

    def _encode_long(self, kernel: Any, states: Tensor, looking: int, out: Tensor) -> None:
        """By way of the transpose, part by part."""
        part = max(1, TRANSPOSED // (out.shape[1] * out.element_size()))
        for first in range(0, len(states), part):
            rows = states[first : first + part]
            columns = empty((out.shape[1], len(rows)), out.dtype)
            launch(kernel, len(rows), self.records(rows), looking, array(columns))
            out[first : first + part] = columns.T

    def expand(
        self, encoder: Encoder | str, tokens: Tensor, dtype: torch.dtype = torch.float32, out: Tensor | None = None
    ) -> Tensor:
        """[N, *dense shape] what the tokens [N, T] of an index encoder stand for.

        They may come from the CPU, from pinned memory without waiting: a fiftieth of what the dense form would take.
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
        out = _room(out, (len(tokens), *shape), dtype)
        flat = out.view(len(tokens), math.prod(shape))
        fill = -flat.shape[1] % (8 // out.element_size())  # cells that a row lacks to whole words of eight bytes
        whole = empty((len(flat), flat.shape[1] + fill), dtype) if fill or out.data_ptr() % 8 else flat
        opaque = whole.view(DENSE_TYPES[dtype])
        kernel = _expand_kernels(self.game, chosen).expand_all
        blocks, shared = min(len(tokens), 1 << 15), whole.shape[1] * out.element_size()
        here = tokens.to(CUDA, non_blocking=True).contiguous()
        arrays = array(here), array(_palette(dtype)), array(opaque), words(opaque.view(torch.uint8), 8)
        launch_blocks(kernel, blocks, EXPAND_BLOCK, shared, *arrays)
        if whole is not flat:
            flat.copy_(whole[:, : flat.shape[1]])
        return out


@functools.cache
def _unasked() -> dict[str, Tensor]:
    """Questions to `look_all` that nobody asks, in its order."""
    shapes = {"lists": (0, 0), "counts": (0,), "masks": (0, 0), "rngs": (0,), "drawn": (0,), "chosen": (0,)}
    types = {"masks": torch.bool, "rngs": torch.uint64}
    return {name: empty(shape, types.get(name, torch.int32)) for name, shape in {**shapes, "illegal": (0,)}.items()}


@functools.cache
def _palette(dtype: torch.dtype) -> Tensor:
    """[101] the hundredths from 0 to 1, as bits."""
    return (torch.arange(101, dtype=torch.float32) / 100).to(dtype).view(DENSE_TYPES[dtype]).to(CUDA)


@functools.cache
def _encode_kernels(game: Game, encoder: Encoder) -> Any:
    return load_kernels("cuda_encode", {"write": encoder.write, **game.rules.compiled}, f"{game.label} {encoder}")


@functools.cache
def _expand_kernels(game: Game, encoder: Encoder) -> Any:
    assert encoder.spread is not None
    return load_kernels("cuda_expand", {"spread": encoder.spread}, f"{game.label} {encoder}")


def _room(out: Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """To write into. Kernels look at no bounds, so everything is looked at here."""
    if out is None:
        return empty(shape, dtype)
    fits = tuple(out.shape) == shape and out.dtype == dtype and out.is_contiguous()
    if not fits or out.device.type != CUDA.type:
        given = f"{out.dtype} of shape {tuple(out.shape)} on {out.device}"
        raise InvalidValue(f"`out` is a contiguous {dtype} of shape {shape} on the GPU, not {given}")
    return out
