"""A learner's games, memory and clock on the GPU: what `selfplay.py`, `memory.py` and `clock.py` do, without a copy for
each step."""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import functools
from collections import deque
from typing import Any

import numpy as np
import torch
from torch import Tensor

from plyground.agents.agent import Agent
from plyground.agents.network import NetworkAgent, View
from plyground.agents.simple import Random, ScriptedAgent
from plyground.backend.batch import GpuBatch
from plyground.backend.device import CUDA, SIMULATED, array, launch
from plyground.errors import IllegalAction
from plyground.games.interface import Function
from plyground.games.rng import STEP, scatter
from plyground.kernels.cache import load_kernels
from plyground.learners.arrays import OnCpu
from plyground.learners.clock import Clock
from plyground.learners.memory import SMALLEST_PRIORITY, Came, Memory
from plyground.learners.selfplay import SelfPlay


class GpuMemory(Memory):
    """A memory whose arrays are tensors, and states rows of bytes."""

    def _load_kernels(self) -> Any:
        return load_kernels("cuda_replay", {}, "memory")

    def end_games(self, decided: Any, lengths: Any) -> None:
        arrays = array(self.good), self.newest, array(decided), array(lengths)
        launch(self.kernels.mark_good, len(decided), *arrays)

    def _pick(self, n: int, shares: tuple[float, float], recent: int, correction: float) -> tuple[Tensor, Tensor]:
        picked, weights = torch.empty(n, dtype=torch.int64, device=CUDA), torch.ones(n, device=CUDA)
        with np.errstate(over="ignore"):
            self.rng += STEP
            seed = scatter(self.rng[0])
        if len(self.tree):
            chances = torch.empty(n, dtype=torch.float64, device=CUDA)
            launch(self.kernels.draw_prioritised, n, seed, array(self.tree), array(picked), array(chances))
            weights = (len(self) * chances) ** -correction
            return picked, (weights / weights.max()).float()
        arrays = array(self.usable), array(self.good), array(picked)
        launch(self.kernels.draw_uniform, n, seed, self.newest, self.filled, recent, *map(float, shares), *arrays)
        return picked, weights

    def follow(self, picked: Any, plies: int, own_turns: bool, discount: float, penalty: float = 0.0) -> Any:
        n = len(picked)
        returns, factors, whole = (torch.empty(n, device=CUDA) for _ in range(3))
        came: Any = Came(returns, factors, torch.empty_like(picked), whole)  # pyright: ignore[reportArgumentType]
        stored = self.sides, self.next_sides, self.rewards, self.ended, self.explored
        how = plies, own_turns, discount, penalty
        launch(self.kernels.follow_all, n, array(picked), self.newest, *map(array, stored), *how, *map(array, came))
        return came

    def of(self, values: Tensor, picked: Tensor) -> Tensor:
        return values.flatten(0, 1)[picked]

    def _set_priorities(self, first: int, stop: int, priorities: Tensor) -> None:
        leaves = len(self.tree) // 2
        self.tree[leaves + first : leaves + stop] = priorities
        self._add_up()

    def update(self, picked: Any, errors: Any, exponent: float) -> None:
        priorities = (errors.abs().double() + SMALLEST_PRIORITY) ** exponent
        self.highest = torch.clamp(priorities.max(), min=self.highest)  # stays on the GPU
        leaves = self.tree[len(self.tree) // 2 :]
        leaves.scatter_reduce_(0, picked, priorities, "amax", include_self=False)  # a ply may have been picked twice
        self._add_up()

    def _add_up(self) -> None:
        """All sums anew, level by level: on a GPU simpler and faster than along the paths that changed."""
        level = len(self.tree) // 2
        while level > 1:
            self.tree[level // 2 : level] = self.tree[level : 2 * level].view(-1, 2).sum(1)
            level //= 2


class GpuSelfPlay(SelfPlay):
    """The games on the GPU, where networks, policies and the random mover play too. Other agents are asked on the CPU,
    which costs a copy of their states."""

    batch: GpuBatch

    def __init__(self, on: OnCpu, n: int, seed: int, **options: Any) -> None:
        super().__init__(on, n, seed, **options)
        self.agents = {word: _moved(agent) for word, agent in self.agents.items()}

    def _make_batch(self, n: int, seed: int, max_plies: int | None) -> Any:
        batch = GpuBatch(self.game, n, seed, max_plies=max_plies, check=False)  # `check` looks later
        self.shares = torch.tensor(self.chances, dtype=torch.float32, device=CUDA)
        return batch

    def begin(self, rows: Any) -> None:
        self.renew(torch.ones(len(self.batch), dtype=torch.bool, device=CUDA))

    def renew(self, over: Any) -> None:
        n, on = len(over), self.on
        if self.opening_plies:
            self.batch.open_games(over, on.integers(self.opening_plies + 1, n))
        if self.words != ["self"]:
            drawn = torch.bucketize(on.random(n), self.shares.cumsum(0)[:-1])
            for kept, new in (
                (self.opponent, drawn),
                (self.earlier, on.integers(max(1, self.most_snapshots), n)),
                (self.side, on.integers(2, n)),
            ):
                kept.copy_(torch.where(over, new.to(kept.dtype), kept))

    def _ask(self, agent: Agent, turn: Tensor, actions: Tensor) -> None:
        games: Any = self.batch
        if isinstance(agent, NetworkAgent) and agent.view.uses_gpu:
            # in all games: to count those where it is its turn would mean to wait
            numbers = self.on.random(len(games))
            actions.copy_(torch.where(turn, agent.choose(games.states, numbers), actions))
            return
        if isinstance(agent, Random):
            actions.copy_(torch.where(turn, games.random_actions(), actions))
            return
        if isinstance(agent, ScriptedAgent):
            kernel = _policy_kernel(agent.choose, f"{self.game.label} {agent}")
            arrays = games.gpu.records(games.states), array(turn), array(games.rngs), array(actions)
            games.gpu.launch(kernel, len(games), *arrays)
            return
        rows = turn.nonzero()[:, 0]
        if len(rows):
            own = games.rngs.view(torch.int64)  # torch hardly knows uint64
            rngs = own[rows].cpu().numpy().view(np.uint64)
            chosen = agent.act(games.gpu.to_cpu(games.states[rows]), rngs)
            actions[rows] = torch.from_numpy(chosen).to(CUDA)
            own[rows] = torch.from_numpy(rngs.view(np.int64)).to(CUDA)

    def step(self, actions: Tensor) -> Any:
        self.played = actions
        self.illegal = self.batch.gpu.find_illegal(self.batch.states, actions)
        return self.batch.step(actions)

    def check(self) -> None:
        row = int(self.illegal.item())
        if row < len(self.batch):
            raise IllegalAction(f"row {row}: {int(self.played[row])} is not legal")

    def _own(self) -> dict[str, Tensor]:
        games = self.batch
        found = {"states": games.states, "rngs": games.rngs, "plies": games.plies}
        return found | {"opponent": self.opponent, "earlier": self.earlier, "side": self.side}

    def arrays(self) -> dict[str, Any]:
        return {name: values.cpu().numpy() for name, values in self._own().items()}

    def restore(self, found: dict[str, Any]) -> None:
        for name, values in self._own().items():
            values.copy_(torch.from_numpy(found[name].copy()).reshape(values.shape))


@functools.cache
def _policy_kernel(choose: Function, subject: str) -> Any:
    return load_kernels("cuda_choose", {"choose": choose}, subject).choose_all


def _moved(agent: Agent) -> Agent:
    """A network and its view, moved to the GPU; other agents as they are."""
    if not isinstance(agent, NetworkAgent):
        return agent
    seen = agent.view
    return NetworkAgent(View(seen.game, str(seen.encoder), seen.outputs, "cuda"), agent.network.to(CUDA))


class GpuClock(Clock):
    """Seconds of the GPU, not of whoever tells it what to do: events between kernels, read when they have passed."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: deque[tuple[str, torch.cuda.Event]] = deque()
        self.before: torch.cuda.Event | None = None

    def start(self) -> None:
        self.lap("")

    def lap(self, part: str) -> None:
        if SIMULATED:
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self.passed.append((part, event))
        while self.passed and self.passed[0][1].query():
            name, now = self.passed.popleft()
            if self.before is not None and name:
                self.seconds[name] = self.seconds.get(name, 0.0) + self.before.elapsed_time(now) / 1000
            self.before = now
