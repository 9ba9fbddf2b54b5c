"""Networks by spec."""

from __future__ import annotations

import itertools

import pytest
import torch

import plyground as pg
from plyground.errors import Error
from plyground.networks.make import count_parameters, describe, make_network


def test_the_document_s_network_has_39431_weights() -> None:
    assert count_parameters(make_network("128-128-128", (42,), 7)) == 39_431


def test_the_chess_network_has_its_sizes() -> None:
    sizes = (839, 512, 256, 128, 4096)
    expected = sum(a * b + b for a, b in itertools.pairwise(sizes))
    assert count_parameters(make_network("512-256-128", (839,), 4096)) == expected == 1_122_688
    assert describe("512-256-128", (839,), 4096, False) == "839-512-256-128-4096"


def test_a_head_is_dueling_or_has_a_value() -> None:
    with pytest.raises(Error, match="not both"):
        make_network("16+value", (42,), 7, dueling=True)


def test_the_series_net_has_no_dueling_head() -> None:
    with pytest.raises(Error, match="no dueling head"):
        make_network("connect_zero", (3, 6, 7), 7, dueling=True)


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
