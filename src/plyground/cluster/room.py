"""Room on a cluster: what a run asks for, what there is, and one sentence where that is too little.

Ray itself lets a process that finds no room wait for ever, and says nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from plyground.cluster.connect import Cluster, NoCluster
from plyground.cluster.players import CPUS
from plyground.errors import counted

LOG = logging.getLogger("plyground")
PATIENCE, NOTICE, POLL = 120.0, 3.0, 0.2  # seconds to wait for room, until that is said, and between two looks
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

    def wait(self, cluster: Cluster) -> None:
        """Until there is room for all further learner processes and the first actor; the other actors may come
        later."""
        begun, said = time.monotonic(), False
        while short := self._shortage(cluster):
            if time.monotonic() - begun > PATIENCE:
                raise NoCluster(f"{short}: try again when others have ended")
            if time.monotonic() - begun > NOTICE and not said:
                LOG.info("%s: waiting up to %.0f seconds for it ...", short, PATIENCE)
                said = True
            time.sleep(POLL)

    def _shortage(self, cluster: Cluster) -> str:
        """What is not free at the moment; empty where there is room."""
        free = cluster.ray.available_resources()
        for name, count in self.needs(1).items():
            there = free.get(name, 0.0)
            if count > there + SLACK:
                first = f"{self} at least {_amount(count, f'free {name}')} to begin"
                return f"{first}, and {there:g} of the cluster's {cluster.resource(name)} are free"
        return ""


def _amount(count: float, name: str) -> str:
    return counted(int(count), name) if count == int(count) else f"{count:g} {name}s"
