"""Networks by spec."""

from __future__ import annotations

import itertools

import pytest
import torch

import plyground as pg
from plyground.errors import Error
from plyground.networks import Dueling, Pairs, count_parameters, describe, make_network


def test_the_document_s_network_has_39431_weights() -> None:
    assert count_parameters(make_network("128-128-128", (42,), 7)) == 39_431


def test_the_chess_network_has_its_sizes() -> None:
    sizes = (839, 512, 256, 128, 4096)
    expected = sum(a * b + b for a, b in itertools.pairwise(sizes))
    assert count_parameters(make_network("512-256-128", (839,), 4096)) == expected == 1_122_688
    assert describe("512-256-128", (839,), 4096, False) == "839-512-256-128-4096"


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


def test_a_head_is_dueling_or_has_a_value() -> None:
    with pytest.raises(Error, match="not both"):
        make_network("16+value", (42,), 7, dueling=True)


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


def test_the_series_net_has_no_dueling_head() -> None:
    with pytest.raises(Error, match="no dueling head"):
        make_network("connect_zero", (3, 6, 7), 7, dueling=True)


def test_pairs_by_hand() -> None:
    """Two squares, one channel: each action is the product of what its two squares give; the last has no pair."""
    head = Pairs(1, 1)
    with torch.no_grad():
        for layer, weight in ((head.source, 2.0), (head.target, 3.0)):
            layer.weight.fill_(weight)
            assert layer.bias is not None
            layer.bias.zero_()
    squares = torch.tensor([[[[1.0, 5.0]]]])
    assert head(squares).tolist() == [[6.0, 30.0, 30.0, 150.0, 0.0]]


def test_pairs_need_enough_actions() -> None:
    assert make_network("b1c4-pairs", (3, 2, 2), 18)(torch.randn(5, 3, 2, 2)).shape == (5, 18)
    with pytest.raises(Error, match="two of 42 squares"):
        make_network("b1c4-pairs", (2, 6, 7), 7)


def test_dueling_by_hand() -> None:
    head = Dueling(1, 2)
    with torch.no_grad():
        for layer, weight in ((head.value, [[2.0]]), (head.advantage, [[1.0], [3.0]])):
            layer.weight.copy_(torch.tensor(weight))
            layer.bias.zero_()
    assert head(torch.tensor([[1.0]])).tolist() == [[1.0, 3.0]]  # 2 + (1, 3) - 2


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "big",
        "0",
        "512--256",
        "b4",
        "b0c64",
        "k4c8",
        "k7c4-8",
        "k0c4-8",
        "9999999",
        "-".join(["4"] * 65),
        "k4c64-0",
        "k4c64-9999",
    ],
)
def test_bad_specs_are_refused(spec: str) -> None:
    with pytest.raises(Error):
        make_network(spec, (2, 6, 7), 7)


def test_a_convolution_over_a_flat_encoder_is_refused() -> None:
    with pytest.raises(Error, match=r"this encoder writes \(42,\)"):
        make_network("b4c64", (42,), 7)
