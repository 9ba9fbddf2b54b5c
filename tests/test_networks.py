"""Networks by spec."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.errors import Error
from plyground.networks import (
    Dueling,
    Network,
    Pairs,
    Parts,
    count_parameters,
    describe,
    entropy,
    entropy_of,
    log_probabilities,
    make_network,
    masked,
    sample_actions,
    training_mode,
    without_norm,
)


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


def normed(seed: int = 0) -> tuple[Network, torch.Tensor]:
    """A network that has seen minibatches and has weights other than the first ones, and boards [64, 2, 6, 7]."""
    torch.manual_seed(seed)
    network, x = make_network("b2c8-norm-slim+value", (2, 6, 7), 7), torch.randn(64, 2, 6, 7)
    with training_mode(network), torch.no_grad():
        for weights in network.parameters():
            weights.add_(0.1 * torch.randn_like(weights))
        network.with_value(x)
    return network, x


def test_folded_normalisation_gives_the_same_outputs() -> None:
    network, x = normed()
    plain = without_norm(network)
    assert count_parameters(plain) == count_parameters(make_network("b2c8-slim+value", (2, 6, 7), 7))
    for mine, theirs in zip(plain.with_value(x), network.with_value(x), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_outside_training_mode_a_row_does_not_depend_on_its_batch() -> None:
    network, x = normed()
    before = {name: values.clone() for name, values in network.state_dict().items()}
    torch.testing.assert_close(network(x)[:1], network(x[:1]))
    assert all(torch.equal(values, before[name]) for name, values in network.state_dict().items())
    with training_mode(network):
        network(x)
    assert not network.training
    assert any(not torch.equal(values, before[name]) for name, values in network.state_dict().items())


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


def test_parts_need_an_encoder_that_has_them() -> None:
    game = pg.load("sequence")
    parts = game.encoder("lines").parts
    assert parts is not None
    network = make_network("b1c4-slim-parts+value", (51, 10, 10), game.num_actions, parts=parts())
    assert network(torch.randn(2, 51, 10, 10)).shape == (2, game.num_actions)
    with pytest.raises(Error, match="of what parts"):
        make_network("b1c4-parts", (51, 10, 10), game.num_actions)


def test_slim_networks_have_a_fraction_of_the_weights() -> None:
    sizes = [count_parameters(make_network(f"b2c32{form}-pairs+value", (20, 8, 8), 4168)) for form in ("", "-slim")]
    assert 2 * sizes[1] < sizes[0]


def test_pairs_need_enough_actions() -> None:
    assert make_network("b1c4-pairs", (3, 2, 2), 18)(torch.randn(5, 3, 2, 2)).shape == (5, 18)
    with pytest.raises(Error, match="pair of 42 squares"):
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


# ---- by hand ----

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
