"""The tree of priorities, on either device."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from plyground.backend.priorities import PriorityTree
from plyground.backend.runner import get


def filled(device: str, leaves: int = 10) -> PriorityTree:
    tree = PriorityTree(leaves, device)
    values = torch.arange(leaves, dtype=torch.float64) / 3
    tree.set(torch.arange(leaves).to(tree.tree.device), values.to(tree.tree.device))
    return tree


def cursor(seed: int, device: str = "cpu") -> torch.Tensor:
    """Of a replay buffer with this seed; see `kernels/replay.py`."""
    return torch.from_numpy(np.array([1, seed], np.uint64)).to(get(device).device)


def test_an_index_that_is_set_twice_keeps_its_largest_priority(device: str) -> None:
    tree = filled(device)
    indices, values = torch.tensor([5, 5, 5, 2]), torch.tensor([1.0, 3.0, 2.0, 0.25], dtype=torch.float64)
    tree.set(indices.to(tree.tree.device), values.to(tree.tree.device))
    leaves = tree.tree[len(tree.tree) // 2 :]
    assert leaves[5].item() == 3.0
    assert leaves[2].item() == 0.25
    assert tree.tree[1].item() == pytest.approx(leaves.sum().item())
    assert tree.tree[2].item() + tree.tree[3].item() == tree.tree[1].item()


def test_samples_follow_the_priorities(device: str) -> None:
    tree, n = filled(device), 900
    indices, probabilities = tree.sample(n, cursor(2**64 - 1, device))
    shares = torch.bincount(indices.cpu(), minlength=10) / n
    assert shares.tolist() == pytest.approx([k / 45 for k in range(10)], abs=0.003)  # one from each of 900 equal parts
    assert probabilities.tolist() == pytest.approx((indices / 45).tolist())


def test_every_device_draws_the_same_samples(device: str) -> None:
    cpu, other = filled("cpu", 1000), filled(device, 1000)
    assert torch.equal(cpu.tree, other.tree.cpu())
    for one, two in zip(cpu.sample(200, cursor(5)), other.sample(200, cursor(5, device)), strict=True):
        assert torch.equal(one, two.cpu())
    assert not torch.equal(cpu.sample(200, cursor(5))[0], cpu.sample(200, cursor(6))[0])


def test_a_tree_of_one_leaf(device: str) -> None:
    tree = PriorityTree(1, device)
    tree.set(torch.zeros(1, dtype=torch.int64).to(tree.tree.device), torch.ones(1).double().to(tree.tree.device))
    assert tree.sample(2, cursor(1, device))[0].tolist() == [0, 0]
