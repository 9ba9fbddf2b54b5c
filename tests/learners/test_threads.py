"""How many threads a network gets: what is clearly faster, and in runs that a clock ends, what is so at the moment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import plyground as pg
from conftest import ROOT
from plyground.agents.network import View
from plyground.learners import network_learner
from plyground.learners.dqn import DQN, DQNLearner
from plyground.learners.loop import train
from plyground.learners.network_learner import faster_threads
from plyground.runs.directory import create, read_metrics

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SMALL = DQN(game=ROW, network="8", games_per_cycle=40, concurrency=8, memory=400, warm_up=32, batch=16)
SMALL = replace(SMALL, evaluation_games=2, yardsticks=("random",), cycles=3)


@pytest.fixture(autouse=True)
def as_before() -> Any:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


class Clock:
    """Seconds pass when a network is used: so many, with so many threads."""

    def __init__(self, seconds: dict[int, float]) -> None:
        self.seconds, self.now, self.uses = seconds, 0.0, dict.fromkeys(seconds, 0)

    def perf_counter(self) -> float:
        return self.now

    def use(self, *_: Any) -> None:
        threads = torch.get_num_threads()
        self.now += self.seconds[threads]
        self.uses[threads] += 1


@pytest.mark.parametrize(
    ("one", "two", "chosen", "uses"),
    [
        (0.001, 0.0005, 2, (21, 21)),  # twice as fast; one use of each is not timed
        (0.001, 0.0008, 1, (21, 21)),  # faster, but not clearly
        (0.001, 0.2, 1, (21, 3)),  # they wait for each other: a quarter of a second says it
        (3.0, 1.0, 2, (2, 2)),  # a large network: one update of each, whatever it takes
    ],
)
def test_all_cores_where_that_is_clearly_faster(
    one: float, two: float, chosen: int, uses: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, network = Clock({1: one, 2: two}), nn.Sequential(nn.Flatten(), nn.Linear(18, 9))
    monkeypatch.setattr(network_learner, "time", clock)
    monkeypatch.setattr(network_learner, "available", lambda: 2)
    network.register_forward_hook(clock.use)
    monkeypatch.setattr("copy.deepcopy", lambda it: it)  # pyright: ignore
    assert faster_threads(network, View(pg.load(ROW), ""), 4) == chosen
    assert clock.uses == {1: uses[0], 2: uses[1]}


def test_a_run_that_a_clock_ends_adapts_and_any_other_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([2, 1] * 1000)
    monkeypatch.setattr(network_learner, "faster_threads", lambda *_: next(given))
    monkeypatch.setattr(network_learner, "ADAPT_EVERY", 0.0)
    monkeypatch.setattr("plyground.learners.loop.TELL_EVERY", 0.0)
    found: list[set[int]] = []
    for seconds in (0.0, 1e6):
        config = replace(SMALL, seconds=seconds).resolved()
        assert config.threads == (0 if seconds else 2)
        with create(tmp_path / str(seconds), {}) as run:
            train(DQNLearner(config), run, lambda _: None)
        found.append({each["threads"] for each in read_metrics(run.path) if each["event"] == "cycle"})
    assert found[0] == {2}
    assert found[1] == {1, 2}


def test_a_trial_leaves_nothing_behind() -> None:
    learner = DQNLearner(replace(SMALL, threads=1).resolved())
    faster_threads(learner.network, learner.view, 4)
    assert all(each.grad is None for each in learner.network.parameters())
