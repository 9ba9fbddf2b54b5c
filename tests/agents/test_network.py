"""The networks that come with Plyground: small, whole, and players."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.agent import known, make
from plyground.agents.network import NetworkAgent
from plyground.arena.match import play_match
from plyground.learners.dqn import DQN, DQNLearner
from plyground.runs.directory import create, find_checkpoint
from plyground.runs.slim import slim

FOLDERS = sorted((ROOT / "src" / "plyground" / "trained").iterdir())
pytestmark = pytest.mark.once


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_plays_well(folder: Path) -> None:
    game = pg.load(folder.name)
    assert "trained" in known(game)
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 5_000_000
    find_checkpoint(folder, "best").verify()
    assert play_match(game, make("trained", game), make("random", game), 8, seed=1, max_plies=200).score >= 0.75


def test_games_without_one_say_what_there_is() -> None:
    for word in ("sequence", "chess:draws=automatic"):
        with pytest.raises(pg.InvalidValue, match=r"trained cannot play .*: it needs a pretrained network; known: random"):
            make("trained", pg.load(word))


def test_the_least_of_a_run_plays_like_the_run(tmp_path: Path, connect_four: pg.Game) -> None:
    learner = DQNLearner(DQN(network="16", concurrency=4, memory=200, warm_up=100, batch=8, threads=1))
    for _ in range(30):
        learner.advance()
    config = {"learner": "dqn", "game": "connect_four", "encoder": "planes-v1", "network": "16", "outputs": 7}
    with create(tmp_path / "run", config) as run:
        learner.save(run)
    slim(tmp_path / "run", tmp_path / "least")
    assert {path.name for path in (tmp_path / "least").iterdir()} == {"config.toml", "best.json", "checkpoints"}
    batch = pg.Batch(connect_four, 50)
    batch.random_play(9)
    whole, least = (make(f"run:{tmp_path / name}", connect_four) for name in ("run", "least"))
    assert isinstance(least, NetworkAgent)
    values = [agent.network(agent.view.observe(batch.states)).detach().numpy() for agent in (whole, least)]  # pyright: ignore
    assert np.allclose(*values, atol=1e-2)
    assert not np.array_equal(*values)
