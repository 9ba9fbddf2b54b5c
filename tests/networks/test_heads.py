"""Heads, by hand."""

from __future__ import annotations

import numpy as np
import torch

from plyground.networks.heads import Dueling, Pairs, Parts


def test_pairs_by_hand() -> None:
    """Two squares, one channel: each action is the product of what its two squares give; the last has no pair."""
    head, slim = Pairs(1, 1, slim=False), Pairs(1, 1, slim=True)
    with torch.no_grad():
        for layer, weight in ((head.source, 2.0), (head.target, 3.0)):
            layer.weight.fill_(weight)
            assert layer.bias is not None
            layer.bias.zero_()
    squares = torch.tensor([[[[1.0, 5.0]]]])
    scores = head(squares, squares)
    assert scores.tolist() == [[6.0, 30.0, 30.0, 150.0]]
    assert head.finish(torch.ones(1, 5), scores).tolist() == [[7.0, 31.0, 31.0, 151.0, 1.0]]
    assert slim.finish(torch.full((1, 1), 9.0), scores).tolist() == [[6.0, 30.0, 30.0, 150.0, 9.0]]


def test_parts_by_hand() -> None:
    """Two cells, one channel, two maps: an action is a cell of a map, the map's term, and the marked cells."""
    head = Parts(1, 2, np.array([[0, 1, 2], [1, 0, -1], [1, 1, 3]]))
    with torch.no_grad():
        head.maps.weight.copy_(torch.tensor([1.0, 10.0, 100.0])[:, None, None, None])
        assert head.maps.bias is not None
        head.maps.bias.zero_()
    board = torch.tensor([[[[1.0, 5.0]]]])
    planes = torch.tensor([[[[7.0, 7.0]], [[7.0, 7.0]], [[1.0, 0.0]], [[0.5, 0.5]]]])  # the last two are marks
    terms = torch.tensor([[1000.0, 2000.0]])
    assert head.finish(terms, head(board, planes)).tolist() == [[5 + 100 + 1000, 10 + 2000, 50 + 300 + 2000]]


def test_dueling_by_hand() -> None:
    head = Dueling(1, 2)
    with torch.no_grad():
        for layer, weight in ((head.value, [[2.0]]), (head.advantage, [[1.0], [3.0]])):
            layer.weight.copy_(torch.tensor(weight))
            layer.bias.zero_()
    assert head(torch.tensor([[1.0]])).tolist() == [[1.0, 3.0]]  # 2 + (1, 3) - 2
