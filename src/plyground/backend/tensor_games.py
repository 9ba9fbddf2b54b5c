"""A game's functions on torch tensors; and on a GPU, where they are other kernels than the CPU's loops."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.clock import timed
from plyground.backend.device import SIMULATED, TORCH_TYPES, Cuda, free_memory
from plyground.backend.games import DeviceGame
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.kernels.arrays import Games, Legal

STAGED = 640  # bytes: shorter observations are written by way of shared memory
STAGED_BLOCK = 2 if SIMULATED else 32  # threads that share it
TRANSPOSED = 1 << 30  # bytes of longer ones that are written at once
EXPAND_BLOCK = 2 if SIMULATED else 32  # threads that write a row
PLAYING = 1 if SIMULATED else 512  # threads of a block in `random_play`, in step
FRONTIER = 1 << 18  # positions whose children perft plays at once
MOST_CHILDREN = 0.1  # of the free memory: those children
OPAQUE = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}  # of the same size


class TensorGame(DeviceGame):
    """A game's kernels with torch: N states are rows of bytes, [N, bytes of STATE or of HEAD] uint8, told apart by
    their size. On the CPU they share their memory with the records that the loops read."""

    def rows(self, states: Tensor) -> Tensor:
        """States as kernels can read them: contiguous and aligned. Kernels check no bounds, so this function checks."""
        right = isinstance(states, Tensor) and states.ndim == 2 and states.dtype == torch.uint8  # pyright: ignore
        sizes = self.rules.STATE.itemsize, self.rules.HEAD.itemsize
        if not right or states.shape[1] not in sizes or states.device.type != self.device.type:
            where = f" on {states.device}" if isinstance(states, Tensor) else ""  # pyright: ignore
            given = f"{states.dtype} of shape {tuple(states.shape)}{where}"
            raise InvalidValue(f"{self.game} reads rows of its own records as bytes on {self.name}, not {given}")
        states = states.contiguous()
        return states.clone() if states.data_ptr() % self.rules.STATE.alignment else states

    def records(self, states: Tensor) -> Any:
        return self.on.view(states, (len(states),), self._dtype(states))

    def _dtype(self, states: Tensor) -> np.dtype[np.void]:
        return self.rules.STATE if states.shape[1] == self.rules.STATE.itemsize else self.rules.HEAD

    def bytes_of(self, states: Tensor) -> Tensor:
        return states

    def from_records(self, records: NDArray[np.void]) -> Tensor:
        return self.on.from_numpy(super().bytes_of(super().from_records(records)))

    def to_records(self, states: Tensor) -> NDArray[np.void]:
        return self.on.to_numpy(states.contiguous()).reshape(-1).view(self._dtype(states))

    def heads(self, states: Tensor) -> Tensor:
        return states[:, : self.rules.HEAD.itemsize].clone(memory_format=torch.contiguous_format)

    def field(self, states: Tensor, name: str) -> Tensor:
        fields: Any = self.rules.STATE.fields
        dtype, offset = fields[name][:2]
        return states[:, offset : offset + dtype.itemsize].view(TORCH_TYPES[dtype])[:, 0]


class CudaGame(TensorGame):
    """A game's kernels on the GPU."""

    on: Cuda

    def __init__(self, game: Game, device: str) -> None:
        super().__init__(game, device)
        self._kernels = self.load("rules")

    @property
    def kernels(self) -> Any:
        return self._kernels

    def random_play(self, games: Games, count: int, threads: int = 1) -> Tensor:
        ended = self.zeros((4,), np.int64)
        how = len(games.states), self.rules.WORK, PLAYING
        self.on.run_threads(self.kernels.random_play, *how, games, count, ended, self.fresh)
        return ended

    # ---- rules ----

    @timed("rules")
    def legal_mask(self, states: Tensor, out: Tensor | None = None, threads: int = 1) -> Tensor:
        rows, masks = self.rows(states), self.on.room(out, (len(states), self.game.num_actions), np.bool_)
        if "mask" in self.rules.compiled:
            self.on.run(self.load("mask").legal_masks, len(rows), self.records(rows), masks)
        else:
            self._find_legal(rows, masks=masks.fill_(False))
        return masks

    @timed("rules")
    def legal_outputs(self, states: Tensor, outputs: Tensor, count: int) -> Tensor:
        masks = self.on.zeros((len(states), count), np.bool_)
        self._find_legal(self.rows(states), masks=masks, outputs=outputs)
        return masks

    @timed("rules")
    def legal_list(self, states: Tensor, threads: int = 1) -> tuple[Tensor, Tensor]:
        lists = self.on.empty((len(states), self.rules.MAX_LEGAL), np.int32).fill_(-1)
        counts = self.on.empty((len(states),), np.int32)
        self._find_legal(self.rows(states), lists=lists, counts=counts)
        return lists, counts

    @timed("rules")
    def random_actions(self, states: Tensor, rngs: Tensor, threads: int = 1) -> Tensor:
        drawn = self.on.empty((len(states),), np.int32)
        self._find_legal(self.rows(states), rngs=rngs, drawn=drawn)
        return drawn

    @timed("rules")
    def find_illegal(self, states: Tensor, actions: Tensor) -> Tensor:
        illegal = self.on.empty((1,), np.int32).fill_(len(states))
        self._find_legal(self.rows(states), chosen=actions, illegal=illegal)
        return illegal

    def first_illegal(self, states: Tensor, actions: Tensor, threads: int = 1) -> int:
        row = int(self.find_illegal(states, actions).item())
        return -1 if row == len(states) else row

    def _find_legal(self, rows: Tensor, **asked: Tensor) -> None:
        """Fill the fields of `Legal` that are asked for, all by one kernel: `legal` takes most of its compile time."""
        legal = Legal(**(_not_asked(self.device) | asked))
        self.run_rows(self.kernels.find_legal, len(rows), (self.records(rows), legal))

    def perft(self, states: Tensor, depth: int, threads: int = 1) -> Tensor:
        self.game.check_perft(depth)
        return self._count(self.heads(states) if "play_head" in self.rules.compiled else self.rows(states), depth)

    def _count(self, states: Tensor, depth: int) -> Tensor:
        """Perft level by level. The last level is counted, not played."""
        leaves = self.zeros((len(states),), np.int64)
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
            unused = self.zeros((len(moves),), np.uint64)
            self.run_rows(self.kernels.play_heads, len(moves), (self.records(children), moves, unused))
            leaves[first : first + frontier].index_add_(0, parents, self._count(children, depth - 1))
        return leaves

    # ---- encoders ----

    def _encode(self, chosen: Encoder, rows: Tensor, seat: int | None, out: Any, dtype: Any, threads: int) -> Tensor:
        short = self.game.index_form(chosen)
        if short is None:
            return super()._encode(chosen, rows, seat, out, dtype, threads)
        return self.expand(short, super()._encode(short, rows, seat, None, None, threads), dtype, out)

    def _write(self, chosen: Encoder, rows: Tensor, seat: int | None, out: Tensor, threads: int) -> None:
        """By way of shared memory; longer observations by way of the transpose, part by part."""
        kernels: Any = self.load("encode", write=chosen.write)
        flat, size, observer = (
            out.view(len(rows), math.prod(chosen.shape)),
            out.element_size(),
            -1 if seat is None else seat,
        )
        length = flat.shape[1]
        if length * size > STAGED:
            most = max(1, TRANSPOSED // (length * size))
            for first in range(0, len(rows), most):
                part = rows[first : first + most]
                columns = self.on.empty((length, len(part)), out.dtype)
                self.on.run(kernels.encode_columns, len(part), self.records(part), observer, columns)
                flat[first : first + most] = columns.T
            return
        flat = flat.view(-1)
        blocks, block_bytes = min(-(-len(rows) // STAGED_BLOCK), 1 << 16), STAGED_BLOCK * length * size
        shared = -(-block_bytes // 8) * 8
        block_words = 0 if flat.data_ptr() % 8 or block_bytes % 8 else shared // 8
        words = self.on.view(flat, (flat.nbytes // 8,), np.uint64)
        given = self.records(rows), observer, length, flat, words, block_words
        self.on.run_blocks(kernels.encode_staged, blocks, STAGED_BLOCK, shared, *given)

    def _expand(self, kernel: Any, tokens: Tensor, out: Tensor) -> None:
        """A block of threads writes a row; rows are written in whole words of eight bytes."""
        here, flat = (
            tokens.to(self.device, non_blocking=True).contiguous(),
            out.view(len(tokens), math.prod(out.shape[1:])),
        )
        fill = -flat.shape[1] % (8 // flat.element_size())  # cells that a row lacks to whole words
        unaligned = bool(fill) or flat.data_ptr() % 8
        whole = self.on.empty((len(flat), flat.shape[1] + fill), flat.dtype) if unaligned else flat
        opaque, row_bytes = whole.view(OPAQUE[flat.dtype]), whole.shape[1] * flat.element_size()
        words = self.on.view(opaque, (len(opaque), row_bytes // 8), np.uint64)
        blocks, palette = min(len(tokens), 1 << 15), _palette(flat.dtype, self.device)
        self.on.run_blocks(kernel, blocks, EXPAND_BLOCK, row_bytes, here, palette, opaque, words)
        if whole is not flat:
            flat.copy_(whole[:, : flat.shape[1]])


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
    return (torch.arange(101, dtype=torch.float32) / 100).to(dtype).view(OPAQUE[dtype]).to(device)
