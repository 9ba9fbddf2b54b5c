"""The replay buffer stores states. Observations and legal masks are computed when a minibatch is sampled, from each
state itself, so that the masks of next states are exact."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.clock import timed
from plyground.backend.games import on_device, run_kernel
from plyground.backend.priorities import PriorityTree
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.rng import STEP, seeds
from plyground.kernels.arrays import NStepReturns, Plies, SampleShares
from plyground.kernels.replay import TERMINATED, TRUNCATED
from plyground.learners.selfplay import Transition

SIGNED_STEP = int(STEP.view(np.int64))  # of the generator; torch computes with signed numbers
MIN_PRIORITY = 1e-3  # added to every error, so that no ply is never sampled


class Sample(NamedTuple):
    """A minibatch."""

    indices: Tensor  # [B] row * num_envs + environment
    states: Tensor  # [B, bytes]
    actions: Tensor  # [B] int32
    returns: Tensor  # [B]
    bootstrap_discounts: Tensor  # [B]
    next_states: Tensor  # [B, bytes]
    weights: Tensor  # [B] of each ply in the loss


class ReplayBuffer:
    """The newest plies of all environments: a ring of rows, one ply of each environment in a row."""

    def __init__(
        self, game: Game, device: str, size: int, num_envs: int, seed: int = 0, prioritized: bool = False
    ) -> None:
        rows = size // num_envs
        if rows < 2:
            least = 2 * num_envs
            raise InvalidValue(f"a buffer of {size} plies is too small for {num_envs} environments: at least {least}")
        games, shape, head = on_device(game, device), (rows, num_envs), game.rules.HEAD
        self.game, self.games = game, games
        self.states, self.next_states = games.zeros(shape, head), games.zeros(shape, head)  # [rows, envs, bytes]
        self.actions = games.zeros(shape, np.int32)
        self.plies = Plies(
            sides=games.zeros(shape, np.int8),
            next_sides=games.zeros(shape, np.int8),
            rewards=games.zeros(shape, np.float32),
            ended=games.zeros(shape, np.int8),
            explored=games.zeros(shape, np.bool_),
        )
        self.usable, self.decided = games.zeros(shape, np.bool_), games.zeros(shape, np.bool_)
        first = torch.tensor([0, int(seeds(seed, 1).view(np.int64)[0])])
        self.cursor = first.to(games.device)  # [2] how many rows were written so far, and the generator
        self._time = 0  # the same number of rows, for Python
        self.tree = PriorityTree(rows * num_envs, device) if prioritized else None
        self.max_priority = torch.ones((), dtype=torch.float64, device=games.device)  # of a ply not sampled yet

    def __len__(self) -> int:
        """Plies stored."""
        return self.filled * self.num_envs

    @property
    def num_envs(self) -> int:
        return self.states.shape[1]

    @property
    def capacity(self) -> int:
        """Plies that can be stored."""
        return self.states.shape[0] * self.num_envs

    @property
    def time(self) -> int:
        """How many rows were written so far."""
        return self._time

    @time.setter
    def time(self, rows: int) -> None:
        self._time = rows
        self.cursor[0] = rows

    @property
    def filled(self) -> int:
        """Rows in use."""
        return min(self.time, len(self.states))

    @property
    def newest(self) -> int:
        """The row that was written last."""
        return (self.time - 1) % len(self.states)

    # ---- writing ----

    def add(self, ply: Transition, usable: Tensor, explored: Tensor | None = None) -> None:
        """Store one ply of each environment. Only `usable` [N] plies are sampled; n-step returns do not continue
        through plies that `explored` [N], since they say nothing about best play."""
        self.write(ply, usable, explored)
        self.count_row()

    @timed("replay")
    def write(self, ply: Transition, usable: Tensor, explored: Tensor | None = None) -> None:
        """`add` on the device alone, for graphs: whoever runs one calls `count_row` each time."""
        games, none = self.games, torch.zeros_like(usable)
        row = {
            "states": ply.states,
            "next_states": ply.next_states,
            "actions": ply.actions,
            "sides": games.field(ply.states, "to_move"),
            "next_sides": games.field(ply.next_states, "to_move"),
            "rewards": ply.rewards,
            "ended": ply.terminated * TERMINATED + ply.truncated * TRUNCATED,  # 0: the game continues
            "explored": none if explored is None else explored,
            "usable": usable,
            "decided": none,
        }
        self.write_row(row)

    def write_row(self, row: Mapping[str, Tensor]) -> None:
        """Write the row that comes next: a value [N, ...] for each ring, by name."""
        for name, ring in self.rings().items():
            self.put(ring, row[name])
        if self.tree is not None:
            indices = torch.arange(self.num_envs, device=self.games.device) + self._row() * self.num_envs
            self.tree.set(indices, self.max_priority * row["usable"])
        self.cursor[0] += 1

    def put(self, ring: Tensor, values: Tensor) -> None:
        """Write values [N, ...] into the row of `ring` [rows, N, ...] that comes next."""
        ring.index_copy_(0, self._row(), values.to(ring.dtype)[None])

    def _row(self) -> Tensor:
        """[1] the row that is written next."""
        return self.cursor[:1] % len(self.states)

    def count_row(self) -> None:
        """One more row was written."""
        self._time += 1

    @timed("replay")
    def mark_ended(self, ply: Transition) -> None:
        """Learn from all plies of the games that have just ended."""
        self._mark_games(self.usable, ply.terminated | ply.truncated, ply.lengths, True)

    @timed("replay")
    def mark_decided(self, ply: Transition) -> None:
        """Mark all plies of the games that have just been won: the high-quality part of the buffer."""
        won = ply.terminated & (self.games.field(ply.next_states, "outcome") > 1)  # [N]
        self._mark_games(self.decided, won, ply.lengths, True)

    @timed("replay")
    def drop_undecided(self, ply: Transition, chosen: Tensor) -> None:
        """Learn no longer from games that have just ended without a winner, where `chosen` [N]."""
        won = ply.terminated & (self.games.field(ply.next_states, "outcome") > 1)  # [N]
        self._mark_games(self.usable, (ply.terminated | ply.truncated) & ~won & chosen, ply.lengths, False)

    def _mark_games(self, marks: Tensor, over: Tensor, lengths: Tensor, value: bool) -> None:
        """Set the marks [rows, envs] of all plies of the games `over` [N] that have just ended."""
        run_kernel(self.games.name, "replay", "mark_games", len(over), marks, self.place(), over, lengths, value)

    # ---- sampling ----

    @timed("replay")
    def sample(
        self,
        batch_size: int,
        n_step: int = 1,
        *,
        own_turn: bool = False,
        gamma: float = 0.99,
        truncation_penalty: float = 0.0,
        decided_share: float = 0.0,
        recent_share: float = 0.0,
        recent_rows: int = 1,
        beta: float = 0.4,
    ) -> Sample:
        """Plies with their n-step returns. `decided_share` comes from decided games, `recent_share` from the newest
        rows; `beta` is the exponent of the importance-sampling weights of prioritized replay."""
        if self.tree is not None:
            indices, probabilities = self.tree.sample(batch_size, self._next_seed())
            weights = (len(self) * probabilities) ** -beta
            weights = (weights / weights.max()).float()
        else:
            indices = self.draw(batch_size, decided_share, recent_share, recent_rows)
            weights = torch.ones(batch_size, device=self.games.device)
        found = self.n_step_returns(indices, n_step, own_turn, gamma, truncation_penalty)
        return Sample(
            indices,
            self.at(self.states, indices),
            self.at(self.actions, indices),
            found.returns,
            found.bootstrap_discount,
            self.at(self.next_states, found.next_indices),
            weights * found.complete * self.at(self.usable, indices),
        )

    def draw(
        self, batch_size: int, decided_share: float = 0.0, recent_share: float = 0.0, recent_rows: int = 1
    ) -> Tensor:
        """[B] indices of usable plies, all equally likely within the parts of the buffer that the shares choose."""
        indices = torch.empty(batch_size, dtype=torch.int64, device=self.games.device)
        shares = SampleShares(float(decided_share), float(recent_share), recent_rows)
        given = self._next_seed(), shares, self.usable, self.decided, indices
        run_kernel(self.games.name, "replay", "sample_uniform", batch_size, *given)
        return indices

    def n_step_returns(
        self, indices: Tensor, n_step: int, own_turn: bool, gamma: float, truncation_penalty: float = 0.0
    ) -> NStepReturns:
        """See `n_step_return` in `kernels/replay.py`."""
        n, device = len(indices), self.games.device
        returns, discounts, complete = (torch.empty(n, device=device) for _ in range(3))
        found = NStepReturns(returns, discounts, torch.empty_like(indices), complete)
        how = n_step, own_turn, gamma, truncation_penalty, found
        run_kernel(self.games.name, "replay", "n_step_returns", n, indices, self.place(), self.plies, *how)
        return found

    def lambda_returns(self, indices: Tensor, values: Tensor, gamma: float, td_lambda: float) -> Tensor:
        """[B] from the values [rows, envs] of all plies; see `lambda_return` in `kernels/replay.py`."""
        found = torch.empty(len(indices), device=self.games.device)
        how = self.place(), self.plies, values, gamma, td_lambda, found
        run_kernel(self.games.name, "replay", "lambda_returns", len(indices), indices, *how)
        return found

    def at(self, values: Tensor, indices: Tensor) -> Tensor:
        """[B, ...] the values of plies [B]."""
        return values.flatten(0, 1)[indices]

    def update_priorities(self, indices: Tensor, td_errors: Tensor, alpha: float) -> None:
        """New priorities of plies [B], from their TD errors [B]."""
        assert self.tree is not None
        priorities = (td_errors.abs().double() + MIN_PRIORITY) ** alpha
        torch.maximum(self.max_priority, priorities.max(), out=self.max_priority)  # no synchronisation
        self.tree.set(indices, priorities)

    def place(self) -> Tensor:
        """The cursor as kernels read it: [2] uint64."""
        return self.cursor.view(torch.uint64)

    def _next_seed(self) -> Tensor:
        """The cursor with another seed."""
        self.cursor[1] += SIGNED_STEP
        return self.place()

    # ---- for statistics and checkpoints ----

    def newest_rows(self, rows: int) -> tuple[NDArray[Any], ...]:
        """States (as records), actions, rewards and ends of the newest rows, as numpy arrays [rows, envs]."""
        chosen = [(self.newest - back) % len(self.states) for back in range(rows)]
        states = self.games.to_records(self.states[chosen].flatten(0, 1)).reshape(rows, self.num_envs)
        others = (self.actions, self.plies.rewards, self.plies.ended)
        return states, *(each[chosen].cpu().numpy() for each in others)

    def rings(self) -> dict[str, Tensor]:
        own = {name: getattr(self, name) for name in ("states", "next_states", "actions", "usable", "decided")}
        return own | self.plies._asdict()

    def state(self) -> dict[str, Any]:
        """Only the rows in use."""
        rows = {name: ring[: self.filled].flatten(1) for name, ring in self.rings().items()}
        tree = {} if self.tree is None else {"tree": self.tree.tree, "max_priority": self.max_priority}
        return {**rows, "rng": self.place()[1:], "time": self.time, **tree}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.time = state["time"]
        for name, ring in self.rings().items():
            values = torch.from_numpy(state[name].copy())
            if tuple(values.shape) != tuple(ring[: self.filled].flatten(1).shape) or values.dtype != ring.dtype:
                shape = tuple(values.shape)
                raise InvalidValue(f"the replay buffer's {name} is {values.dtype} of shape {shape}, not of this run")
            ring[: self.filled] = values.reshape(self.filled, *ring.shape[1:]).to(ring.device)
        if not ((self.actions >= 0) & (self.actions < self.game.num_actions)).all():
            raise InvalidValue(f"the replay buffer holds actions that {self.game} does not have")
        self.cursor[1:] = torch.from_numpy(state["rng"].view(np.int64).copy())
        if self.tree is not None:
            self.tree.tree.copy_(torch.from_numpy(state["tree"].copy()))
            self.max_priority.copy_(torch.from_numpy(state["max_priority"].reshape(()).copy()))
