"""`Batch`: many games of one kind at once, as numpy arrays or as torch tensors, on a CPU or a GPU the same bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plyground.backend.clock import timed
from plyground.backend.games import Array, on_device
from plyground.errors import IllegalAction, InvalidValue, counted, is_whole, shown
from plyground.game import Game, load
from plyground.games.rng import agent_seeds, seeds
from plyground.kernels import threads as threading
from plyground.kernels.arrays import Step
from plyground.position import Position

__all__ = ["Batch", "Step", "TensorBatch"]


class Batch:
    """`n` games side by side. Within `step` a new game takes the place of one that has ended.

    After a step, `next_states` holds the states that the actions led to (the final state where a game ended) and
    `states` those that the next actions are for; `encode` and `legal_mask` take either. With numpy both are records
    [N]. With torch they are rows of bytes [N, bytes] uint8; on the CPU, `on.to_records` gives the same memory as
    records. The arrays may be filled in place, never replaced: kernels keep views of their memory.
    """

    def __init__(
        self,
        game: Game | str,
        n: int,
        seed: int = 0,
        *,
        device: str = "numpy",
        max_plies: int | None = None,
        threads: int | None = None,
        check: bool = True,
    ) -> None:
        """`device`: `numpy` for arrays; `cpu` or `cuda` for torch tensors there. `check=False` trusts the caller that
        every action is legal; with `check`, a `step` on a GPU synchronises once."""
        check_sizes(n, max_plies, threads)
        game = load(game)
        self.game, self.check, self.seed = game, check, seed
        self.max_plies = max_plies or 2**31 - 1
        self.threads = threads or threading.available()
        self.on = on = on_device(game, device)
        state, head = game.rules.STATE, game.rules.HEAD
        each = state.itemsize + head.itemsize + 8 + 4 + 4 + 6  # generator, plies, action, and what a step returns
        on.on.check_rows(n, each, f"a batch of {n} games of {game}")
        self.states: Array = on.zeros((n,), state)  # [N]
        self.next_states: Array = on.zeros((n,), head)  # [N]
        self.rngs: Array = on.on.from_numpy(seeds(seed, n))  # [N] uint64
        self.plies: Array = on.zeros((n,), np.int32)  # [N] plies played in each current game
        self._games = on.games(self.states, self.next_states, self.rngs, self.plies)
        self.reset()

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'game')} of {self.game}{self.on.on.place}: {self.game.sizes}>"

    @property
    def device(self) -> Any:
        """Where the arrays are: a `torch.device`, or "cpu" of numpy's."""
        return self.on.device

    @property
    def to_move(self) -> Array:
        """[N] int8 the side that acts in each row: a view."""
        return self.on.field(self.states, "to_move")

    # ---- play ----

    def reset(self) -> None:
        """Begin a new game in every row."""
        self.on.run_rows(self.on.kernels.begin_all, len(self), (self._games,), (self.on.fresh,), self.threads)
        self.plies[:] = 0
        self._copy_heads()

    @timed("rules")
    def begin_games(self, begins: Array, opening_plies: Array) -> None:
        """Begin a new game where `begins` [N] bool is set, after `opening_plies` [N] int32 random plies."""
        arrays = self._games, begins, opening_plies
        self.on.run_rows(self.on.kernels.open_games, len(self), arrays, (self.on.fresh,), self.threads)

    @timed("rules")
    def step(self, actions: ArrayLike | Array) -> Step:
        """Play one action in every row; see `Step` and the class for what comes back."""
        chosen, n, on, empty = self._checked(actions), len(self), self.on, self.on.on.empty
        step = Step(empty((n,), np.float32), empty((n,), np.bool_), empty((n,), np.bool_))
        on.run_rows(on.kernels.step_all, n, (self._games, chosen, step), (self.max_plies, on.fresh), self.threads)
        return step

    def children(self, actions: Array, rngs: Array | None = None) -> Array:
        """[N, K] the states after each of `actions` [N, K] int32 (-1: none), as `legal_list` returns them: afterstates.

        None of them is what a `step` will bring. Hidden cards are drawn anew as the seat to act may know them, and so
        are dice, once for all children of a row: from `rngs` [N] uint64, which advance, or from `redraw_rngs`. A state
        may be long: `actions[:, :counts.max()]` has fewer columns. `children[actions >= 0]` is what `encode` reads.
        """
        n, on = len(self), self.on.on
        if getattr(actions, "dtype", None) != on.dtype(np.int32) or actions.ndim != 2 or len(actions) != n:
            raise InvalidValue(f"children takes the actions of {n} rows as legal_list returns them, [{n}, K] int32")
        lists = on.int32(actions, False)
        if self.check:
            rows, most = on.from_numpy(np.arange(n)[:, None]), self.game.num_actions - 1
            legal = (lists <= most) & self.legal_mask()[rows, lists.clip(0, most)]
            bad = on.to_numpy((lists >= 0) & ~legal)  # [N, K]
            if bad.any():
                row, column = np.argwhere(bad)[0].tolist()
                raise IllegalAction(f"row {row}: {self.position(row).refusal(int(lists[row, column]))}")
        return self.on.children(self.states, lists, self.redraw_rngs if rngs is None else rngs, self.threads)

    @functools.cached_property
    def redraw_rngs(self) -> Array:
        """[N] uint64 for redraws: by no calculation do they lead to the generators that decide the games' chance."""
        return self.on.on.from_numpy(agent_seeds(self.seed, len(self)))

    def random_play(self, plies: int) -> Array:
        """Play `plies` random actions in every row, game after game; [4] how many games ended with each outcome.

        `max_plies` does not apply.
        """
        if not is_whole(plies, 0):
            raise InvalidValue(f"random play takes a number of plies, at least 0, not {shown(plies)}")
        ended = self.on.random_play(self._games, plies, self.threads)
        self._copy_heads()
        return ended

    def ask(
        self,
        act: Callable[[NDArray[np.void], NDArray[np.uint64]], NDArray[np.int32]],
        generators: Array,
        where: Array,
        actions: Array,
    ) -> None:
        """Write `act(records [R], rngs [R])` into the R rows of `actions` [N] where `where` [N] is set: for agents that
        act on records. They draw from `generators` [N] uint64. On a GPU this copies the states of those rows, and
        synchronises."""
        device = self.on.on
        rows = device.to_numpy(where).nonzero()[0]
        if len(rows):
            own = generators.view(device.dtype(np.int64))  # torch cannot index uint64
            rngs = device.to_numpy(own[rows]).view(np.uint64)
            chosen = act(self.on.to_records(self.states[rows]), rngs)
            actions[rows] = device.from_numpy(chosen.astype(np.int32, copy=False))
            own[rows] = device.from_numpy(rngs.view(np.int64))

    # ---- states ----

    def legal_mask(self, states: Array | None = None, out: Array | None = None) -> Array:
        """[N, A] bool which actions are legal, in the batch's states or in others."""
        return self.on.legal_mask(self.states if states is None else states, out, self.threads)

    def legal_list(self, states: Array | None = None) -> tuple[Array, Array]:
        """The legal actions [N, MAX_LEGAL] int32, ascending and then -1, and how many there are [N] int32."""
        return self.on.legal_list(self.states if states is None else states, self.threads)

    def encode(
        self,
        encoder: str,
        states: Array | None = None,
        *,
        seat: int | None = None,
        out: Array | None = None,
        dtype: Any = None,
    ) -> Array:
        """[N, *shape] observations of the batch's states or of others, for the seat to act or another one; in the
        encoder's own type of numbers, or in `dtype`."""
        return self.on.encode(encoder, self.states if states is None else states, seat, out, dtype, self.threads)

    def random_actions(self) -> Array:
        """[N] int32 one legal action in each row, from the games' own generators."""
        return self.on.random_actions(self.states, self.rngs, self.threads)

    def perft(self, depth: int) -> Array:
        """[N] int64 how many sequences of exactly `depth` actions can be played from each row."""
        return self.on.perft(self.states, depth, self.threads)

    def position(self, row: int) -> Position:
        """One row as a position: a copy, with the row's own generator."""
        if not is_whole(row, 0, len(self) - 1):
            raise InvalidValue(f"a batch of {len(self)} has rows 0 to {len(self) - 1}, not {shown(row)}")
        rngs = self.on.on.to_numpy(self.rngs[row : row + 1])
        return Position(self.game, self.on.to_records(self.states[row : row + 1]), rngs=rngs)

    def _copy_heads(self) -> None:
        states, heads = self.on.bytes_of(self.states), self.on.bytes_of(self.next_states)
        heads[:] = states[:, : heads.shape[1]]

    def _checked(self, actions: ArrayLike | Array) -> Array:
        """The actions [N] int32 on the device, each of them, unless the caller is trusted, legal in its row."""
        given = self.on.on.integers(actions, len(self))
        chosen = self.on.on.int32(given, self.check)
        bad = self.on.first_illegal(self.states, chosen, self.threads) if self.check else -1
        if bad >= 0:
            raise IllegalAction(f"row {bad}: {self.position(bad).refusal(int(given[bad]))}")
        return chosen


class TensorBatch(Batch):
    """`Batch` with torch tensors, on the CPU unless another device is named."""

    def __init__(self, game: Game | str, n: int, seed: int = 0, device: str = "cpu", **options: Any) -> None:
        super().__init__(game, n, seed, device=device, **options)


def check_sizes(n: int, max_plies: int | None, threads: int | None) -> None:
    """Refuse a batch that cannot be."""
    if not is_whole(n):
        raise InvalidValue(
            f"a batch takes a game and how many, such as Batch('chess', 64); {n!r} is no number of games"
        )
    if n < 1:
        raise InvalidValue(f"a batch has at least one game, not {n}")
    if max_plies is not None and not is_whole(max_plies, 1):
        raise InvalidValue(f"max_plies is at least 1, not {shown(max_plies)}")
    if threads is not None and not is_whole(threads, 1):
        raise InvalidValue(f"a batch runs on at least 1 thread, not {shown(threads)}")
