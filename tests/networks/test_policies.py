"""Masked values and policies, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from plyground.networks.policies import entropy, entropy_of, log_probabilities, masked, sample_actions

LEGAL = torch.tensor([[True, True, False], [False, True, True]])
TARGET = torch.tensor([[0.2, 0.5, 9.0], [9.0, -0.5, -0.25]])


def test_entropy_counts_legal_actions_only() -> None:
    values = torch.tensor([[0.0, 0.0, 50.0], [0.0, 200.0, 0.0]])
    assert entropy(values, LEGAL).tolist() == pytest.approx([math.log(2), 0.0])
    assert entropy(values, torch.tensor([[True] * 3, [True] * 3])).isfinite().all()


def test_the_entropy_of_one_legal_action_is_nothing_and_its_gradient_finite() -> None:
    values = torch.tensor([[0.3, -0.2, 5.0], [1.0, 2.0, 3.0]], requires_grad=True)
    legal = torch.tensor([[False, True, False], [True, True, True]])
    found = entropy(values, legal)
    assert found[0] == 0
    found.sum().backward()
    assert values.grad is not None
    assert values.grad.isfinite().all()
    assert (values.grad[0] == 0).all()
    assert (values.grad[1] != 0).any()


def test_the_gradient_of_the_entropy_is_the_one_without_the_illegal_action() -> None:
    values = torch.tensor([[0.5, -0.5, 7.0]], requires_grad=True)
    entropy(values, LEGAL[:1]).sum().backward()
    alone = torch.tensor([[0.5, -0.5]], requires_grad=True)
    probabilities = alone.softmax(1)
    (-(probabilities * probabilities.log()).sum()).backward()
    assert values.grad is not None
    assert alone.grad is not None
    torch.testing.assert_close(values.grad[:, :2], alone.grad)


def test_log_probabilities_leave_illegal_actions_out() -> None:
    logs = log_probabilities(torch.tensor([[0.0, 0.0, 50.0]]), LEGAL[:1])
    assert logs[0].tolist() == pytest.approx([-math.log(2), -math.log(2), -math.inf])


def test_actions_are_drawn_as_often_as_they_are_likely() -> None:
    logs = torch.tensor([[0.5, 0.25, 0.0, 0.25]]).log()
    numbers = torch.tensor([0.0, 0.499, 0.501, 0.749, 0.751, 1 - 2**-24])
    assert sample_actions(logs.expand(len(numbers), 4), numbers).tolist() == [0, 0, 1, 1, 3, 3]


def test_no_rounding_draws_an_action_of_probability_zero() -> None:
    """Sums fall short of 1 or exceed it, and neither the first action nor the last is legal."""
    values = torch.randn(2000, 50, generator=torch.Generator().manual_seed(1)) * 8
    legal = torch.rand(2000, 50, generator=torch.Generator().manual_seed(2)) < 0.3
    legal[:, 0], legal[:, 1], legal[:, -1] = False, True, False
    for number in (0.0, 1 - 2**-24):
        drawn = sample_actions(log_probabilities(values, legal), torch.full((2000,), number))
        assert legal.gather(1, drawn[:, None]).all()


def test_masking_is_a_copy() -> None:
    values = TARGET.clone()
    assert masked(values, LEGAL).tolist() == [[pytest.approx(0.2), 0.5, -math.inf], [-math.inf, -0.5, -0.25]]
    assert torch.equal(values, TARGET)


def test_the_entropy_of_a_temperature_is_that_of_divided_values() -> None:
    values = torch.tensor([[0.5, -0.5, 7.0]])
    logs = log_probabilities(values / 0.5, LEGAL[:1])
    assert entropy(values, LEGAL[:1], temperature=0.5).item() == pytest.approx(entropy_of(logs, LEGAL[:1]).item())
    hot, cold = (entropy(values, LEGAL[:1], temperature=each).item() for each in (10.0, 0.1))
    assert cold < entropy(values, LEGAL[:1]).item() < hot < math.log(2)
