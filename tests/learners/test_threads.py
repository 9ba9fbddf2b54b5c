"""How many torch threads a learner uses: all cores where that is clearly faster, measured again in timed runs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import plyground as pg
from conftest import ROOT
from plyground.backend.view import View
from plyground.kernels.threads import available
from plyground.learners import threads, training
from plyground.learners.config import resolve
from plyground.learners.dqn import DQN, DQNLearner
from plyground.runs.directory import create

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SMALL = DQN(game=ROW, network="8", games_per_cycle=40, num_envs=8, buffer_size=400, learning_starts=32, batch_size=16)
SMALL = replace(SMALL, eval_games=2, eval_opponents=("random",), cycles=3)


@pytest.fixture(autouse=True)
def as_before() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class Clock:
    """Seconds pass when a network is used: so many, with so many threads."""

    def __init__(self, seconds: dict[int, float]) -> None:
        self.seconds, self.now, self.uses = seconds, 0.0, dict.fromkeys(seconds, 0)

    def perf_counter(self) -> float:
        return self.now

    def use(self) -> None:
        used = torch.get_num_threads()
        self.now += self.seconds[used]
        self.uses[used] += 1


class Timed(nn.Module):
    """A network whose use takes time on a clock; its copies share the clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock, self.layer = clock, nn.Linear(18, 9)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        self.clock.use()
        return self.layer(observations.flatten(1))

    def __deepcopy__(self, memo: Any) -> Timed:
        return Timed(self.clock)


@pytest.mark.parametrize(
    ("one", "two", "chosen", "uses"),
    [
        (0.001, 0.0005, 2, (21, 21)),  # twice as fast; one use of each is not timed
        (0.001, 0.0008, 1, (21, 21)),  # faster, but not clearly
        (0.001, 0.2, 1, (21, 3)),  # they wait for each other: a quarter of a second shows it
        (3.0, 1.0, 2, (2, 2)),  # a large network: one update of each, whatever it takes
    ],
)
def test_all_cores_where_that_is_clearly_faster(
    one: float, two: float, chosen: int, uses: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock({1: one, 2: two})
    monkeypatch.setattr(threads, "time", clock)
    monkeypatch.setattr(threads, "available", lambda: 2)
    assert threads.faster(Timed(clock), View(pg.load(ROW), ""), 4) == chosen
    assert clock.uses == {1: uses[0], 2: uses[1]}


def test_a_timed_run_adapts_and_any_other_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([2, 1] * 1000)
    monkeypatch.setattr(threads, "faster", lambda *_: next(given))
    monkeypatch.setattr(threads, "ADAPT_INTERVAL", 0.0)
    monkeypatch.setattr(training, "TICK_INTERVAL", 0.0)
    found: list[set[int]] = []
    for seconds in (0.0, 1e6):
        config = resolve(replace(SMALL, seconds=seconds))
        assert config.threads == (0 if seconds else 2)
        used = set[int]()
        with create(tmp_path / str(seconds), {}) as run:
            training.train(DQNLearner(config), run, lambda _, used=used: used.add(torch.get_num_threads()))
        found.append(used)
    assert found[0] == {2}
    assert found[1] == {1, 2}


def test_a_trial_leaves_the_network_as_it_was() -> None:
    learner = DQNLearner(resolve(replace(SMALL, threads=1)))
    before = {name: value.clone() for name, value in learner.q_network.state_dict().items()}
    threads.faster(learner.q_network, learner.view, 4)
    assert all(each.grad is None for each in learner.q_network.parameters())
    assert all(torch.equal(before[name], value) for name, value in learner.q_network.state_dict().items())


def test_a_trial_is_short_however_large_the_batch_and_slow_the_network(connect_four: pg.Game) -> None:
    view, rows = View(connect_four, ""), list[int]()

    class Slow(nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
            rows.append(len(input))
            time.sleep(0.1)
            return super().forward(input.flatten(1))

    assert threads.faster(Slow(view.shape[0] * 42, 7), view, 1 << 20) in (1, available())
    assert len(rows) <= 2 * 4  # one of each that is not timed, and what fits into a quarter of a second
    assert max(rows, default=0) <= 256
