"""`Batch(game, n, device="cuda")`: the same games, bit for bit, as on the CPU, in torch's tensors."""

# pyright: reportUnknownMemberType=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.device import (
    CUDA,
    SIMULATED,
    array,
    check_room,
    empty,
    free_memory,
    launch,
    launch_blocks,
    said_when_full,
    words,
)
from plyground.backend.games import on_gpu
from plyground.batch import Batch
from plyground.errors import IllegalAction, InvalidValue
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.position import Position

PLAYING = 1 if SIMULATED else 512  # threads of a block that play on their own, in step


class Step(NamedTuple):
    """What `GpuBatch.step` returns, a row for each game."""

    rewards: Tensor  # [N] float32: +1, 0 or -1, as the side that acted sees it
    terminated: Tensor  # [N] bool: the rules ended the game
    truncated: Tensor  # [N] bool: the limit of plies did


class GpuBatch(Batch):
    """`Batch` on a GPU. `states` [N, size of a record] and `after` [N, size of a head] are tensors of bytes; nothing is
    copied to the CPU but what `check` finds, one number for each step (`check=False` saves that too)."""

    def __init__(
        self,
        game: Game,
        n: int,
        seed: int = 0,
        device: str = "cuda",
        *,
        max_plies: int | None = None,
        threads: int | None = None,
        check: bool = True,
    ) -> None:
        self._set(game, n, max_plies, threads, check)
        self.gpu = on_gpu(game)
        state, head = game.rules.STATE.itemsize, game.rules.HEAD.itemsize
        each = state + head + 8 + 4 + 4 + 6  # generator, plies, action, and what a step returns
        fitting = f"at most {free_memory()[0] // each} games fit"
        check_room(n * each, f"a batch of {n} games of {game}", fitting)
        with said_when_full(fitting):
            self.states: Tensor = empty((n, state), torch.uint8)
            self.after: Tensor = empty((n, head), torch.uint8)
            self.rngs: Tensor = torch.from_numpy(seeds(seed, n)).to(CUDA)
            self.plies: Tensor = torch.zeros(n, dtype=torch.int32, device=CUDA)
            self.reset()

    def reset(self) -> None:
        gpu = self.gpu
        arguments = (gpu.records(self.states), gpu.words(self.states), gpu.words(gpu.fresh), array(self.rngs))
        launch(gpu.kernels.reset_all, len(self), *arguments)
        self.plies.zero_()
        self._take_heads()

    def step(self, actions: Any) -> Step:
        chosen, gpu, n = self._checked(actions), self.gpu, len(self)
        step = Step(empty((n,), torch.float32), empty((n,), torch.bool), empty((n,), torch.bool))
        gpu.launch(
            *(gpu.kernels.step_all, n, gpu.records(self.states), gpu.words(self.states)),
            *(
                words(self.states, gpu.head_word),
                words(self.after, gpu.head_word),
                array(chosen),
                array(self.rngs),
                gpu.words(gpu.fresh),
            ),
            *(array(self.plies), self.max_plies, *(array(each) for each in step)),
        )
        return step

    def legal_mask(self, states: Tensor | None = None, out: Tensor | None = None) -> Tensor:
        return self.gpu.legal_mask(self.states if states is None else states, out)

    def legal_list(self, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return self.gpu.legal_list(self.states if states is None else states)

    def encode(
        self,
        encoder: str,
        states: Tensor | None = None,
        *,
        seat: int | None = None,
        out: Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> Tensor:
        """As on the CPU, and in another type of numbers where one is asked for."""
        return self.gpu.encode(encoder, self.states if states is None else states, seat, out, dtype)

    def random_actions(self) -> Tensor:
        return self.gpu.random_actions(self.states, self.rngs)

    def random_play(self, plies: int) -> Tensor:
        gpu, ended = self.gpu, torch.zeros(4, dtype=torch.int64, device=CUDA)
        launch_blocks(
            *(gpu.kernels.random_play, -(-min(len(self), gpu.threads) // PLAYING), PLAYING, 0),
            *(gpu.words(self.states), gpu.words(gpu.fresh), array(self.rngs), array(self.plies)),
            *(plies, array(ended), gpu.working_memory(len(self))),
        )
        self._take_heads()
        return ended

    def perft(self, depth: int) -> Tensor:
        self.game.check_perft(depth)
        return self.gpu.perft(self.states, depth)

    def open_games(self, begins: Tensor, plies: Tensor) -> None:
        gpu = self.gpu
        gpu.launch(
            *(gpu.kernels.open_games, len(self), gpu.records(self.states), gpu.words(self.states)),
            *(array(begins), array(plies), gpu.words(gpu.fresh), array(self.rngs)),
        )

    def position(self, row: int) -> Position:
        self._check_row(row)
        position = Position(self.game, self.gpu.to_cpu(self.states[row : row + 1]))
        position.rngs = self.rngs[row : row + 1].cpu().numpy()
        return position

    @property
    def to_move(self) -> Tensor:
        return self.gpu.field(self.states, "to_move")

    def _take_heads(self) -> None:
        self.after.copy_(self.states[:, : self.after.shape[1]])

    def _checked(self, actions: Any) -> Tensor:
        """The actions on the GPU, each of them, unless the caller is trusted, legal in its row."""
        given = actions if isinstance(actions, Tensor) else torch.from_numpy(_native(self._whole_numbers(actions)))
        if tuple(given.shape) != (len(self),) or given.dtype.is_floating_point or given.dtype == torch.bool:
            shape = tuple(given.shape)
            raise InvalidValue(f"a step takes {len(self)} whole numbers, not {given.dtype} of shape {shape}")
        chosen = given.to(CUDA, torch.int32).contiguous()
        if self.check and given.element_size() > 4:
            chosen = torch.where(chosen == given.to(CUDA, torch.int64), chosen, -1)  # what is too large for 32 bits
        bad = self.gpu.first_illegal(self.states, chosen) if self.check else -1
        if bad >= 0:
            raise IllegalAction(f"row {bad}: {self.position(bad).refusal(int(given[bad]))}")
        return chosen


def _native(numbers: NDArray[Any]) -> NDArray[Any]:
    """As torch takes them: end to end, in this machine's order of bytes."""
    return np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
