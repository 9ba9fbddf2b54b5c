"""The steps of a preparation: after them nothing is compiled where a person waits."""

from __future__ import annotations

import pytest
from numba.core import event

import plyground as pg
from conftest import ROOT
from plyground.agents.agent import make
from plyground.play import hints, preparation

pytestmark = pytest.mark.compiled


def test_after_the_steps_of_a_session_nothing_is_compiled() -> None:
    game = pg.load(ROOT / "examples" / "three_in_a_row.py")
    start = game.start()
    steps = preparation.of_session(start, lambda: make("minimax:depth=2", game))
    assert list(steps) == ["agent", "hints", "rules"]
    agent, *_ = [step() for step in steps.values()]
    with event.install_recorder("numba:compile") as found:
        position = start.play(start.ask(agent))
        hints.hint(position)
        position.names()
    assert not found.buffer


def test_the_steps_of_a_game_name_all_its_agents_but_programs() -> None:
    steps = preparation.of_game(pg.load("chess"))
    assert {"rules", "batches", "encoder planes-v1", "greedy", "minimax:depth=3", "search:sims=1000", "hints"} <= {
        *steps
    }
    assert not [name for name in steps if name.startswith("uci")]
