"""The counters and running metrics of a run, whatever learns in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plyground.errors import Error, InvalidValue, shown
from plyground.runs.records import Best, fit

SMOOTHING = 0.05  # weight of a new value in a moving average
ROLLBACK_LIMITS = {  # metric: the setting that bounds it, and whether it is an upper bound
    "gradient": ("rollback_grad_norm", True),
    "entropy": ("rollback_entropy", False),
    "q": ("rollback_q", True),
}

Metrics = Mapping[str, float]


class Diverged(Error):
    """A metric is not finite or out of bounds: the run rolls back to its last checkpoint."""


@dataclass
class TrainingState:
    """Counters and metrics; plain values that a checkpoint holds as JSON."""

    step: int = 0
    """iterations so far"""
    cycle: int = 0
    """cycles completed"""
    cycle_start: int = 0
    """the step at which the present cycle began"""
    plies: int = 0
    """plies played"""
    updates: int = 0
    """optimizer steps"""
    updates_due: float = 0.0
    """updates that the plies played allow and that were not made yet"""
    rollbacks: int = 0
    illegal_moves: int = 0
    seconds: float = 0.0
    """of play and updates"""
    progress: float = 0.0
    """share of the run that is done, set by the training loop before each iteration"""
    averages: dict[str, float] = field(default_factory=dict[str, float])
    """moving averages of the metrics"""
    best: dict[str, Any] = field(default_factory=dict[str, Any])
    """step, previous best step and evaluation of the best checkpoint"""
    time_by_part: dict[str, float] = field(default_factory=dict[str, float])
    """seconds in rules, encoding, replay and the network"""
    stopped_early: bool = False
    """the learner has ended the run before its limit"""
    notes: list[str] = field(default_factory=list[str])
    """messages for people, which the training loop emits and clears"""

    def check(self) -> None:
        """Refuse numbers of a checkpoint that no run has."""
        for name, value in vars(self).items():
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                raise InvalidValue(f"{name} of a run is at least 0 and finite, not {shown(value)}")
        if self.cycle_start > self.step:
            raise InvalidValue(f"cycle_start of a run is at most its step {self.step}, not {self.cycle_start}")
        fit(self.best, Best, "best of a run")
        if self.updates_due >= 1:  # whole ones are made at once, and so many might never end
            raise InvalidValue(f"updates_due of a run is below 1, not {shown(self.updates_due)}")

    def finished(self, config: Any) -> bool:
        """Whether the run has reached its end: `cycles` (or epochs) or `seconds`."""
        return self.stopped_early or 0 < config.cycles <= self.cycle or 0 < config.seconds <= self.seconds

    def checkpoint_due(self, config: Any) -> bool:
        """Whether the cycle that has just ended is followed by an evaluation and a checkpoint."""
        return self.cycle % config.checkpoint_interval == 0 or self.finished(config)

    def note(self, text: str) -> None:
        """A message for people."""
        self.notes.append(text)

    def track_metrics(self, metrics: Metrics, config: Any) -> None:
        """Update the moving averages; a metric that is not finite or beyond its limit raises `Diverged`."""
        for name, value in metrics.items():
            if not math.isfinite(value):
                raise Diverged(f"{name} is {value} at update {self.updates}")
            self.averages[name] = value + (1 - SMOOTHING) * (self.averages.get(name, value) - value)
        for name, (setting, upper) in ROLLBACK_LIMITS.items():
            limit = getattr(config, setting, None)
            if limit is None or name not in metrics:
                continue
            if upper and abs(metrics[name]) > limit:
                raise Diverged(f"{name} is {metrics[name]:.3g} at update {self.updates}, beyond {setting} {limit:g}")
            if not upper and self.averages[name] < limit:
                raise Diverged(
                    f"{name} is {self.averages[name]:.3g} at update {self.updates}, below {setting} {limit:g}"
                )
