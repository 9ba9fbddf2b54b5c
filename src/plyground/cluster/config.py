"""The settings of a run on a cluster. They are kept in the run's config.toml, in a table `cluster`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from plyground.errors import InvalidValue
from plyground.runs.settings import build

LEARNERS = ("alphazero", "ppo")  # that can be spread over a cluster
STREAMS_PER_ACTOR = 2  # one that is played, one that the learner learns from
STALENESS_PER_STREAM = 4


@dataclass(frozen=True)
class ClusterConfig:
    """Where the games of a run are played."""

    on: str = ""
    """play on a Ray cluster: ray (one on this machine, which ends with the run), ray://HOST:PORT, or an address file"""
    actors: int = 0
    """processes that play (0: one for each CPU of the cluster but one)"""
    streams: int = 0
    """sets of num_envs games, each played block by block: bounds the blocks in flight (0: two for each actor)"""
    block_rows: int = 32
    """plies of each environment in a block of alphazero; in ppo it is rollout_length"""
    max_staleness: int = 0
    """versions of the network that may be published until a block is learned from (0: four times the streams)"""
    deterministic: bool = False
    """learn from blocks in a fixed order: the result depends on the seed and on streams, not on the actors"""

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = getattr(self, each.name), int(each.name == "block_rows")
            if type(value) is int and not least <= value < 2**20:
                raise InvalidValue(f"{each.name} is a whole number from {least} to {2**20 - 1}, not {value}")
        if self.deterministic and not (self.streams or self.actors):
            raise InvalidValue("a deterministic run states its actors or streams: they must not depend on the cluster")
        if self.max_staleness and self.max_staleness < self.streams:
            why = "that many blocks are in flight"
            raise InvalidValue(f"max_staleness is at least streams, {self.streams}: {why}, not {self.max_staleness}")

    def resolved(self, cpus: int) -> dict[str, Any]:
        """The settings whose defaults depend on a cluster of so many CPUs."""
        actors = self.actors or max(1, cpus - 1)
        streams = self.streams or STREAMS_PER_ACTOR * actors
        stale = max(self.max_staleness or STALENESS_PER_STREAM * streams, streams)
        return {"actors": actors, "streams": streams, "max_staleness": stale}

    def stated(self) -> ClusterConfig:
        """With defaults that follow from a stated number of actors, as config.toml keeps them: a resumed run has the
        same streams with any number of actors."""
        return replace(self, **self.resolved(0)) if self.actors else self


def from_table(table: Mapping[str, Any], where: str) -> ClusterConfig:
    """The settings in the table of a run or a profile. Older ones may tell how many processes shared each update
    (`learners`), which changed results by rounding alone; one makes it now."""
    own = table.get("cluster", {})
    return build(ClusterConfig, {each: own[each] for each in own if each != "learners"}, where)
