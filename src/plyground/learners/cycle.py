"""Cycles: when one ends, how its games went, and how strong the learner is after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from plyground.game import Game
from plyground.learners.evaluation import BestVersion, evaluate_in_matches
from plyground.learners.experience import buffer_summary, cycle_statistics
from plyground.learners.model import Model
from plyground.learners.replay import ReplayBuffer
from plyground.learners.results import GameResults
from plyground.learners.selfplay import SNAPSHOT, opponent_shares
from plyground.learners.state import TrainingState

Event = dict[str, Any]


class Cycle(Protocol):
    """What the training loop asks about cycles."""

    def begin(self) -> list[Event]:
        """Called before the first iteration of a new run."""
        ...

    def progress(self) -> float:
        """The share of the present cycle that is done; it ends at 1."""
        ...

    def end(self) -> list[Event]:
        """The records of the cycle that has just ended, an evaluation included if it is due."""
        ...

    def summary(self) -> str:
        """The size of the replay buffer or the table, for the live display."""
        ...

    def experience(self) -> dict[str, Any]:
        """What the replay buffer or the table holds, for people."""
        ...


@dataclass
class SelfPlayCycle:
    """A cycle of `games_per_cycle` games, played with a network."""

    config: Any
    state: TrainingState
    model: Model
    results: GameResults
    replay: ReplayBuffer

    def begin(self) -> list[Event]:
        return []

    def progress(self) -> float:
        return self.results.games / self.config.games_per_cycle

    def end(self) -> list[Event]:
        state, model = self.state, self.model
        if SNAPSHOT in opponent_shares(self.config.opponents):
            model.take_snapshot(state.cycle)
        metrics = cycle_statistics(self.results, self.replay, state.step - state.cycle_start)
        self.results.clear()
        metrics["learning_rate"] = model.learning_rate
        return cycle_events(model.view.game, self.config, state, model, metrics)

    def summary(self) -> str:
        return f"replay buffer {len(self.replay):,}"

    def experience(self) -> dict[str, Any]:
        return buffer_summary(self.replay)


def cycle_events(
    game: Game, config: Any, state: TrainingState, versions: BestVersion, metrics: Mapping[str, Any]
) -> list[Event]:
    """The record of a cycle of self-play and, if it is due, an evaluation."""
    place = {"step": state.step, "cycle": state.cycle, "cycles": config.cycles}
    counts = {"updates": state.updates, "plies": state.plies, "illegal_moves": state.illegal_moves}
    seconds = {"seconds": {"total": state.seconds, **state.time_by_part}}
    events: list[Event] = [{"event": "cycle", **place, **counts, **metrics, **state.averages, **seconds}]
    if state.checkpoint_due(config):
        events.append({"event": "evaluation", **place, **evaluate_in_matches(game, config, state, versions)})
    return events
