"""The steps of a preparation: after them nothing is compiled where a person waits."""

from __future__ import annotations

import pytest
from numba.core import event

import plyground as pg
from conftest import ROOT
from plyground.agents.registry import make
from plyground.play import hints, preparation

pytestmark = pytest.mark.compiled


def test_after_the_steps_of_a_session_nothing_is_compiled() -> None:
    game = pg.load(ROOT / "examples" / "three_in_a_row.py")
    start = game.start()
    steps = preparation.of_session(start, lambda: make("minimax:depth=2", game))
    assert list(steps) == ["rules", "agent", "hints"]
    _, agent, _ = [step() for step in steps.values()]
    with event.install_recorder("numba:compile") as found:
        position = start.play(start.ask(agent))
        hints.hint(position)
        position.names()
    assert not found.buffer


def test_rules_that_are_interpreted_meanwhile_come_last() -> None:
    game = pg.load("connect_four")
    game.interpret()
    assert list(preparation.of_session(game.start(), lambda: make("random", game))) == ["agent", "hints", "rules"]


def test_the_steps_of_a_game_name_all_its_agents_but_programs() -> None:
    steps = preparation.of_game(pg.load("chess"))
    assert {"rules", "batches", "encoder planes-v1", "greedy", "minimax:depth=3", "search:sims=1000", "hints"} <= {
        *steps
    }
    assert not [name for name in steps if name.startswith("uci")]


@pytest.mark.parametrize(
    ("word", "spec"),
    [
        ("connect_four", "punisher"),
        ("chess", "greedy"),
        ("chess", "level:5"),
        ("paco_sako", "greedy"),
        ("paco_sako", "level:5"),
        ("sequence", "window"),
        ("sequence", "level:2"),
        ("sequence", "level:3"),
    ],
)
def test_a_simple_opponent_plays_the_same_moves_without_the_compiler(word: str, spec: str) -> None:
    game = pg.load(word)
    quick, compiled = preparation.quick_agent(game, spec), make(spec, game)
    assert quick is not None
    position = game.start(1)
    for seed in range(4):
        wanted = position.ask(compiled, seed)
        with event.install_recorder("numba:compile") as found:
            assert position.ask(quick, seed) == wanted
        assert not found.buffer
        position = position.play(wanted)


def test_searches_and_games_of_ones_own_wait_for_the_compiler() -> None:
    assert preparation.quick_agent(pg.load("chess"), "level:10") is None
    assert preparation.quick_agent(pg.load("sequence"), "level:4") is None
    assert preparation.quick_agent(pg.load(ROOT / "examples" / "three_in_a_row.py"), "random") is None
