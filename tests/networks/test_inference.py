"""Copies for inference."""

from __future__ import annotations

import torch

from normed import normed
from plyground.networks.inference import without_norm
from plyground.networks.make import count_parameters, make_network


def test_folded_normalisation_gives_the_same_outputs() -> None:
    network, x = normed()
    plain = without_norm(network)
    assert count_parameters(plain) == count_parameters(make_network("b2c8-slim+value", (2, 6, 7), 7))
    for mine, theirs in zip(plain.with_value(x), network.with_value(x), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
