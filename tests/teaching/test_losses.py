"""The losses and measures of imitation by hand."""

from __future__ import annotations

import math

import pytest
import torch

from plyground.teaching.losses import measures, policy_loss

LOGITS = torch.tensor([[1.0, 0.0, 5.0, -1.0]])
LEGAL = torch.tensor([[True, True, False, True]])
TOP, POLICY = torch.tensor([[0, 3, 0]]), torch.tensor([[0.75, 0.25, 0.0]])  # the last place is empty
LOGS = [x - math.log(math.e + 1 + math.exp(-1)) for x in (1.0, 0.0, -1.0)]


def test_the_loss_by_hand() -> None:
    plain = policy_loss(LOGITS, LEGAL, TOP, POLICY, 0.0)
    assert plain.item() == pytest.approx(-(0.75 * LOGS[0] + 0.25 * LOGS[2]))
    smooth = policy_loss(LOGITS, LEGAL, TOP, POLICY, 0.3)
    assert smooth.item() == pytest.approx(0.7 * plain.item() - 0.3 * sum(LOGS) / 3)


def test_an_illegal_action_gets_no_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    policy_loss(logits, LEGAL, TOP, POLICY, 0.1).sum().backward()
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0
    assert torch.isfinite(logits.grad).all()


def test_measures_by_hand() -> None:
    found = {name: value.item() for name, value in measures(LOGITS, LEGAL, TOP, POLICY).items()}
    assert (found["match@1"], found["match@3"]) == (1, 1), (
        "the best is output 0; output 2 would be better, but is illegal"
    )
    wanted = 0.75 * (math.log(0.75) - LOGS[0]) + 0.25 * (math.log(0.25) - LOGS[2])
    assert found["kl"] == pytest.approx(wanted)
    assert found["entropy"] == pytest.approx(-sum(math.exp(x) * x for x in LOGS))
    assert found["even_entropy"] == pytest.approx(math.log(3))
    other = measures(LOGITS, LEGAL, torch.tensor([[3]]), torch.tensor([[1.0]]))
    assert (other["match@1"].item(), other["match@3"].item()) == (0, 1)
    tied = measures(torch.zeros(1, 4), LEGAL, torch.tensor([[1]]), torch.tensor([[1.0]]))
    assert tied["match@1"].item() == 0, "of equal outputs the lowest is played, which is 0"
    same = measures(POLICY[:, :2].log(), torch.ones(1, 2, dtype=torch.bool), torch.tensor([[0, 1]]), POLICY[:, :2])
    assert same["kl"].item() == pytest.approx(0, abs=1e-6)
