"""Agents and torch modules from a person's own file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.errors import Error
from plyground.games.rng import seeds

SOURCE = """
import numpy as np
import torch

encoder = "signed"


class Leftmost:
    def act(self, states, rngs):
        return np.array([0] * len(states), np.int32)


class Asks:
    def __init__(self, game):
        self.game = game

    def act(self, states, rngs):
        return self.game.kernels() and np.zeros(len(states), np.int32)


class Signed(torch.nn.Module):  # as in the policy-gradient series: int8 boards (B, 6, 7)
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.arange(7.0))

    def forward(self, x):
        assert x.dtype == torch.int8 and x.shape[1:] == (6, 7)
        return self.bias.repeat(len(x), 1)


class Broken:
    def __init__(self):
        raise RuntimeError("no luck")


class OneArgument:
    def act(self, states):
        return np.zeros(len(states), np.int32)


ready = Leftmost()
number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE)
    return tmp_path / "mine.py"


@pytest.mark.parametrize("name", ["Leftmost", "Asks", "ready"])
def test_an_agent_of_a_file_plays(file: Path, connect_four: pg.Game, name: str) -> None:
    agent = make(f"file:{file}:{name}", connect_four)
    assert agent.act(np.repeat(connect_four.start().states, 3), seeds(0, 3)).tolist() == [0, 0, 0]


def test_a_module_plays_its_highest_legal_output_and_enters_matches(file: Path, connect_four: pg.Game) -> None:
    agent, start = make(f"file:{file}:Signed", connect_four), connect_four.start()
    assert agent.act(start.states.copy(), seeds(0, 1)).tolist() == [6]
    assert agent.act(connect_four.position("777777").states, seeds(0, 1)).tolist() == [5]
    torch.save({"bias": torch.tensor([0.0, 9.0, 0, 0, 0, 0, 0])}, file.with_suffix(".pt"))
    other = make(f"file:{file}:Signed,weights={file.with_suffix('.pt')}", connect_four)
    assert other.act(start.states.copy(), seeds(0, 1)).tolist() == [1]
    torch.save({"bias": torch.tensor([0.0, 9.0, 0, 0, 0, 0, 0])}, file.with_suffix(".pt"))
    other = make(f"file:{file}:Signed,weights={file.with_suffix('.pt')}", connect_four)
    assert other.act(start.states.copy(), seeds(0, 1)).tolist() == [1]
    match = play_match(connect_four, agent, make("random", connect_four), 4)
    assert match.games == 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("file:{file}", "names no agent: write file:PATH.py:NAME"),
        ("file:nowhere.py:X", "no agent file 'nowhere.py': there is no such file"),
        (
            "file:{file}:Leftmots",
            "did you mean 'Leftmost'.* known: Leftmost, Asks, Signed, Broken, OneArgument, ready$",
        ),
        ("file:{file}:number", "number of .* is neither an agent .* nor a torch module, but int"),
        ("file:{file}:Broken", "Broken of .* cannot be made: RuntimeError: no luck"),
        (
            "file:{file}:OneArgument",
            r"^`act` of OneArgument takes \(states, rngs\), not \(states\); see .*mine\.py, line 37$",
        ),
        ("file:{file}:Leftmost,sample=true", "sample is for torch modules"),
        ("file:{file}:Signed,sample=maybe", "true or false, not 'maybe'"),
        ("file:{file}:Signed,weights=none.pt", "cannot read weights from 'none.pt'"),
    ],
)
def test_a_fault_is_one_sentence(file: Path, connect_four: pg.Game, spec: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        make(spec.format(file=file), connect_four)


class Careful:
    def __init__(self, game: pg.Game) -> None:
        self.game = game

    def act(self, states: Any, rngs: Any = None, *, greedy: bool = False) -> Any: ...


class Careless:
    def act(self, states: Any, rngs: Any, seconds: float) -> Any: ...


def test_an_object_whose_act_cannot_be_called_is_refused_with_its_line(connect_four: pg.Game) -> None:
    line = Careless.act.__code__.co_firstlineno
    fault = f"`act` of Careless takes (states, rngs), not (states, rngs, seconds); see {__file__}, line {line}"
    with pytest.raises(Error, match=f"^{re.escape(fault)}$"):
        pg.match(connect_four, Careless(), "random", games=2)  # pyright: ignore (the error of this test)
    agent = Careful(connect_four)
    assert make(agent, connect_four) is agent, "parameters of its own have defaults"


@pytest.mark.parametrize(("kind", "how"), [(Careful, "Careful(game)"), (Careless, "Careless()"), (int, "")])
def test_a_class_of_agents_is_answered_with_how_to_make_one(connect_four: pg.Game, kind: type, how: str) -> None:
    with pytest.raises(Error, match=f", not <class '.*'>{re.escape(f'; make one: {how}' if how else '')}$"):
        make(kind, connect_four)
