"""Targets by hand."""

from __future__ import annotations

import math

import pytest
import torch

from plyground.learners.returns import best_legal, entropy, td_targets

LEGAL = torch.tensor([[True, True, False], [False, True, True]])
TARGET = torch.tensor([[0.2, 0.5, 9.0], [9.0, -0.5, -0.25]])
ONLINE = torch.tensor([[0.9, 0.1, 8.0], [8.0, 0.3, 0.2]])


def test_targets_with_sign_and_mask() -> None:
    # The turn passed: minus and discounted. It did not: plus and whole.
    found = td_targets(torch.tensor([0.0, 0.1]), torch.tensor([-0.9, 1.0]), TARGET, LEGAL)
    assert found.tolist() == pytest.approx([-0.45, -0.15])


def test_double_lets_the_online_network_choose_and_the_target_network_judge() -> None:
    found = td_targets(torch.tensor([0.0, 0.0]), torch.tensor([-0.9, 1.0]), TARGET, LEGAL, ONLINE)
    assert found.tolist() == pytest.approx([-0.18, -0.5])


def test_nothing_comes_after_the_end() -> None:
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    found = td_targets(torch.tensor([1.0, -1.0]), torch.tensor([0.0, 0.0]), TARGET, nothing)
    assert found.tolist() == [1.0, -1.0]
    assert best_legal(TARGET, nothing).tolist() == [0.0, 0.0]


def test_a_row_alone_equals_the_same_row_in_a_batch() -> None:
    alone = td_targets(torch.tensor([0.1]), torch.tensor([1.0]), TARGET[1:], LEGAL[1:], ONLINE[1:])
    both = td_targets(torch.tensor([0.0, 0.1]), torch.tensor([-0.9, 1.0]), TARGET, LEGAL, ONLINE)
    assert alone[0] == both[1]


def test_entropy_counts_legal_actions_only() -> None:
    values = torch.tensor([[0.0, 0.0, 50.0], [0.0, 200.0, 0.0]])
    assert entropy(values, LEGAL).tolist() == pytest.approx([math.log(2), 0.0])
    assert entropy(values, torch.tensor([[True] * 3, [True] * 3])).isfinite().all()
