"""Tokens to dense observations, on the CPU; `backend/test_games.py` compares a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plyground as pg
from plyground.kernels.cache import load_kernels

PALETTE = (np.arange(101) / np.float32(100)).astype(np.float32)


def expanded(game: pg.Game, tokens: Any) -> Any:
    index = game.encoder("index")
    out = np.zeros((len(tokens), int(np.prod(game.encoder(index.dense).shape))), np.float32)
    assert index.spread is not None
    load_kernels("expand", {"spread": index.spread}, f"{game.label} spread").expand_all(tokens, PALETTE, out)
    return out


@pytest.mark.parametrize("word", ["chess", "paco_sako"])
def test_tokens_expand_to_the_dense_encoder(word: str) -> None:
    game = pg.load(word)
    batch = pg.Batch(game, 6, seed=3)
    batch.random_play(20)
    dense = batch.encode(game.encoder("index").dense)
    assert (expanded(game, batch.encode("index")) == dense.reshape(6, -1)).all()


def test_tokens_out_of_any_vocabulary_write_nothing_outside_a_row() -> None:
    found = expanded(pg.load("chess"), np.array([[-32768, -1, 32767, 839, 2000] * 8] * 3, np.int16))
    assert ((found >= 0) & (found <= 1)).all()
