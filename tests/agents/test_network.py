"""Networks as agents, and the pretrained networks: small, whole, and players."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from plyground.agents.network import NetworkAgent
from plyground.agents.registry import known, make
from plyground.arena.match import play_match
from plyground.backend.view import View
from plyground.learners import training
from plyground.learners.config import DQN
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner
from plyground.models.network import NetworkModel
from plyground.networks import make_network
from plyground.runs.directory import create, find_checkpoint
from plyground.runs.fingerprints import notice
from plyground.runs.pack import slim

FOLDERS = sorted((ROOT / "src" / "plyground" / "trained").iterdir())
pytestmark = pytest.mark.once


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_pretrained_network_scores_nine_of_ten_against_random(folder: Path) -> None:
    """All four score 0.98 or more in 40 games; an agent of 0.75 scores 0.9 in one of 60 such matches."""
    game = pg.load(folder.name)
    assert "trained" in known(game)
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 5_000_000
    find_checkpoint(folder, "best").verify()
    assert notice(folder) == "", "its code has changed: prove equal moves, then `python -m plyground.runs.fingerprints`"
    assert play_match(game, make("trained", game), make("random", game), 40, seed=1, max_plies=200).score >= 0.9


def test_the_pretrained_networks_together_are_small() -> None:
    sizes = [path.stat().st_size for path in FOLDERS[0].parent.rglob("*") if path.is_file()]
    assert sum(sizes) < 12 * 2**20


def test_games_without_one_say_what_there_is() -> None:
    for word in ("sequence:rules=boxed", "chess:draws=automatic"):
        with pytest.raises(pg.InvalidValue, match=r"trained cannot play .*: it needs a pretrained network; known: "):
            make("trained", pg.load(word))


def test_the_least_of_a_run_plays_like_the_run(tmp_path: Path, connect_four: pg.Game) -> None:
    config = DQN(network="16", num_envs=4, buffer_size=200, learning_starts=100, batch_size=8, threads=1)
    learner = DQNLearner(resolve(config))
    for _ in range(30):
        learner.iterate()
    config = {"learner": "dqn", "game": "connect_four", "encoder": "planes-v1", "network": "16", "outputs": 7}
    with create(tmp_path / "run", config) as run:
        training.save(learner, run)
    slim(tmp_path / "run", tmp_path / "least")
    assert {path.name for path in (tmp_path / "least").iterdir()} == {"config.toml", "best.json", "checkpoints"}
    batch = pg.Batch(connect_four, 50)
    batch.random_play(9)
    whole, least = (make(f"run:{tmp_path / name}", connect_four) for name in ("run", "least"))
    assert isinstance(least, NetworkAgent)
    rows = least.view.rows(batch.states)
    values = [agent.network(agent.view.observe(rows)).detach().numpy() for agent in (whole, least)]  # pyright: ignore
    assert np.allclose(*values, atol=1e-2)
    assert not np.array_equal(*values)


class TurnedView(View):
    """A view whose outputs stand for the actions backwards for the second seat."""

    def __init__(self, game: pg.Game) -> None:
        super().__init__(game, "")
        self._slots[1] = self._slots[1].flip(0)
        self._actions, self.turned = self._slots.argsort(dim=1).int(), True


def test_an_encoder_that_turns_actions() -> None:
    game = pg.load(str(ROOT / "examples" / "three_in_a_row.py"))
    view, plain = TurnedView(game), View(game, "")
    states = view.rows(np.concatenate([game.position("x........").states, game.position("xo.......").states]))
    assert view.legal(states)[1].tolist() == plain.legal(states)[1].tolist(), "the first side's turn"
    assert view.legal(states)[0].tolist() == plain.legal(states)[0].tolist()[::-1]
    actions = torch.tensor([3, 4], dtype=torch.int32)
    assert view.output_of(states, actions).tolist() == [5, 4]
    assert view.action_of(states, view.output_of(states, actions)).tolist() == [3, 4]


def test_an_agent_without_states_has_no_actions(connect_four: pg.Game) -> None:
    view = View(connect_four, "")
    agent = NetworkAgent(NetworkModel(view, make_network("8", view.shape, view.outputs)))
    assert agent.act(pg.Batch(connect_four, 3).states[:0], np.zeros(0, np.uint64)).shape == (0,)


@pytest.mark.parametrize("word", ["16", "16+value"])
def test_a_network_tells_its_policy_and_its_values(connect_four: pg.Game, word: str) -> None:
    view = View(connect_four, "planes")
    agent = NetworkAgent(NetworkModel(view, make_network(word, view.shape, view.outputs)))
    position = connect_four.position("1111112")  # column 1 is full
    found = position.analyse(agent)
    assert [move.action for move in sorted(found.moves, key=lambda move: move.action)] == position.legal()
    assert sum(move.prior for move in found.moves) == pytest.approx(1.0, abs=1e-5)
    assert found.moves[0].action == position.ask(agent), "it plays what it prefers"
    assert all((move.value is None) == word.endswith("value") for move in found.moves), "Q-values, or a policy"
    assert -1.0 <= found.value <= 1.0
