"""Torch modules that play: sampling, weights without pickle, and checks of what they answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import plyground as pg
from plyground.agents.module import ModuleAgent, load_file
from plyground.errors import Error
from plyground.games.rng import seeds


class Columns(nn.Module):
    """Int8 boards (B, 6, 7) to seven numbers, the higher the further right."""

    def __init__(self, outputs: int = 7) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.arange(float(outputs)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.dtype == torch.int8
        assert x.shape[1:] == (6, 7)
        return self.bias.repeat(len(x), 1)


def test_a_module_plays_its_highest_legal_output(connect_four: pg.Game) -> None:
    agent = ModuleAgent(connect_four, "signed", Columns(), "columns")
    assert agent.act(connect_four.start().states.copy(), seeds(0, 1)).tolist() == [6]
    assert agent.act(connect_four.position("777777").states, seeds(0, 1)).tolist() == [5]
    assert (str(agent), agent.to("cpu")) == ("columns", agent)


def test_a_module_may_sample(connect_four: pg.Game) -> None:
    agent = ModuleAgent(connect_four, "signed", Columns(), "columns", sample=True)
    actions = agent.act(np.repeat(connect_four.start().states, 4000), seeds(0, 4000))
    shares = np.bincount(actions, minlength=7) / 4000
    assert shares == pytest.approx(torch.softmax(torch.arange(7.0), 0).numpy(), abs=0.03)


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_weights_are_read_without_pickle(tmp_path: Path, suffix: str) -> None:
    path, module = tmp_path / f"weights.{suffix}", Columns()
    state = {"bias": torch.tensor([0.0, 9.0, 0, 0, 0, 0, 0])}
    if suffix == "pt":
        torch.save(state, path)
    else:
        save_file(state, path)
    load_file(module, path)
    assert module.bias.argmax() == 1
    with pytest.raises(Error, match=r"does not fit Columns: .*size mismatch"):
        load_file(Columns(3), path)


def test_other_objects_are_refused(tmp_path: Path) -> None:
    torch.save({"bias": np.random.default_rng}, tmp_path / "x.pt")
    with pytest.raises(Error, match="is refused: it is no state dict"):
        load_file(Columns(), tmp_path / "x.pt")
    (tmp_path / "x.safetensors").write_bytes(b"no tensors")
    with pytest.raises(Error, match="does not fit Columns"):
        load_file(Columns(), tmp_path / "x.safetensors")
    with pytest.raises(Error, match="cannot read weights"):
        load_file(Columns(), tmp_path / "none.pt")


def test_answers_of_another_shape_or_not_numbers_are_refused(connect_four: pg.Game) -> None:
    agent = ModuleAgent(connect_four, "signed", Columns(3), "mine")
    with pytest.raises(Error, match=r"mine maps \(1, 6, 7\) to \(1, 7\), one number for each action, not to \(1, 3\)"):
        agent.act(connect_four.start().states, seeds(0, 1))
    broken = Columns()
    broken.bias.data[2] = torch.nan
    with pytest.raises(Error, match="NaN"):
        ModuleAgent(connect_four, "signed", broken, "mine").act(connect_four.start().states, seeds(0, 1))


def test_pg_agent_takes_a_module_or_an_agent(connect_four: pg.Game) -> None:
    module = Columns()
    start = connect_four.start()
    assert start.ask(pg.agent(module, connect_four, encoder="signed")) == 6
    with pytest.raises(Error, match=r"Columns does not say what it sees: .*planes-v1"):
        pg.agent(module, connect_four)
    module.encoder = "signed"  # pyright: ignore[reportAttributeAccessIssue, reportArgumentType]
    agent = pg.agent(module, connect_four)
    assert start.ask(agent) == 6
    assert pg.agent(agent, connect_four) is agent
    module.encoder = nn.Linear(1, 1)  # a part of many networks has that name
    assert start.ask(pg.agent(module, connect_four, encoder="signed-v1")) == 6
    with pytest.raises(Error, match=r"^an agent is a spec such as 'random', .*, not 3$"):
        pg.agent(3, connect_four)
