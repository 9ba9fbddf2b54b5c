"""`Batch`: many games of one kind at once, for speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plyground.errors import IllegalAction, InvalidValue
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.kernels import threads as threading
from plyground.position import Position


class Step(NamedTuple):
    """What `Batch.step` returns, a row for each game."""

    rewards: NDArray[np.float32]  # [N] +1, 0 or -1, as the side that acted sees it
    terminated: NDArray[np.bool_]  # [N] the rules ended the game
    truncated: NDArray[np.bool_]  # [N] the limit of plies did


class Batch:
    """`n` games side by side. A finished game gives its place to a fresh one within `step`.

    After a step, `after` holds where each action led (the final position, where a game ended) and `states` where play
    goes on. Both are records; `encode` and `legal_mask` take either. On a GPU (`device="cuda"`) everything is a torch
    tensor there, and records are rows of bytes.
    """

    def __new__(
        cls,
        game: Game,
        n: int,
        seed: int = 0,
        device: str = "cpu",
        *,
        max_plies: int | None = None,
        threads: int | None = None,
        check: bool = True,
    ) -> Batch:
        if device == "cuda":
            from plyground.backend.batch import GpuBatch  # torch takes its time

            return object.__new__(GpuBatch)
        return object.__new__(cls)

    def __init__(
        self,
        game: Game,
        n: int,
        seed: int = 0,
        device: str = "cpu",
        *,
        max_plies: int | None = None,
        threads: int | None = None,
        check: bool = True,
    ) -> None:
        """`check=False` trusts the caller that every action is legal; the rules then do not look."""
        if device != "cpu":
            raise InvalidValue(f"no device {device!r}; known: cpu, cuda")
        self._set(game, n, max_plies, threads, check)
        self.states = np.zeros(n, game.rules.STATE)  # [N]
        self.after = np.zeros(n, game.rules.HEAD)  # [N]
        self.rngs = seeds(seed, n)  # [N]
        self.plies = np.zeros(n, np.int32)  # [N] plies played in each current game
        self.reset()

    def _set(self, game: Game, n: int, max_plies: int | None, threads: int | None, check: bool) -> None:
        """What is the same on every device."""
        if n < 1:
            raise InvalidValue(f"a batch has at least one game, not {n}")
        if max_plies is not None and max_plies < 1:
            raise InvalidValue(f"max_plies is at least 1, not {max_plies}")
        if threads is not None and threads < 1:
            raise InvalidValue(f"a batch runs on at least 1 thread, not {threads}")
        self.game, self.check = game, check
        self.max_plies = max_plies or 2**31 - 1
        self.threads = threads or threading.available()

    def __len__(self) -> int:
        return len(self.states)

    def reset(self) -> None:
        """Begin a new game in every row."""
        kernels = self.game.kernels()
        self._run(lambda part: kernels.reset_all(self.states[part], self.game.blank, self.rngs[part]))
        self.plies[:] = 0
        self.after[:] = self.game.heads(self.states)

    def step(self, actions: ArrayLike) -> Step:
        """Play one action in every row; see `Step` and the class for what comes back."""
        chosen = self._checked(actions)
        n, game, kernels = len(self), self.game, self.game.kernels()
        rewards, terminated, truncated = np.empty(n, np.float32), np.empty(n, np.bool_), np.empty(n, np.bool_)
        state_bytes, after_bytes = _as_bytes(self.states), _as_bytes(self.after)

        def run(rows: slice) -> None:
            kernels.step_all(
                *(self.states[rows], state_bytes[rows], after_bytes[rows], chosen[rows], self.rngs[rows], game.blank),
                *(self.plies[rows], self.max_plies, rewards[rows], terminated[rows], truncated[rows], game.work()),
            )

        self._run(run)
        return Step(rewards, terminated, truncated)

    def legal_mask(
        self, states: NDArray[np.void] | None = None, out: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """[N, A] which actions are legal, in the batch's states or in others."""
        return self.game.legal_mask(self.states if states is None else states, out, self.threads)

    def legal_list(self, states: NDArray[np.void] | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The legal actions [N, MAX_LEGAL], ascending and then -1, and how many there are [N]."""
        rows = self.states if states is None else states
        actions, counts = np.empty((len(rows), self.game.rules.MAX_LEGAL), np.int32), np.empty(len(rows), np.int32)
        kernels = self.game.kernels()
        self._run(
            lambda part: kernels.legal_lists(rows[part], actions[part], counts[part], self.game.work()), len(rows)
        )
        return actions, counts

    def encode(
        self,
        encoder: str,
        states: NDArray[np.void] | None = None,
        *,
        seat: int | None = None,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """[N, *shape] what a network sees of the batch's states or of others, for the seat to act or another one."""
        return self.game.encode(encoder, self.states if states is None else states, seat, out, self.threads)

    def random_actions(self) -> NDArray[np.int32]:
        """[N] one legal action in each row, from the games' own generators."""
        kernels, actions = self.game.kernels(), np.empty(len(self), np.int32)
        self._run(
            lambda part: kernels.random_actions(
                self.states[part], self.rngs[part], actions[part], self.game.work(), self.game.scratch()
            )
        )
        return actions

    def random_play(self, plies: int) -> NDArray[np.int64]:
        """Play `plies` random actions in every row, game after game; [4] how many games ended with each outcome.

        No limit of plies holds meanwhile.
        """
        kernels, ended = self.game.kernels(), list[NDArray[np.int64]]()

        def run(rows: slice) -> None:
            counts = np.zeros(4, np.int64)
            kernels.random_play(
                *(self.states[rows], self.game.blank, self.rngs[rows], self.plies[rows], plies, counts),
                *(self.game.work(), self.game.scratch()),
            )
            ended.append(counts)

        self._run(run)
        self.after[:] = self.game.heads(self.states)
        return np.sum(ended, axis=0)

    def perft(self, depth: int) -> NDArray[np.int64]:
        """[N] how many sequences of exactly `depth` actions can be played from each row."""
        leaves = np.empty(len(self), np.int64)

        def run(rows: slice) -> None:
            leaves[rows] = self.game.perft(self.states[rows], depth)

        self._run(run)
        return leaves

    def position(self, row: int) -> Position:
        """One row as a position to look at: a copy, with the row's own chance."""
        self._check_row(row)
        return Position(self.game, self.states[row : row + 1], rngs=self.rngs[row : row + 1])

    @property
    def to_move(self) -> NDArray[np.int8]:
        """[N] the side that acts in each row."""
        return self.states["to_move"]

    def _check_row(self, row: int) -> None:
        if not 0 <= row < len(self):
            raise InvalidValue(f"a batch of {len(self)} has rows 0 to {len(self) - 1}, not {row}")

    def _run(self, work: Callable[[slice], None], rows: int | None = None) -> None:
        threading.over_slices(work, len(self) if rows is None else rows, self.threads)

    def _checked(self, actions: ArrayLike) -> NDArray[np.int32]:
        """The actions as an array, each of them, unless the caller is trusted, legal in its row."""
        given = self._whole_numbers(actions)
        chosen = np.ascontiguousarray(given, np.int32)
        bad = -1
        if chosen is not given and (chosen != given).any():
            bad = int((chosen != given).argmax())  # too large for 32 bits
        elif self.check:
            bad = self.game.first_illegal(self.states, chosen, self.threads)
        if bad >= 0:
            raise IllegalAction(f"row {bad}: {self.position(bad).refusal(int(given[bad]))}")
        return chosen

    def _whole_numbers(self, actions: ArrayLike) -> NDArray[Any]:
        given = np.asarray(actions)
        if given.shape != (len(self),) or given.dtype.kind not in "iu":
            raise InvalidValue(f"a step takes {len(self)} whole numbers, not {given.dtype} of shape {given.shape}")
        return given


def _as_bytes(records: NDArray[np.void]) -> NDArray[np.uint8]:
    """[N, itemsize] the same memory."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)
