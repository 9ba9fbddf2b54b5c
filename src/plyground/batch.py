"""`Batch`: many games of one kind at once, as numpy arrays. The same as torch tensors: `backend/batch.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plyground.errors import IllegalAction, InvalidValue, counted, is_whole, shown
from plyground.game import Game, load
from plyground.games.rng import seeds
from plyground.kernels import threads as threading
from plyground.kernels.arrays import Games, Step
from plyground.position import Position

__all__ = ["Batch", "Step"]


class Batch:
    """`n` games side by side. Within `step` a new game takes the place of one that has ended.

    After a step, `next_states` holds the states that the actions led to (the final state where a game ended) and
    `states` those that the next actions are for. Both are records; `encode` and `legal_mask` take either. The arrays
    may be filled in place, never replaced: kernels keep views of their memory.
    """

    def __init__(
        self,
        game: Game | str,
        n: int,
        seed: int = 0,
        *,
        max_plies: int | None = None,
        threads: int | None = None,
        check: bool = True,
    ) -> None:
        """`check=False` trusts the caller that every action is legal."""
        check_sizes(n, max_plies, threads)
        game = load(game)
        self.game, self.check = game, check
        self.max_plies = max_plies or 2**31 - 1
        self.threads = threads or threading.available()
        self.states = np.zeros(n, game.rules.STATE)  # [N]
        self.next_states = np.zeros(n, game.rules.HEAD)  # [N]
        self.rngs = seeds(seed, n)  # [N]
        self.plies = np.zeros(n, np.int32)  # [N] plies played in each current game
        self._games = games_of(game, self.states, self.next_states, self.rngs, self.plies)
        self._fresh = fresh_words(game)
        self.reset()

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'game')} of {self.game}: {self.game.sizes}>"

    def reset(self) -> None:
        """Begin a new game in every row."""
        kernels, game = self.game.kernels(), self.game

        def run(games: Games) -> None:
            kernels.begin_all(games, self._fresh, game.work())

        self._run(run, self._games)
        self.plies[:] = 0
        self._copy_heads()

    def step(self, actions: ArrayLike) -> Step:
        """Play one action in every row; see `Step` and the class for what comes back."""
        chosen = self._checked(actions)
        n, game, kernels = len(self), self.game, self.game.kernels()
        step = Step(np.empty(n, np.float32), np.empty(n, np.bool_), np.empty(n, np.bool_))

        def run(games: Games, chosen: NDArray[np.int32], step: Step) -> None:
            kernels.step_all(games, chosen, step, self.max_plies, self._fresh, game.work())

        self._run(run, self._games, chosen, step)
        return step

    def legal_mask(
        self, states: NDArray[np.void] | None = None, out: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """[N, A] which actions are legal, in the batch's states or in others."""
        return self.game.legal_mask(self.states if states is None else states, out, self.threads)

    def legal_list(self, states: NDArray[np.void] | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The legal actions [N, MAX_LEGAL], ascending and then -1, and how many there are [N]."""
        rows = self.states if states is None else states
        actions, counts = np.empty((len(rows), self.game.rules.MAX_LEGAL), np.int32), np.empty(len(rows), np.int32)
        kernels, work = self.game.kernels(), self.game.work

        def run(states: NDArray[np.void], actions: NDArray[np.int32], counts: NDArray[np.int32]) -> None:
            kernels.legal_lists(states, actions, counts, work())

        threading.over_parts(run, len(rows), self.threads, rows, actions, counts)
        return actions, counts

    def encode(
        self,
        encoder: str,
        states: NDArray[np.void] | None = None,
        *,
        seat: int | None = None,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """[N, *shape] observations of the batch's states or of others, for the seat to act or another one."""
        return self.game.encode(encoder, self.states if states is None else states, seat, out, self.threads)

    def random_actions(self) -> NDArray[np.int32]:
        """[N] one legal action in each row, from the games' own generators."""
        game, kernels, actions = self.game, self.game.kernels(), np.empty(len(self), np.int32)

        def run(states: NDArray[np.void], rngs: NDArray[np.uint64], actions: NDArray[np.int32]) -> None:
            kernels.random_actions(states, rngs, actions, game.work(), game.scratch())

        self._run(run, self.states, self.rngs, actions)
        return actions

    def random_play(self, plies: int) -> NDArray[np.int64]:
        """Play `plies` random actions in every row, game after game; [4] how many games ended with each outcome.

        `max_plies` does not apply.
        """
        if not is_whole(plies, 0):
            raise InvalidValue(f"random play takes a number of plies, at least 0, not {shown(plies)}")
        kernels, ended = self.game.kernels(), list[NDArray[np.int64]]()

        def run(games: Games) -> None:
            counts = np.zeros(4, np.int64)
            kernels.random_play(games, plies, counts, self._fresh, self.game.work())
            ended.append(counts)

        self._run(run, self._games)
        self._copy_heads()
        return np.sum(ended, axis=0)

    def perft(self, depth: int) -> NDArray[np.int64]:
        """[N] how many sequences of exactly `depth` actions can be played from each row."""
        leaves = np.empty(len(self), np.int64)

        def run(states: NDArray[np.void], leaves: NDArray[np.int64]) -> None:
            leaves[:] = self.game.perft(states, depth)

        self._run(run, self.states, leaves)
        return leaves

    def position(self, row: int) -> Position:
        """One row as a position: a copy, with the row's own generator."""
        check_row(row, len(self))
        return Position(self.game, self.states[row : row + 1], rngs=self.rngs[row : row + 1])

    @property
    def to_move(self) -> NDArray[np.int8]:
        """[N] the side that acts in each row."""
        return self.states["to_move"]

    def _copy_heads(self) -> None:
        as_bytes(self.next_states)[:] = as_bytes(self.states)[:, : self.next_states.dtype.itemsize]

    def _run(self, work: Callable[..., None], *arrays: Any) -> None:
        threading.over_parts(work, len(self), self.threads, *arrays)

    def _checked(self, actions: ArrayLike) -> NDArray[np.int32]:
        """The actions as an array, each of them, unless the caller is trusted, legal in its row."""
        given = integers(actions, len(self))
        chosen = np.ascontiguousarray(given, np.int32)
        bad = -1
        if chosen is not given and (chosen != given).any():
            bad = int((chosen != given).argmax())  # too large for 32 bits
        elif self.check:
            bad = self.game.first_illegal(self.states, chosen, self.threads)
        if bad >= 0:
            raise IllegalAction(f"row {bad}: {self.position(bad).refusal(int(given[bad]))}")
        return chosen


# ---- shared with the batches of tensors ----


def games_of(
    game: Game,
    states: NDArray[np.void],  # [N] of STATE
    next_states: NDArray[np.void],  # [N] of HEAD
    rngs: NDArray[np.uint64],  # [N]
    plies: NDArray[np.int32],  # [N]
) -> Games:
    """The arrays of N games as kernels take them: the same memory."""
    word = head_word(game)
    words, heads = as_words(states, game.rules.STATE.alignment), as_words(states, word)
    return Games(states, words, heads, as_words(next_states, word), rngs, plies)


def head_word(game: Game) -> int:
    """Bytes of the largest unsigned integers that divide both a game's STATE and its HEAD."""
    return math.gcd(game.rules.STATE.alignment, game.rules.HEAD.itemsize)


def fresh_words(game: Game) -> NDArray[Any]:
    """[1, SIZE] `game.fresh` as kernels copy it."""
    return as_words(game.fresh, game.rules.STATE.alignment)


def as_words(records: NDArray[np.void], size: int) -> NDArray[Any]:
    """[N, itemsize / size] the same memory as unsigned integers of `size` bytes."""
    return records.view(f"u{size}").reshape(len(records), records.dtype.itemsize // size)


def as_bytes(records: NDArray[np.void]) -> NDArray[np.uint8]:
    """[N, itemsize] the same memory."""
    return as_words(records, 1)


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


def check_row(row: int, n: int) -> None:
    if not is_whole(row, 0, n - 1):
        raise InvalidValue(f"a batch of {n} has rows 0 to {n - 1}, not {shown(row)}")


def integers(actions: ArrayLike, n: int) -> NDArray[Any]:
    """`actions` as an array of n integers, of whatever size."""
    given = np.asarray(actions)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InvalidValue(f"a step takes {n} whole numbers, not {given.dtype} of shape {given.shape}")
    return given
