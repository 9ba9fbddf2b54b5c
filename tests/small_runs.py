"""Small configs of the policy-gradient learners, shared by the tests of `rollout`, `ppo`, `a2c` and `reinforce`."""

from __future__ import annotations

from typing import Any

from conftest import ROOT, TINY
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.learners import LEARNERS
from plyground.learners.defaults import resolve
from plyground.learners.training import progress
from resumed import new_learner

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SHORT: dict[str, Any] = {
    "game": ROW, "network": "16+value", "cycles": 3, "games_per_cycle": 60, "num_envs": 8, "rollout_length": 6,
    "batch_size": 16, "eval_games": 4, "threads": 1, "eval_opponents": ("random",), "target_kl": 0.0,
    "opponents": ("1 self",), "opening_plies": 0, "epochs": 3,
}  # fmt: skip
EVERYTHING: dict[str, Any] = {
    "opponents": ("0.4 self", "0.3 snapshot", "0.3 greedy"), "snapshot_interval": 1, "snapshots": 2,
    "opening_plies": 3, "entropy_coef_final": 0.1,
}  # fmt: skip
OTHERWISE: dict[str, Any] = {
    "game": TINY[1], "max_plies": 9, "opponents": ("0.5 self", "0.5 random"), "symmetries": False
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {"small": {}, "everything": EVERYTHING, "otherwise": OTHERWISE}
POLICY_LEARNERS = ("reinforce", "a2c", "ppo")

SOLVES: dict[str, Any] = {
    "network": "128-64+value", "games_per_cycle": 3000, "batch_size": 256, "opening_plies": 3,
    "entropy_coef_final": 0.1,
}  # fmt: skip
PPO_SOLVES = SOLVES | {"num_envs": 128, "rollout_length": 16, "learning_rate": 2e-3, "entropy_coef": 0.02, "cycles": 6}
REINFORCE_SOLVES = SOLVES | {
    "num_envs": 32, "rollout_length": 9, "learning_rate": 4e-3, "entropy_coef": 0.1, "cycles": 10
}  # fmt: skip


def short(name: str, **changes: Any) -> Any:
    """A small config of a learner; settings that it does not have are left out."""
    kind = LEARNERS[name].config
    settings = {**SHORT, **changes}
    return kind(**{key: value for key, value in settings.items() if key in kind.__dataclass_fields__})


def learner_of(name: str, **changes: Any) -> Any:
    return new_learner(resolve(short(name, **changes)))


def scripted(name: str, plies: list[tuple[int, int, float, int]], values: list[float], **changes: Any) -> Any:
    """A learner with one environment whose rollout was this: (side, next side, reward, ended), and the values that the
    value head gave."""
    learner = learner_of(name, num_envs=1, rollout_length=len(plies), gamma=0.9, **changes)
    replay, stored = learner.rollout.replay, learner.rollout.replay.plies
    for row, (side, next_side, reward, ended) in enumerate(plies):
        stored.sides[row], stored.next_sides[row], stored.rewards[row] = side, next_side, reward
        stored.ended[row], replay.usable[row], learner.rollout.values[row] = ended, True, values[row]
    replay.time = len(plies)
    return learner


def trained(name: str, **changes: Any) -> Any:
    """A learner after all its cycles, without evaluations."""
    learner = learner_of(name, **changes)
    while not learner.state.finished(learner.config):
        learner.state.progress = progress(learner)
        learner.iterate()
        learner.state.step += 1
        if learner.cycle.progress() >= 1:
            learner.state.cycle += 1
            learner.cycle.results.clear()
    return learner


def check_three_in_a_row(learner: Any) -> None:
    """As first player it never loses to perfect play."""
    game, agent = learner.game, learner.model.agent()
    match = play_match(game, agent, make("minimax:depth=9", game), 1000, seed=3, opening_plies=0)
    as_first = match.scores[:, 0]
    assert len(as_first) == 500
    assert (as_first > 0).all()
    assert play_match(game, agent, make("random", game), 200, seed=3).score > 0.85
