"""A replay memory of states. Encodings and legal moves are computed when a batch is drawn, from each state itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.kernels.cache import load_kernels
from plyground.kernels.replay import TERMINATED, TRUNCATED
from plyground.learners.arrays import OnCpu

Records = NDArray[np.void]
SMALLEST_PRIORITY = 1e-3  # so that nothing is forgotten


@dataclass(frozen=True)
class Sample:
    """A batch to learn from."""

    picked: NDArray[np.int64]  # [B] which plies
    states: Records  # [B]
    actions: NDArray[np.int32]  # [B]
    returns: NDArray[np.float32]  # [B] what came of the ply, up to the position behind
    factors: NDArray[np.float32]  # [B] times the value of the position behind; 0 where the game is over
    behind: Records  # [B]
    weights: NDArray[np.float32]  # [B] of each in the loss


class Came(NamedTuple):
    """What came of plies [B]; see `kernels/replay.py`."""

    returns: NDArray[np.float32]  # up to the position behind
    factors: NDArray[np.float32]  # times the value of the position behind; 0 where the game is over
    behind: NDArray[np.int64]  # which ply led to the position behind
    whole: NDArray[np.float32]  # 0 where that has not come yet, else 1


class Memory:
    """The newest plies of games that are played side by side: a ring of rows, one ply of each game in a row."""

    def __init__(
        self, game: Game, plies: int, games: int, seed: int, prioritised: bool = False, on: OnCpu | None = None
    ) -> None:
        rows = plies // games
        if rows < 2:
            raise InvalidValue(
                f"a memory of {plies} plies is too small for {games} games at once: at least {2 * games}"
            )
        shape, head = (rows, games), game.rules.HEAD
        self.game, self.time, self.on = game, 0, on or OnCpu(game, np.random.default_rng(seed))
        zeros = self.on.zeros
        self.states, self.after = zeros(shape, head), zeros(shape, head)
        self.actions, self.rewards = zeros(shape, np.int32), zeros(shape, np.float32)
        self.sides, self.next_sides, self.ended = (zeros(shape, np.int8) for _ in range(3))
        self.explored, self.usable, self.good = (zeros(shape, np.bool_) for _ in range(3))
        self.rng = seeds(seed, 1)  # [1]
        self.tree = zeros((2 * (1 << (rows * games - 1).bit_length()) if prioritised else 0,), np.float64)
        self.highest: Any = 1.0
        self.kernels = self._load_kernels()

    def _load_kernels(self) -> Any:
        return load_kernels("replay", {}, "memory")

    def __len__(self) -> int:
        """Plies stored."""
        return self.filled * self.states.shape[1]

    @property
    def filled(self) -> int:
        return min(self.time, len(self.states))

    @property
    def newest(self) -> int:
        return (self.time - 1) % len(self.states)

    @property
    def room(self) -> int:
        """Plies that can be stored."""
        return self.states.shape[0] * self.states.shape[1]

    def newest_rows(self, rows: int) -> tuple[NDArray[Any], ...]:
        """States (or their bytes), actions, rewards and ends of the newest rows."""
        chosen = [(self.newest - back) % len(self.states) for back in range(rows)]
        return tuple(self.on.numpy(each[chosen]) for each in (self.states, self.actions, self.rewards, self.ended))

    def add(
        self,
        states: Records,  # [games], like all that follow
        actions: NDArray[np.int32],
        rewards: NDArray[np.float32],
        after: Records,
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        explored: NDArray[np.bool_],
        usable: NDArray[np.bool_],
    ) -> None:
        """Store one ply of each game."""
        row = self.time % len(self.states)
        self.states[row], self.after[row], self.actions[row], self.rewards[row] = states, after, actions, rewards
        self.sides[row], self.next_sides[row] = self.on.field(states, "to_move"), self.on.field(after, "to_move")
        self.ended[row] = terminated * TERMINATED + truncated * TRUNCATED  # a game that runs on has 0
        self.explored[row], self.usable[row], self.good[row] = explored, usable, False
        self.time += 1
        if len(self.tree):
            games = len(states)
            self._set_priorities(row * games, (row + 1) * games, self.on.where(usable, self.highest, 0.0))

    def _set_priorities(self, first: int, stop: int, priorities: Any) -> None:
        self.kernels.set_priorities(self.tree, np.arange(first, stop), priorities)

    def end_games(self, decided: NDArray[np.bool_], lengths: NDArray[np.int32]) -> None:
        """Mark the plies of games [games] that have just been decided."""
        games = np.flatnonzero(decided)
        self.mark_good(games, lengths[games])

    def mark_good(self, games: NDArray[np.int64], lengths: NDArray[np.int32]) -> None:
        """Mark the plies of games that have just ended."""
        self.kernels.mark_good(self.good, self.newest, games, lengths)

    def draw(
        self,
        n: int,
        plies: int = 1,
        own_turns: bool = False,
        discount: float = 0.99,
        penalty: float = 0.0,
        shares: tuple[float, float] = (0.0, 0.0),
        recent: int = 1,
        correction: float = 0.4,
    ) -> Sample:
        """`n` plies with what came of them; see `kernels/replay.py`.

        `shares`: how much comes from decided games and from the `recent` newest rows; `correction`: how far the weights
        undo what priorities distort, 0 to 1.
        """
        picked, weights = self._pick(n, shares, recent, correction)
        came = self.follow(picked, plies, own_turns, discount, penalty)
        return Sample(
            *(picked, self.of(self.states, picked), self.of(self.actions, picked), came.returns, came.factors),
            *(self.of(self.after, came.behind), weights * came.whole),
        )

    def _pick(self, n: int, shares: tuple[float, float], recent: int, correction: float) -> tuple[Any, Any]:
        """[n] plies, and their weights [n]."""
        picked, weights = np.empty(n, np.int64), np.ones(n, np.float32)
        if len(self.tree):
            chances = np.empty(n)
            self.kernels.draw_prioritised(self.rng, self.tree, picked, chances)
            weights = (len(self) * chances) ** -correction
            return picked, (weights / weights.max()).astype(np.float32)
        rest = self.newest, self.filled, recent, *shares, self.usable, self.good, picked
        self.kernels.draw_uniform(self.rng, *rest)
        return picked, weights

    def of(self, values: Any, picked: Any) -> Any:
        """[n] what belongs to plies [n]."""
        return values.reshape(-1)[picked]

    def follow(self, picked: Any, plies: int, own_turns: bool, discount: float, penalty: float = 0.0) -> Came:
        """What came of some plies."""
        n = len(picked)
        came = Came(np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.int64), np.empty(n, np.float32))
        self.kernels.follow_all(
            *(picked, self.newest, self.sides, self.next_sides, self.rewards, self.ended, self.explored),
            *(plies, own_turns, discount, penalty, *came),
        )
        return came

    def update(self, picked: NDArray[np.int64], errors: NDArray[np.float32], exponent: float) -> None:
        """New priorities for plies that were learned from."""
        priorities = (np.abs(errors).astype(np.float64) + SMALLEST_PRIORITY) ** exponent
        self.highest = max(self.highest, float(priorities.max()))
        self.kernels.set_priorities(self.tree, picked, priorities)

    # ---- to disk and back ----

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays of plain numbers; only the rows in use."""
        found: dict[str, NDArray[Any]] = {}
        for name in ("states", "after", "actions", "rewards", "sides", "next_sides", "ended", *BOOLS):
            values = np.ascontiguousarray(self.on.numpy(getattr(self, name)[: self.filled]))
            if values.dtype.names:
                values = values.view(np.uint8)
            found[name] = values.reshape(len(values), math.prod(values.shape[1:]))  # rows of bytes end to end
        numbers = np.array([self.time, float(self.highest)], np.float64)
        return found | {"rng": self.rng, "tree": self.on.numpy(self.tree), "numbers": numbers}

    def restore(self, found: dict[str, NDArray[Any]]) -> None:
        """Become what `arrays` gave."""
        time, self.highest = int(found["numbers"][0]), float(found["numbers"][1])
        self.time = time
        for name in ("states", "after", "actions", "rewards", "sides", "next_sides", "ended", *BOOLS):
            own, values = getattr(self, name), self.on.stored(found[name], getattr(self, name))
            if values.shape != (self.filled, *own.shape[1:]) or values.dtype != own.dtype:
                raise InvalidValue(f"the memory's {name} is {values.dtype} of shape {values.shape}, not of this run")
            own[: self.filled] = values
        if found["tree"].shape != tuple(self.tree.shape):
            raise InvalidValue("the memory's priorities are of another size")
        self.rng[:], self.tree[:] = found["rng"], self.on.from_numpy(found["tree"])


BOOLS = ("explored", "usable", "good")
