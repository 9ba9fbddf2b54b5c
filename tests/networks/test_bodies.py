"""Networks."""

from __future__ import annotations

import pytest
import torch

import plyground as pg
from plyground.networks.make import count_parameters, make_network


def test_the_series_network_has_its_sizes() -> None:
    """3 planes, 64 filters, 3 blocks with group norm, a convolution over columns, 448-128-128-7, a value head."""
    convolutions = (3 * 9 + 1) * 64 + 6 * (64 * 9 + 1) * 64 + (64 * 6 + 1) * 64
    norms = 3 * 2 * 2 * 64
    policy, value = ((448 + 1) * a + (a + 1) * a + (a + 1) * b for a, b in ((128, 7), (64, 1)))
    assert count_parameters(make_network("connect_zero", (3, 6, 7), 7)) == convolutions + norms + policy == 323_655
    assert count_parameters(make_network("connect_zero+value", (3, 6, 7), 7)) == convolutions + norms + policy + value
    assert convolutions + norms + policy + value == 356_616


def test_windows_see_the_same_pattern_everywhere() -> None:
    network = make_network("k4c5-8", (2, 6, 7), 7)
    assert count_parameters(network) == (2 * 16 + 1) * 5 + (5 * 3 * 4 + 1) * 8 + (8 + 1) * 7
    x = torch.zeros(2, 2, 6, 7)
    x[0, 0, 1:5, 0] = 1
    x[1, 0, 2:6, 3] = 1  # the same column of four, one row lower and three columns further
    seen = network.windows(x)  # type: ignore
    torch.testing.assert_close(seen[0, :, 1, 0], seen[1, :, 2, 3])


@pytest.mark.parametrize("spec", ["16+value", "b1c4+value", "k3c4-8+value", "connect_zero+value"])
def test_a_value_head_gives_the_same_logits_and_a_value(spec: str) -> None:
    network, x = make_network(spec, (3, 6, 7), 7), torch.randn(5, 3, 6, 7)
    logits, values = network.with_value(x)
    assert (logits == network(x)).all()
    assert values.shape == (5,)
    assert (values.abs() < 1).all()
    assert logits.softmax(1).max() < 0.3, "a fresh policy is nearly even"
    torch.testing.assert_close(network.with_value(x)[1][2:3], network.with_value(x[2:3])[1])


@pytest.mark.parametrize("spec", ["16", "16-8", "b1c4", "b2c3", "k4c3-8"])
@pytest.mark.parametrize("dueling", [False, True])
def test_a_row_alone_equals_the_same_row_in_a_batch(spec: str, dueling: bool) -> None:
    network = make_network(spec, (2, 6, 7), 7, dueling)
    x = torch.randn(5, 2, 6, 7)
    assert network(x).shape == (5, 7)
    torch.testing.assert_close(network(x)[3:4], network(x[3:4]))


def test_any_game_any_encoder(game: pg.Game) -> None:
    for encoder in {str(each) for each in game.encoders.values()}:
        shown = torch.from_numpy(game.encode(encoder, pg.Batch(game, 3).states)).float()
        assert make_network("8", shown.shape[1:], game.num_actions)(shown).shape == (3, game.num_actions)
