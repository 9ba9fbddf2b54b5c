"""How Sequence's network was improved: the tool runs, and learns what the values of rollouts say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from plyground.agents.registry import load_run

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with few games and small minibatches."""
    spec = importlib.util.spec_from_file_location("sequence_rollouts", ROOT / "tools" / "sequence_rollouts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in {"GAMES": 16, "BATCH": 8, "HELD_OUT": 24}.items():
        monkeypatch.setattr(module, name, value)
    return module


def test_what_rollouts_say_of_actions_is_learned_and_saved(tool: Any, tmp_path: Path) -> None:
    game = pg.load("sequence")
    agent = load_run(str(tool.TRAINED), game)
    collector = tool.Collector(agent, 1)
    while len(collector.found) < 80:
        collector.ply()
    collector.save(tmp_path / "rollouts.npz")
    data = tool.read([tmp_path / "rollouts.npz"])
    assert data.values.abs().max() <= 1.0
    assert ((data.outputs >= 0).sum(1) >= 2).all()
    assert (data.outputs[:, 0] == _best(agent, data)).all(), "the first candidate is what the network would play"
    with_luck = data._replace(values=_second_is_best(data))
    improvement = tool.Improvement(agent, with_luck, 0)
    before = improvement.loss(improvement.rows).item()
    improvement.learn(6, 1e-3, 0)
    assert improvement.loss(improvement.rows).item() < before
    improvement.save(tool.TRAINED, tmp_path / "improved")
    again = load_run(str(tmp_path / "improved"), game)
    rows = data.states[:8]
    with torch.inference_mode():
        found, kept = (each(again.view.observe(rows)) for each in (again.network, improvement.network))
    assert torch.allclose(found, kept, rtol=1e-2, atol=0.05)


def _best(agent: Any, data: Any) -> torch.Tensor:
    with torch.inference_mode():
        logits = agent.network(agent.view.observe(data.states))
    return logits.masked_fill(~agent.view.legal(data.states), -torch.inf).argmax(1)


def _second_is_best(data: Any) -> torch.Tensor:
    """Values by which the second candidate is always better: what a network can learn from few positions."""
    values = np.zeros(data.values.shape, np.float32)
    values[:, 1] = 0.2
    return torch.from_numpy(values)
