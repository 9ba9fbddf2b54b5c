"""Tables that play; learning while they play is tested with the learner, in tests/learners/test_tabular.py."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.tabular import TableAgent
from plyground.learners.config import Tabular
from plyground.models.table import TableModel, rule_of
from plyground.tables import Table

CONFIG = Tabular(game=str(ROOT / "examples" / "three_in_a_row.py"), alpha=0.4, alpha_final=0.2, epsilon=0.5)
KEY = Table(pg.load(CONFIG.game)).key


def test_the_rule_moves_from_initial_to_final_values_and_explores_only_in_training() -> None:
    settings = asdict(replace(CONFIG, epsilon_final=0.1))
    begun, middle, ended = (rule_of(settings, KEY, progress, explore=True) for progress in (0.0, 0.5, 1.0))
    assert [rule.learning_rate for rule in (begun, middle, ended)] == pytest.approx([0.4, 0.3, 0.2])
    assert [rule.epsilon for rule in (begun, middle, ended)] == pytest.approx([0.5, 0.3, 0.1])
    assert rule_of(settings, KEY).epsilon == 0.0


def test_scores_become_rewards_by_their_logarithm_or_as_they_are() -> None:
    """The limit of targets follows: no reward of the raw scale is cut off."""
    key, settings = Table(pg.load("sequence"), "patterns").key, asdict(replace(CONFIG, gamma_final=0.0))
    log, raw = (rule_of({**settings, "score_scale": scale, "reward_weight": 1.0}, key) for scale in ("log", "raw"))
    assert (log.full, raw.full) == (pytest.approx(np.log(15001)), 0.0)
    most = 4 * (15000 + 13000)  # a sequence in each of four directions that also blocks one
    assert np.log1p(most) / log.full < log.limit < 4
    assert most < raw.limit < 4 * most


def test_an_agent_plays_the_action_with_the_highest_value() -> None:
    game = pg.load(CONFIG.game)
    table = Table(game)
    agent, position = TableAgent(TableModel(table, rule_of(asdict(CONFIG), KEY))), game.start()
    wanted = position.action("b2")
    states = game.heads(position.states).view(np.uint8)
    size = -(-len(states) // 8)
    key = np.zeros(size + 1, np.uint64)
    key[:-1] = np.frombuffer(states.tobytes().ljust(8 * size, b"\0"), np.uint64)
    key[-1] = wanted + 1
    table.load_state({"keys": key[None], "values": np.ones(1, np.float32), "visits": np.full(1, 5, np.uint32)})
    for seed in range(5):
        assert agent.act(position.states.copy(), np.array([seed], np.uint64)).tolist() == [wanted]
    assert agent.model.identity == {"game": str(game), "key": "exact-v1"}
