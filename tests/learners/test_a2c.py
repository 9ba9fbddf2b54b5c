"""A2C: its n-step returns by hand, that a wrong sign is noticed, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.errors import Error
from plyground.kernels.replay import RUNS_ON, TERMINATED
from plyground.learners import saving
from plyground.learners.a2c import A2CLearner
from resumed import begin
from small_runs import PPO_SOLVES, learner_of, scripted, short, trained

CHAIN = [
    (0, 0, 0.0, RUNS_ON),
    (0, 1, 0.0, RUNS_ON),
    (1, 0, 0.0, RUNS_ON),
    (0, 1, 0.0, RUNS_ON),
    (1, 0, 1.0, TERMINATED),
]
VALUES = [0.1, 0.2, 0.3, 0.4, 0.5]


def test_n_step_returns_go_from_own_turn_to_own_turn() -> None:
    found = scripted("a2c", CHAIN, VALUES, n_steps=1).advantages()
    assert found.indices.tolist() == [0, 1, 2, 3, 4]
    # The next ply is mine: its value. Mine again after the opponent's: discounted twice. Then the opponent wins.
    assert found.returns.tolist() == pytest.approx([0.2, 0.81 * 0.4, 0.81 * 0.5, -0.9, 1.0])
    found = scripted("a2c", CHAIN, VALUES, n_steps=2).advantages()
    assert found.returns.tolist() == pytest.approx([0.81 * 0.4, -(0.9**3), 0.81, -0.9, 1.0])


def test_advantages_are_returns_minus_values_normalized() -> None:
    found = scripted("a2c", CHAIN, VALUES, n_steps=1).advantages()
    plain = [target - value for target, value in zip(found.returns.tolist(), VALUES, strict=True)]
    mean = sum(plain) / 5
    deviation = (sum((each - mean) ** 2 for each in plain) / 5) ** 0.5
    assert found.advantages.tolist() == pytest.approx([(each - mean) / deviation for each in plain], abs=1e-5)


def test_a_ply_whose_next_own_turn_has_not_come_waits() -> None:
    found = scripted("a2c", CHAIN[:3], [0.1, 0.2, 0.3], n_steps=1).advantages()
    assert found.indices.tolist() == [0, 1], "the last ply was the opponent's: its next turn is not there yet"


def test_a_rollout_is_one_update() -> None:
    learner = learner_of("a2c", rollout_length=4)
    for _ in range(12):
        learner.iterate()
    assert learner.state.updates == 3
    assert learner.state.plies == 12 * 8


def test_a_wrong_sign_plays_below_random(monkeypatch: pytest.MonkeyPatch) -> None:
    def score() -> float:
        learner = trained("a2c", **{**PPO_SOLVES, "rollout_length": 4, "learning_rate": 4e-3, "cycles": 3})
        return play_match(learner.game, learner.model.agent(), make("random", learner.game), 400, seed=3).score

    assert score() > 0.6
    real = A2CLearner.advantages

    def wrong(self: A2CLearner) -> Any:
        found = real(self)
        return found._replace(advantages=-found.advantages)

    monkeypatch.setattr(A2CLearner, "advantages", wrong)
    assert score() < 0.4


def test_a_checkpoint_of_another_algorithm_is_refused(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("a2c"))
    with run:
        checkpoint = saving.save(learner, run, 0)
    with pytest.raises(Error, match="n_steps"):
        saving.load(learner_of("ppo"), checkpoint)
