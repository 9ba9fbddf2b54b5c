"""A network with normalisation that has seen minibatches."""

from __future__ import annotations

import torch

from plyground.networks.bodies import Network
from plyground.networks.layers import training_mode
from plyground.networks.make import make_network


def normed(seed: int = 0) -> tuple[Network, torch.Tensor]:
    """A network that has seen minibatches and has weights other than the first ones, and boards [64, 2, 6, 7]."""
    torch.manual_seed(seed)
    network, x = make_network("b2c8-norm-slim+value", (2, 6, 7), 7), torch.randn(64, 2, 6, 7)
    with training_mode(network), torch.no_grad():
        for weights in network.parameters():
            weights.add_(0.1 * torch.randn_like(weights))
        network.with_value(x)
    return network, x
