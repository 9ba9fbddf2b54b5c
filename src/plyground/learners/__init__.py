"""Learners: one algorithm, one file. `LEARNERS` is the table of them."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from plyground.errors import UnknownName, unknown


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
    "tabular": LearnerEntry("plyground.learners.tabular", "Tabular", "TabularLearner", "Q-learning and SARSA"),
    "imitation": LearnerEntry("plyground.learners.imitation", "Imitation", "ImitationLearner", "from a teacher"),
}

ELSEWHERE = ("sac", "td3", "ddpg", "trpo", "rainbow", "c51", "impala", "es", "cma", "cfr")
"""algorithms that are not here, and no misspelt ones of those that are"""
SETTINGS_MEANT = {
    "lr": "learning_rate",
    **dict.fromkeys(("iterations", "iters", "generations"), "cycles"),
    **dict.fromkeys(("envs", "n_envs", "concurrency", "max_concurrent_games"), "num_envs"),
    **dict.fromkeys(("net", "model", "arch", "hidden", "layers", "hidden_layers"), "network"),
    **dict.fromkeys(("eval_episodes", "num_eval_games"), "eval_games"),
    **dict.fromkeys(("buffer", "memory"), "buffer_size"),
    **dict.fromkeys(("max_steps", "max_steps_per_game"), "max_plies"),
    **dict.fromkeys(("target_update", "target_update_frequency"), "target_update_interval"),
    **dict.fromkeys(("warmup", "warm_up"), "learning_starts"),
    **dict.fromkeys(("time", "duration", "timeout", "budget"), "seconds"),
    "eval": "eval_opponents",
    "discount": "gamma",
    "epsilon_start": "exploration_initial_eps",
    "epsilon_end": "exploration_final_eps",
    "step_limit_penalty": "truncation_penalty",
    "load": "init",
    "batch": "batch_size",
    "smooth": "label_smoothing",
    "val_split": "validation_split",
}
"""what people call a setting: its name here"""


def find_learner(name: str) -> LearnerEntry:
    name = str(name)  # from Python it may be anything
    if name.lower() in ELSEWHERE:
        known = ", ".join(f"{each} ({entry.meaning})" for each, entry in LEARNERS.items())
        raise UnknownName(f"there is no {name} here; the learners: {known}")
    if name not in LEARNERS:
        raise unknown("learner", name, LEARNERS)
    return LEARNERS[name]
