"""PPO: its loss by hand, its advantages against the kernel's definition, when its epochs end, and that it learns."""

from __future__ import annotations

import pytest
import torch

from plyground.kernels.replay import RUNS_ON, TERMINATED
from plyground.learners.ppo import clipped_loss
from plyground.learners.rollout import policy_gradient_loss
from plyground.networks import log_probabilities
from small_runs import PPO_SOLVES, check_three_in_a_row, learner_of, scripted, trained

# ---- loss ----


def test_the_clipped_loss_at_ratio_1_has_the_gradient_of_the_policy_gradient() -> None:
    generator = torch.Generator().manual_seed(3)
    values, advantages = torch.randn(20, 5, generator=generator), torch.randn(20, generator=generator)
    actions, legal = torch.randint(0, 5, (20, 1), generator=generator), torch.ones(20, 5, dtype=torch.bool)
    gradients: list[torch.Tensor] = []
    for loss_of in (
        lambda logs: clipped_loss(logs, logs.detach(), advantages, 0.2),
        lambda logs: policy_gradient_loss(logs, advantages),
    ):
        free = values.clone().requires_grad_()
        loss_of(log_probabilities(free, legal).gather(1, actions)[:, 0]).backward()
        assert free.grad is not None
        gradients.append(free.grad)
    torch.testing.assert_close(*gradients)
    assert gradients[0].abs().max() > 0


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "moves"),
    [
        (1.1, 2.0, -2.2, True),
        (1.5, 2.0, -2.4, False),  # good and already much likelier: enough
        (0.5, 2.0, -1.0, True),  # good but became less likely: back
        (0.5, -2.0, 1.6, False),  # bad and already much less likely: enough
        (1.5, -2.0, 3.0, True),  # bad but became likelier: back
    ],
)
def test_the_clip_by_hand(ratio: float, advantage: float, loss: float, moves: bool) -> None:
    logs = torch.tensor([ratio]).log().requires_grad_()
    found = clipped_loss(logs, torch.zeros(1), torch.tensor([advantage]), 0.2)
    assert found.item() == pytest.approx(loss)
    found.backward()
    assert logs.grad is not None
    assert (logs.grad.item() != 0) == moves


# ---- advantages ----


def test_returns_by_hand_and_normalized_advantages() -> None:
    """gamma 0.9, lambda 0.5; the last ply wins for side 0."""
    plies = [(0, 1, 0.0, RUNS_ON), (1, 0, 0.0, RUNS_ON), (0, 1, 1.0, TERMINATED)]
    values = [0.1, 0.2, 0.4]
    found = scripted("ppo", plies, values, gae_lambda=0.5).advantages()
    assert found.indices.tolist() == [0, 1, 2]
    # Backwards: 1 - 0.4 = 0.6; 0 - 0.9 * 0.4 - 0.2 = -0.56, and -0.9 * 0.5 * 0.6 = -0.27 of the ply after;
    # 0 - 0.9 * 0.2 - 0.1 = -0.28, and -0.45 * -0.83.
    by_hand = torch.tensor([-0.28 + 0.45 * 0.83, -0.83, 0.6])
    assert found.returns.tolist() == pytest.approx((by_hand + torch.tensor(values)).tolist())
    centred = by_hand - by_hand.mean()
    assert found.advantages.tolist() == pytest.approx((centred / centred.square().mean().sqrt()).tolist(), abs=1e-5)


def test_plies_of_the_opponent_are_followed_but_not_learned_from() -> None:
    plies = [(0, 1, 0.0, RUNS_ON), (1, 0, 1.0, TERMINATED)]
    learner = scripted("ppo", plies, [0.1, 55.0], gae_lambda=0.5)
    learner.rollout.replay.usable[1] = False
    found = learner.advantages()
    assert found.indices.tolist() == [0]
    assert found.returns.tolist() == pytest.approx([-0.9]), "its win is my loss"


# ---- epochs ----


def test_epochs_end_where_the_policy_has_moved_far_enough() -> None:
    counts: list[int] = []
    for target in (0.0, 1e-7):
        learner = learner_of("ppo", target_kl=target, learning_rate=0.01)
        for _ in range(6):
            learner.iterate()
        counts.append(learner.state.updates)
    assert counts == [9, 2], "48 plies in minibatches of 16, three epochs; or until it has moved at all"


def test_the_last_partial_minibatch_is_dropped() -> None:
    learner = learner_of("ppo", batch_size=20)
    for _ in range(6):
        learner.iterate()
    assert learner.state.updates == 6, "48 plies: two minibatches of 20, three epochs"
    small = learner_of("ppo", batch_size=1000)
    for _ in range(6):
        small.iterate()
    assert small.state.updates == 3, "a rollout that is smaller than a minibatch is one"


# ---- learning ----


def test_it_never_loses_three_in_a_row_to_perfect_play_as_first_player() -> None:
    check_three_in_a_row(trained("ppo", **PPO_SOLVES))
