"""Results do not depend on uninitialised memory: games, agents and runs are the same, bit for bit, in noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from noise import noise
from plyground.agents.tabular import TableAgent
from plyground.arena.match import play_match
from plyground.learners import LEARNERS
from plyground.learners.config import Imitation
from plyground.learners.training import train
from plyground.models.table import TableModel, rule_of
from plyground.runs.directory import HELD_OUT
from plyground.tables import Table
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from resumed import after_steps, begin, contents, silent

pytestmark = pytest.mark.once
BYTES = 0xA5, 0x5A, 0xFF
ROW = str(ROOT / "examples" / "three_in_a_row.py")
COMMON: dict[str, Any] = {
    "num_envs": 8,
    "games_per_cycle": 40,
    "cycles": 1,
    "eval_games": 4,
    "eval_opponents": ("random",),
}
NETWORK: dict[str, Any] = {"threads": 1, "rollback_entropy": 0.0}
OWN: dict[str, dict[str, Any]] = {
    "dqn": {"network": "16", "buffer_size": 2000, "learning_starts": 64, "batch_size": 16, **NETWORK},
    "reinforce": {"network": "16+value", "rollout_length": 9, **NETWORK},
    "a2c": {"network": "16+value", "rollout_length": 2, **NETWORK},
    "ppo": {"network": "16+value", "rollout_length": 4, "batch_size": 16, **NETWORK},
    "alphazero": {
        "network": "16+value", "buffer_size": 2000, "learning_starts": 64, "batch_size": 16, "simulations": 4, **NETWORK
    },
    "tabular": {"key": "exact"},
}  # fmt: skip


def assert_same(results: Callable[[], dict[str, Any]]) -> None:
    """The results in noise of one kind are those in noise of another."""
    found = list[dict[str, Any]]()
    for byte in BYTES:
        with noise(byte):
            found.append(results())
    for other in found[1:]:
        assert found[0].keys() == other.keys()
        for name, value in found[0].items():
            assert value == other[name], f"{name} depends on memory that nobody has written"


def test_games_are_the_same_in_noise(game: pg.Game) -> None:
    def results() -> dict[str, Any]:
        batch = pg.Batch(game, 40, seed=5)
        batch.random_play(9)
        step = batch.step(batch.random_actions())
        some = batch.states[np.arange(40) % 3 > 0]  # a copy that numpy makes field by field
        found = {"states": some, "heads": game.heads(some), "next": batch.next_states[::-1].copy(), **step._asdict()}
        found |= {"mask": game.legal_mask(some), "lists": batch.legal_list(some)[0]}
        if game.encoders:
            found["encoded"] = game.encode("", some)
        position = pg.Position(game, some[:1])
        texts = {"text": position.text, "names": position.names(), "played": position.play(position.legal()[0]).text}
        return {name: np.ascontiguousarray(array).tobytes() for name, array in found.items()} | texts

    assert_same(results)


def test_a_table_of_exact_keys_is_the_same_in_noise(connect_four: pg.Game) -> None:
    """Such a table finds a state by its bytes."""

    def results() -> dict[str, Any]:
        batch, table = pg.Batch(connect_four, 64, seed=1), Table(connect_four, "exact")
        rule = rule_of(asdict(LEARNERS["tabular"].config()), table.key)
        updates, scratch = table.updates(64), table.scratch()
        for _ in range(30):
            states = batch.states[np.arange(64)]
            games = table.games(states, np.arange(64), batch.rngs, np.empty(64, np.int32))
            table.learn(games, rule, updates, scratch)
            ended = batch.step(games.actions).terminated
            table.end_games(np.flatnonzero(ended), batch.next_states["outcome"][ended], rule, updates)
        match = play_match(
            connect_four, TableAgent(TableModel(table, rule)), pg.agent("random", connect_four), 60, seed=3
        )
        return {name: array.tobytes() for name, array in table.state().items()} | {"match": match.scores.tobytes()}

    assert_same(results)


@pytest.mark.parametrize("name", OWN)
def test_runs_are_the_same_in_noise(name: str, tmp_path: Path) -> None:
    numbers = iter(range(10))

    def results() -> dict[str, Any]:
        path = tmp_path / str(next(numbers))
        learner, run = begin(path, LEARNERS[name].config(game="connect_four", **COMMON, **OWN[name]))
        with run:
            train(learner, run, silent, after_steps(learner, 60))
        return contents(path)

    assert_same(results)


def test_imitation_and_what_it_holds_out_are_the_same_in_noise(tmp_path: Path) -> None:
    data, numbers = tmp_path / "four.ndjson", iter(range(10))
    collect(Collect(game="connect_four", games=30, weak_games=0.0, threads=1, depth=2), data, lambda *_: None)
    settings = {"network": "16", "threads": 1, "batch_size": 16, "validation_split": 0.2, "epochs": 1}

    def results() -> dict[str, Any]:
        path = tmp_path / str(next(numbers))
        learner, run = begin(path, Imitation(game="connect_four", data=(str(data),), **settings))
        with run:
            train(learner, run, silent, after_steps(learner, 10))
        return contents(path) | {"held out": (path / HELD_OUT).read_bytes()}

    assert_same(results)
