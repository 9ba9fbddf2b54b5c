"""The DQN example: its target by hand, and that it learns."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.agent import make
from plyground.arena.match import play_match


@pytest.fixture(scope="module")
def dqn() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dqn_example", ROOT / "examples" / "dqn.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_targets_by_hand(dqn: ModuleType) -> None:
    import torch

    legal = torch.tensor([[True, True, False], [True, True, False], [False, False, False], [False, False, True]])
    values = torch.tensor([[0.2, 0.5, 9.0], [0.2, 0.5, 9.0], [7.0, 8.0, 9.0], [5.0, 5.0, -0.5]])
    targets = dqn.targets(
        rewards=torch.tensor([0.0, 0.0, 1.0, 0.0]),
        same_side=torch.tensor([False, True, False, False]),
        next_values=values,
        next_legal=legal,
        discount=0.9,
    )
    # The turn passes: minus and discounted. It does not: plus and whole. The end: the reward alone. One legal action.
    assert targets.tolist() == pytest.approx([-0.45, 0.5, 1.0, 0.45])


def test_memory_keeps_the_newest(dqn: ModuleType, connect_four: pg.Game) -> None:
    memory = dqn.Memory(connect_four, 5)
    batch = pg.Batch(connect_four, 3)
    for ply in range(3):
        states = connect_four.heads(batch.states)
        rewards, _, _ = batch.step([ply] * 3)
        memory.add(states, [ply] * 3, rewards, batch.after)
    assert memory.stored == 9
    assert memory.actions.tolist() == [1, 2, 2, 2, 1]
    assert memory.states["ply"].tolist() == [1, 2, 2, 2, 1]
    assert memory.after["ply"].tolist() == [2, 3, 3, 3, 2]


class Steps:
    """A clock that tells steps instead of time, so that a loaded machine learns no less."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 0.01
        return self.now


def test_it_learns_three_in_a_row(dqn: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dqn, "time", Steps())
    word, picture, printed = str(ROOT / "examples" / "three_in_a_row.py"), tmp_path / "demo.png", list[str]()
    monkeypatch.setattr(dqn.console, "print", lambda *words: printed.extend(map(str, words)))
    dqn.main(dqn.Config(game=word, seconds=6, games=128, picture=picture))
    last = next(line for line in reversed(printed) if " s   random " in line)
    assert float(last.split("random")[1].split("%")[0]) > 85
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


@pytest.mark.slow
def test_it_beats_random_at_connect_four_after_a_minute(dqn: ModuleType, connect_four: pg.Game) -> None:
    network = dqn.learn(dqn.Config(), connect_four, lambda seconds, network: None)
    result = play_match(connect_four, network, make("random", connect_four), 1000, seed=9)
    assert result.wins > 950
