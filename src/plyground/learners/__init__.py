"""Learners: one algorithm, one file. `LEARNERS` is the table of them."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from plyground.errors import unknown


class LearnerEntry(NamedTuple):
    """Where a learner is: its module, the name of its class there, and that of its config in `config.py`."""

    module: str
    config_name: str
    learner_name: str
    meaning: str

    @property
    def config(self) -> type[Any]:
        return getattr(importlib.import_module("plyground.learners.config"), self.config_name)

    @property
    def learner(self) -> type[Any]:
        return getattr(importlib.import_module(self.module), self.learner_name)


LEARNERS = {
    "dqn": LearnerEntry("plyground.learners.dqn", "DQN", "DQNLearner", "deep Q-network"),
    "reinforce": LearnerEntry("plyground.learners.reinforce", "Reinforce", "ReinforceLearner", "policy gradient"),
    "a2c": LearnerEntry("plyground.learners.a2c", "A2C", "A2CLearner", "advantage actor-critic"),
    "ppo": LearnerEntry("plyground.learners.ppo", "PPO", "PPOLearner", "proximal policy optimization"),
    "alphazero": LearnerEntry("plyground.learners.alphazero", "AlphaZero", "AlphaZeroLearner", "self-play with search"),
    "td": LearnerEntry("plyground.learners.td", "TD", "TDLearner", "TD(λ) with n-tuples"),
    "sparse": LearnerEntry("plyground.learners.sparse", "Sparse", "SparseLearner", "sparse network for alpha-beta"),
    "tabular": LearnerEntry(
        "plyground.learners.tabular", "Tabular", "TabularLearner", "Q-learning, SARSA and Monte Carlo returns"
    ),
    "imitation": LearnerEntry("plyground.learners.imitation", "Imitation", "ImitationLearner", "from a teacher"),
}


def find_learner(name: str) -> LearnerEntry:
    name = str(name)  # from Python it may be anything
    if name not in LEARNERS:
        raise unknown("learner", name, LEARNERS)
    return LEARNERS[name]
