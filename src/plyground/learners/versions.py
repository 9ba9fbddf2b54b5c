"""`Versions`: a model that learns, and the best version of it so far."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from plyground.agents.agent import Agent
from plyground.agents.registry import agent_of
from plyground.models.model import Model

M = TypeVar("M", bound=Model)


class Versions(Generic[M]):
    """The present version and the best one, as models and as agents. Every learner has one such object."""

    def __init__(self, present: M) -> None:
        self.present, self.best = present, present.copy()

    @property
    def identity(self) -> dict[str, str]:
        """What its checkpoints belong to."""
        return self.present.identity

    def agent(self) -> Agent:
        return agent_of(self.present)

    def best_agent(self) -> Agent:
        return agent_of(self.best)

    def keep_best(self) -> None:
        """The present version becomes the best one."""
        self.best.take(self.present)

    def end_cycle(self, cycle: int) -> None:
        """Called after so many cycles of play."""

    def parts(self) -> dict[str, Any]:
        return {self.present.kind: self.present, "best": self.best}
