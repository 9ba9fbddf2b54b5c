"""Counters and running metrics: averages, limits, and when a run or a checkpoint is due."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from plyground.learners.state import SMOOTHING, Diverged, TrainingState


def config(**changes: Any) -> Any:
    usual = {"cycles": 10, "seconds": 0.0, "checkpoint_interval": 1, "rollback_grad_norm": 100.0}
    return SimpleNamespace(**{**usual, "rollback_entropy": 0.5, "rollback_q": 10.0, **changes})


def test_an_average_begins_with_the_first_value_and_moves_by_a_share() -> None:
    state = TrainingState()
    state.track_metrics({"loss": 4.0}, config())
    assert state.averages == {"loss": 4.0}
    state.track_metrics({"loss": 2.0}, config())
    assert state.averages["loss"] == pytest.approx(4.0 + SMOOTHING * (2.0 - 4.0))
    state.track_metrics({}, config())
    assert state.averages["loss"] == pytest.approx(3.9), "an iteration without metrics changes nothing"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_metric_that_is_not_finite_is_divergence(value: float) -> None:
    state = TrainingState(updates=7)
    with pytest.raises(Diverged, match=f"loss is {value} at update 7"):
        state.track_metrics({"loss": value}, config())
    assert "loss" not in state.averages


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"gradient": 101.0}, "gradient is 101 at update 0, beyond rollback_grad_norm 100"),
        ({"q": -11.0}, "q is -11 at update 0, beyond rollback_q 10"),
        ({"entropy": 0.4}, "entropy is 0.4 at update 0, below rollback_entropy 0.5"),
    ],
)
def test_a_metric_beyond_its_limit_is_divergence(metrics: dict[str, float], message: str) -> None:
    with pytest.raises(Diverged, match=message):
        TrainingState().track_metrics(metrics, config())


def test_limits_bound_the_value_of_an_update_but_the_average_of_the_entropy() -> None:
    state = TrainingState()
    state.track_metrics({"entropy": 2.0, "gradient": 99.0, "q": -9.9}, config())
    state.track_metrics({"entropy": 0.1}, config())  # one small minibatch
    assert state.averages["entropy"] > 0.5
    with pytest.raises(Diverged, match="gradient"):
        state.track_metrics({"gradient": 101.0}, config())


def test_a_config_without_a_limit_has_none() -> None:
    TrainingState().track_metrics({"q": 1e9, "gradient": 1e9}, SimpleNamespace(cycles=1, seconds=0.0))


@pytest.mark.parametrize(
    ("state", "changes", "finished"),
    [
        (TrainingState(cycle=9), {}, False),
        (TrainingState(cycle=10), {}, True),
        (TrainingState(cycle=10**6), {"cycles": 0}, False),
        (TrainingState(cycle=0, seconds=5.0), {"seconds": 5.0}, True),
        (TrainingState(cycle=0, seconds=4.9), {"seconds": 5.0}, False),
        (TrainingState(stopped_early=True), {}, True),
    ],
)
def test_a_run_ends_by_cycles_by_seconds_or_early(state: TrainingState, changes: Any, finished: bool) -> None:
    assert state.finished(config(**changes)) == finished


def test_a_checkpoint_is_due_at_its_interval_and_at_the_end() -> None:
    due = [TrainingState(cycle=cycle).checkpoint_due(config(checkpoint_interval=4)) for cycle in range(1, 11)]
    assert [cycle for cycle, each in enumerate(due, 1) if each] == [4, 8, 10]
