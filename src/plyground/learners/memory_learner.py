"""What learners share that remember plies: what they say about them, and how they go to disk and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

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
        found, (_, actions, rewards, ended) = statistics(memory, memory.filled), memory.newest_rows(memory.filled)
        results = np.abs(rewards[ended == TERMINATED])
        decided = float((results > 0.5).mean()) if len(results) else 0.0
        values, counts = np.unique(actions, return_counts=True)
        common = [f"{values[k]} ({counts[k] / rewards.size:.1%})" for k in np.argsort(-counts)[:10]]
        return {
            "plies_stored": f"{len(memory):,} of {memory.room:,}",
            **found,
            "decided": decided,
            "quality": quality(found, decided),
            "commonest_actions": ", ".join(common),
        }

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
