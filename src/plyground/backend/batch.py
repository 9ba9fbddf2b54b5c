"""`TensorBatch`: many games of one kind at once, as torch tensors on a CPU or a GPU, the same bit for bit."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.clock import timed
from plyground.backend.device import SIMULATED, Arguments, Launch, explain_out_of_memory, free_memory
from plyground.backend.games import on_device
from plyground.batch import check_row, check_sizes, head_word, integers
from plyground.errors import IllegalAction, InvalidValue, counted
from plyground.game import Game, load
from plyground.games.rng import seeds
from plyground.kernels import threads as threading
from plyground.kernels.arrays import Games, Step
from plyground.position import Position

PLAYING = 1 if SIMULATED else 512  # threads of a block in `random_play`, in step

__all__ = ["Step", "TensorBatch"]


class TensorBatch:
    """`n` games side by side on one device. Within `step` a new game takes the place of one that has ended.

    `states` [N, bytes of STATE] and `next_states` [N, bytes of HEAD] are uint8: rows of bytes (on the CPU,
    `on.to_records` gives the same memory as records). After a step, `next_states` holds the states that the actions led
    to. The tensors may be filled in place, never replaced: kernels keep views of their memory.
    """

    def __init__(
        self,
        game: Game | str,
        n: int,
        seed: int = 0,
        device: str = "cpu",
        *,
        max_plies: int | None = None,
        threads: int | None = None,
        check: bool = True,
    ) -> None:
        """`check=False` trusts the caller that every action is legal; with `check`, `step` synchronises once."""
        check_sizes(n, max_plies, threads)
        game = load(game)
        self.game, self.check = game, check
        self.max_plies = max_plies or 2**31 - 1
        self.threads = threads or threading.available()
        self.on = on = on_device(game, device)
        state, head = game.rules.STATE.itemsize, game.rules.HEAD.itemsize
        each = state + head + 8 + 4 + 4 + 6  # generator, plies, action, and what a step returns
        fitting = f"at most {free_memory()[0] // each} games fit" if device == "cuda" else ""
        on.on.check_room(n * each, f"a batch of {n} games of {game}", fitting)
        with explain_out_of_memory(fitting):
            self.states = on.zeros((n,), game.rules.STATE)
            self.next_states = on.zeros((n,), game.rules.HEAD)
            self.rngs = torch.from_numpy(seeds(seed, n)).to(on.device)  # [N] uint64
            self.plies = on.zeros((n,), np.int32)  # [N] plies played in each current game
        word, size = head_word(game), game.rules.STATE.alignment
        self._games = Games(
            on.records(self.states),
            on.words(self.states, size),
            on.words(self.states, word),
            on.words(self.next_states, word),
            on.on.converted(self.rngs),
            on.on.converted(self.plies),
        )
        self._fresh = on.words(on.fresh, size)
        self.reset()

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'game')} of {self.game} on {self.on.name}: {self.game.sizes}>"

    @property
    def device(self) -> torch.device:
        return self.on.device

    @property
    def to_move(self) -> Tensor:
        """[N] int8 the side that acts in each row: a view."""
        return self.on.field(self.states, "to_move")

    # ---- play ----

    def reset(self) -> None:
        """Begin a new game in every row."""
        self._run(self.on.kernels.begin_all, (self._games,), (self._fresh,))
        self.plies.zero_()
        self._copy_heads()

    @timed("rules")
    def begin_games(self, begins: Tensor, opening_plies: Tensor) -> None:
        """Begin a new game where `begins` [N] bool is set, after `opening_plies` [N] int32 random plies."""
        self._run(self.on.kernels.open_games, (self._games, begins, opening_plies), (self._fresh,))

    @timed("rules")
    def step(self, actions: Any) -> Step:
        """Play one action in every row; see `Step` and the class for what comes back."""
        chosen, n, empty = self._checked(actions), len(self), self.on.on.empty
        step = Step(empty((n,), torch.float32), empty((n,), torch.bool), empty((n,), torch.bool))
        self._run(self.on.kernels.step_all, (self._games, chosen, step), (self.max_plies, self._fresh))
        return step

    def random_play(self, plies: int) -> Tensor:
        """Play `plies` random actions in every row, game after game; [4] how many games ended with each outcome.

        `max_plies` does not apply. On the CPU this uses one thread; `Batch.random_play` uses several.
        """
        ended = self.on.zeros((4,), np.int64)
        kernel = self.on.kernels.random_play
        self.on.run_rows(kernel, len(self), (self._games,), (plies, ended, self._fresh), Launch(block=PLAYING))
        self._copy_heads()
        return ended

    def ask(
        self,
        act: Callable[[NDArray[np.void], NDArray[np.uint64]], NDArray[np.int32]],
        generators: Tensor,
        where: Tensor,
        actions: Tensor,
    ) -> None:
        """Write `act(records [R], rngs [R])` into the R rows of `actions` [N] where `where` [N] is set: for agents that
        act on records. They draw from `generators` [N] uint64. On a GPU this copies the states of those rows, and
        synchronises."""
        rows = where.nonzero()[:, 0]
        if len(rows):
            own = generators.view(torch.int64)  # torch cannot index uint64
            rngs = own[rows].cpu().numpy().view(np.uint64)
            chosen = act(self.on.to_records(self.states[rows]), rngs)
            actions[rows] = torch.from_numpy(chosen).to(actions)
            own[rows] = torch.from_numpy(rngs.view(np.int64)).to(own.device)

    # ---- states ----

    def legal_mask(self, states: Tensor | None = None, out: Tensor | None = None) -> Tensor:
        """[N, A] bool which actions are legal, in the batch's states or in others."""
        return self.on.legal_mask(self.states if states is None else states, out, self.threads)

    def legal_list(self, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The legal actions [N, MAX_LEGAL] int32, ascending and then -1, and how many there are [N] int32."""
        return self.on.legal_list(self.states if states is None else states, self.threads)

    def encode(
        self,
        encoder: str,
        states: Tensor | None = None,
        *,
        seat: int | None = None,
        out: Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> Tensor:
        """[N, *shape] observations of the batch's states or of others, for the seat to act or another one."""
        return self.on.encode(encoder, self.states if states is None else states, seat, out, dtype, self.threads)

    def random_actions(self) -> Tensor:
        """[N] int32 one legal action in each row, from the games' own generators."""
        return self.on.random_actions(self.states, self.rngs, self.threads)

    def perft(self, depth: int) -> Tensor:
        """[N] int64 how many sequences of exactly `depth` actions can be played from each row."""
        return self.on.perft(self.states, depth)

    def position(self, row: int) -> Position:
        """One row as a position: a copy, with the row's own generator."""
        check_row(row, len(self))
        position = Position(self.game, self.on.to_records(self.states[row : row + 1].clone()))
        position.rngs = self.rngs[row : row + 1].cpu().numpy().copy()
        return position

    def _run(self, kernel: Any, arrays: Arguments, others: Arguments) -> None:
        self.on.run_rows(kernel, len(self), arrays, others, Launch(self.threads))

    def _copy_heads(self) -> None:
        self.next_states.copy_(self.states[:, : self.next_states.shape[1]])

    def _checked(self, actions: Any) -> Tensor:
        """The actions on the device, each of them, unless the caller is trusted, legal in its row."""
        given = actions if isinstance(actions, Tensor) else torch.from_numpy(_native(integers(actions, len(self))))
        if tuple(given.shape) != (len(self),) or given.dtype.is_floating_point or given.dtype == torch.bool:
            shape = tuple(given.shape)
            raise InvalidValue(f"a step takes {len(self)} whole numbers, not {given.dtype} of shape {shape}")
        chosen = given.to(self.device, torch.int32).contiguous()
        if self.check and given.element_size() > 4:
            fits = chosen == given.to(self.device, torch.int64)
            chosen = torch.where(fits, chosen, -1)  # too large for 32 bits
        bad = self.on.first_illegal(self.states, chosen, self.threads) if self.check else -1
        if bad >= 0:
            raise IllegalAction(f"row {bad}: {self.position(bad).refusal(int(given[bad]))}")
        return chosen


def _native(numbers: NDArray[Any]) -> NDArray[Any]:
    """As torch takes them: contiguous, in this machine's byte order."""
    return np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
