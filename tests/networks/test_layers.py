"""Normalisation."""

from __future__ import annotations

import torch

from normed import normed
from plyground.networks.layers import training_mode


def test_outside_training_mode_a_row_does_not_depend_on_its_batch() -> None:
    network, x = normed()
    before = {name: values.clone() for name, values in network.state_dict().items()}
    torch.testing.assert_close(network(x)[:1], network(x[:1]))
    assert all(torch.equal(values, before[name]) for name, values in network.state_dict().items())
    with training_mode(network):
        network(x)
    assert not network.training
    assert any(not torch.equal(values, before[name]) for name, values in network.state_dict().items())
