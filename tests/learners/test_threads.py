"""The number of torch threads is a setting: the same from the first update to the last, however long they take."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from conftest import ROOT
from plyground.learners import training
from plyground.learners.config import DQN
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner
from plyground.runs.directory import create

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SMALL = DQN(game=ROW, network="8", games_per_cycle=40, num_envs=8, buffer_size=400, learning_starts=32, batch_size=16)
SMALL = replace(SMALL, eval_games=2, eval_opponents=("random",), cycles=3)


@pytest.fixture(autouse=True)
def as_before() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class Slow:
    """A clock by which everything takes a minute."""

    def __init__(self) -> None:
        self.minutes = itertools.count(step=60.0)

    def perf_counter(self) -> float:
        return next(self.minutes)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (resolve(SMALL), 1),
        (resolve(replace(SMALL, seconds=1e6)), 1),
        (resolve(replace(SMALL, seconds=1e6, threads=2)), 2),
        (replace(resolve(SMALL), seconds=1e6, threads=0), 1),  # of an older version, which measured again and again
    ],
)
def test_a_run_keeps_its_threads(config: DQN, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "time", Slow())
    used = set[int]()
    with create(tmp_path / "run", {}) as run:
        training.train(DQNLearner(config), run, lambda _: used.add(torch.get_num_threads()))
    assert used == {expected}
