"""Paco Ŝako as numbers for a network."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import JIT

OPTIONS = [(bool(o & 1), bool(o & 2), bool(o & 4)) for o in range(8)]


def test_the_examples_of_seed_004(paco_sako: pg.Game) -> None:
    """The second is printed there with other option names; it is the absolute one with both extra layers."""
    pieces = [
        64,
        129,
        194,
        259,
        324,
        197,
        134,
        71,
        *range(8, 16),
        *range(432, 440),
        504,
        569,
        634,
        699,
        764,
        637,
        574,
        511,
    ]
    start = paco_sako.start()
    assert start.encode("index").tolist() == [*pieces, 64, 1, 1, 1, 1, 0]
    assert start.encode("index_absolute_lift_promote").tolist() == [*pieces, 64, 1, 1, 1, 1, 0, 1, 0, 0]
    assert start.encode("tensor").sum() == 288


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_indices_expand_to_the_tensor(paco_sako: pg.Game, options: tuple[bool, bool, bool]) -> None:
    import torch

    from plyground.games.paco_sako.encoders import encoder_name, expand

    batch = pg.Batch(paco_sako, 2500 if JIT else 3, seed=6)
    for _ in range(8 if JIT else 2):
        batch.random_play(41 if JIT else 3)
        tensor = torch.from_numpy(batch.encode(encoder_name("tensor", *options)))
        index = batch.encode(encoder_name("index", *options))
        assert index.dtype == np.uint32
        assert tensor.shape[1] == 30 + (not options[0]) + options[1] + options[2] == index.shape[1] - 8
        assert torch.equal(expand(torch.from_numpy(index)), tensor)
        assert torch.equal(expand(torch.from_numpy(index.astype(np.int16))), tensor)


@pytest.mark.parametrize(
    "text", ["8/8/8/8/8/8/8/8 w 0 - - -", "8/8/8/8/2p5/8/3D4/4K3^e7d b 7 - d3 -", "4k3/8/8/8/8/8/8/R3K3 b 0 A - -"]
)
def test_boards_with_few_pieces_expand_too(paco_sako: pg.Game, text: str) -> None:
    import torch

    from plyground.games.paco_sako.encoders import expand

    position = paco_sako.position(text)
    for seat in (0, 1):
        index, tensor = (torch.from_numpy(position.encode(name, seat)[None]) for name in ("index", "tensor"))
        assert torch.equal(expand(index), tensor)


def test_expand_refuses_other_shapes() -> None:
    import torch

    from plyground.games.paco_sako.encoders import expand

    for shape in ((38,), (1, 37), (1, 42)):
        with pytest.raises(pg.InvalidValue, match="38 to 41"):
            expand(torch.zeros(shape, dtype=torch.int16))
