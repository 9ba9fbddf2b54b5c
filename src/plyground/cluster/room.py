"""Room on a cluster: what a run asks for, what there is, and one sentence where that is too little.

Ray itself lets a process that finds no room wait for ever, and says nothing. Its counts of free CPUs may be late, so a
run counts nothing: it reserves what it needs to begin, as one of Ray's placement groups, which each node confirms.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from plyground.cluster.connect import Cluster, NoCluster
from plyground.cluster.players import CPUS
from plyground.errors import counted

LOG = logging.getLogger("plyground")
PATIENCE, NOTICE, POLL = 120.0, 5.0, 1  # seconds to wait for room, until a wait is said, and between two looks
SLACK = 1e-3  # of a GPU: shares are rounded


@dataclass(frozen=True)
class Room:
    """The processes that a run asks for; the learner itself, the command, takes no room."""

    actors: int
    actor_gpus: float
    """the share of a GPU that each actor takes; each takes CPUS too"""
    helpers: int
    """further learner processes"""
    helper: Mapping[str, int]
    """the `CPU`s and `GPU`s that each of those takes"""

    def needs(self, actors: int) -> dict[str, float]:
        """What so many actors take, with all further learner processes."""
        each = {"CPU": CPUS, "GPU": self.actor_gpus}
        return {name: actors * each[name] + self.helpers * self.helper.get(name, 0) for name in each}

    def __str__(self) -> str:
        helpers = f" and {counted(self.helpers, 'further learner process')}" if self.helpers else ""
        return f"{counted(self.actors, 'actor')}{helpers} {'take' if self.actors + self.helpers > 1 else 'takes'}"

    def check(self, cluster: Cluster) -> None:
        """Refuse what a cluster cannot give, even if nobody else used it."""
        for name, count in self.needs(self.actors).items():
            there = cluster.resource(name)
            if count > there + SLACK:
                advice = "take fewer (--actors, --learners) or a larger cluster"
                raise NoCluster(f"{self} {_amount(count, name)}, and the cluster has {there}: {advice}")

    @contextmanager
    def reserved(self, cluster: Cluster) -> Generator[list[Any]]:
        """Room for each further learner process and, at last, for the first actor, as Ray's scheduling strategies; the
        other actors may come later. Waits until there is room for all of these."""
        util, actor = cluster.ray.util, {"CPU": CPUS, "GPU": self.actor_gpus}
        processes: list[Mapping[str, float]] = [*self.helpers * [self.helper], actor]
        group = util.placement_group([{name: count for name, count in each.items() if count} for each in processes])
        try:
            for _ in waiting(PATIENCE, lambda: self._shortage(cluster)):
                if group.wait(POLL):
                    break
            strategy = util.scheduling_strategies.PlacementGroupSchedulingStrategy
            yield [strategy(group, place) for place in range(len(processes))]
        finally:
            util.remove_placement_group(group)

    def _shortage(self, cluster: Cluster) -> str:
        """What is asked for, and what Ray counts as free."""
        needs, free = self.needs(1), cluster.ray.available_resources()
        asked = {name: _amount(count, name) for name, count in needs.items() if count}
        counts = [f"{free.get(name, 0.0):g} of {counted(cluster.resource(name), name)}" for name in asked]
        why = f"{self} at least {' and '.join(asked.values())} to begin, and the cluster has no room until others end"
        return f"{why} (free: {', '.join(counts)})"


def waiting(limit: float, why: Callable[[], str]) -> Iterator[None]:
    """Rounds of a wait: after NOTICE seconds it is said, with its reason; after `limit` seconds that is an error."""
    begun, said = time.monotonic(), False
    while (waited := time.monotonic() - begun) < limit:
        if waited > NOTICE and not said:
            LOG.info("waiting up to %g seconds: %s ...", limit, why())
            said = True
        yield
    raise NoCluster(f"given up after {limit:g} seconds: {why()}")


def _amount(count: float, name: str) -> str:
    return counted(int(count), name) if count == int(count) else f"{count:g} {name}s"
