"""What learners share that remember plies: what they say about them, and how they go to disk and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.replay import TERMINATED
from plyground.learners.arrays import OnGpu
from plyground.learners.experience import quality, statistics
from plyground.learners.learner import Groups, Learner
from plyground.learners.memory import Memory
from plyground.learners.network_learner import NetworkLearner, NetworkSettings
from plyground.learners.on_the_gpu import GpuMemory
from plyground.runs.directory import Checkpoint

N = TypeVar("N", bound=NetworkSettings)


class MemoryLearner(NetworkLearner[N]):
    """A learner with a network and a memory of plies."""

    counts = (*Learner.counts, "cycle_began")

    def __init__(self, config: N, plies: int, prioritised: bool = False) -> None:
        super().__init__(config)
        kind = GpuMemory if isinstance(self.on, OnGpu) else Memory
        self.memory: Memory = kind(self.game, plies, config.concurrency, config.seed, prioritised, self.on)
        self.cycle_began = 0  # the memory's time then

    # ---- what was experienced ----

    def cycle_numbers(self) -> dict[str, Any]:
        found = statistics(self.memory, self.memory.time - self.cycle_began)
        ended = self.tally.record()
        self.cycle_began = self.memory.time
        decided = ended["first_wins"] + ended["second_wins"]
        numbers = {**found, "quality": quality(found, decided), "memory": len(self.memory)}
        return super().cycle_numbers() | numbers

    def experience(self) -> dict[str, Any]:
        memory = self.memory
        if not memory.filled:
            return {}
        found, (states, actions, rewards, ended) = statistics(memory, memory.filled), memory.newest_rows(memory.filled)
        results = np.abs(rewards[ended == TERMINATED])
        decided = float((results > 0.5).mean()) if len(results) else 0.0
        values, counts = np.unique(actions, return_counts=True)
        names = {k: self._name(int(values[k]), states, actions) for k in np.argsort(-counts)[:10]}
        common = [f"{name} ({counts[k] / rewards.size:.1%})" for k, name in names.items()]
        return {
            "plies_stored": f"{len(memory):,} of {memory.room:,}",
            **found,
            "decided": decided,
            "quality": quality(found, decided),
            "commonest_actions": ", ".join(common),
        }

    def _name(self, action: int, states: NDArray[np.void], actions: NDArray[np.int32]) -> str:
        """What an action is called, or its number where that is not the same in all positions it was played in."""
        heads = np.ascontiguousarray(states).reshape(-1).view(self.game.rules.HEAD)  # from a GPU they come as bytes
        played = heads[actions.reshape(-1) == action]
        names = {self.game.rules.action_name(state, action) for state in played[:: max(1, len(played) // 20)]}
        return names.pop() if len(names) == 1 else f"action {action}"

    def memory_words(self) -> str:
        return f"memory {len(self.memory)}"

    # ---- to disk and back ----

    def groups(self) -> Groups:
        found = super().groups()
        found["memory"] |= self.memory.arrays()
        return found

    def take(self, checkpoint: Checkpoint, state: Mapping[str, Any]) -> None:
        super().take(checkpoint, state)
        self.memory.restore(checkpoint.tensors("memory"))
