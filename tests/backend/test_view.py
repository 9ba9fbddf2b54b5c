"""What a network sees, and its outputs: the same on every device."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.agents.network import NetworkAgent
from plyground.backend.device import SIMULATED
from plyground.backend.view import View
from plyground.models.network import NetworkModel
from plyground.networks import make_network

PLIES = 7


def played(word: str, device: str) -> tuple[pg.Batch, pg.Batch]:
    arrays, tensors = pg.Batch(pg.load(word), 5, seed=3), pg.Batch(pg.load(word), 5, seed=3, device=device)
    arrays.random_play(PLIES)
    tensors.random_play(PLIES)
    return arrays, tensors


@pytest.mark.parametrize("word", ["chess", "connect_four", "sequence", "paco_sako"])
def test_a_view_shows_legal_actions_at_their_outputs(word: str, device: str) -> None:
    arrays, tensors = played(word, device)
    view, game = View(arrays.game, "", device=device), arrays.game
    lists, counts = arrays.legal_list()
    slots, legal = game.slots(str(view.encoder)), view.legal(tensors.states).cpu().numpy()
    for row, count in enumerate(counts):
        outputs = slots[arrays.position(row).seat, lists[row, :count]]
        assert sorted(outputs) == np.flatnonzero(legal[row]).tolist()
    actions = torch.from_numpy(lists[:, 0].copy()).to(view.device)
    outputs = view.output_of(tensors.states, actions)
    assert outputs.dtype == torch.int64
    assert torch.equal(view.action_of(tensors.states, outputs), actions)
    expected = torch.from_numpy(game.encode(view.observed, arrays.states)).float()
    assert torch.equal(view.observe(tensors.states).cpu(), expected)
    assert view.shape == tuple(expected.shape[1:])


@pytest.mark.parametrize("word", ["chess", "connect_four"])
def test_records_are_seen_like_rows_of_bytes(word: str, device: str) -> None:
    arrays, tensors = played(word, device)
    view = View(arrays.game, "", device=device)
    rows = view.rows(arrays.states)
    assert torch.equal(view.observe(rows), view.observe(tensors.states))
    assert torch.equal(view.legal(rows), view.legal(tensors.states))
    assert torch.equal(view.observe(view.rows(arrays.states[::2])), view.observe(tensors.states)[::2])
    frozen = arrays.states.copy()
    frozen.flags.writeable = False
    assert torch.equal(view.observe(view.rows(frozen)), view.observe(tensors.states)), "without torch's warning"
    if device == "cpu":
        assert np.shares_memory(rows.numpy(), arrays.states)
    network = make_network("8", view.shape, view.outputs).to(view.device)
    agent = NetworkAgent(NetworkModel(view, network))
    assert agent.choose(tensors.states, torch.zeros(5)).tolist() == agent.act(arrays.states, arrays.rngs).tolist()


def test_a_network_with_few_outputs_sees_the_first_ones(connect_four: pg.Game, device: str) -> None:
    batch = pg.Batch(connect_four, 2, device=device)
    assert View(connect_four, "", 3, device).legal(batch.states).tolist() == [[True] * 3] * 2
    with pytest.raises(pg.InvalidValue, match="has 1 to 7 outputs, not 8"):
        View(connect_four, "", 8, device)


def test_a_turned_board_with_few_outputs_leaves_the_others_out(device: str) -> None:
    chess = pg.load("chess")
    batch = pg.Batch(chess, 2, device=device)
    batch.step([batch.position(0).action("e2e4")] * 2)  # black's view is turned
    whole, part = View(chess, "", device=device), View(chess, "", 1000, device)
    assert whole.turned
    assert torch.equal(part.legal(batch.states), whole.legal(batch.states)[:, :1000])


@pytest.mark.parametrize("word", ["chess", "paco_sako"])
def test_an_index_encoder_is_seen_as_the_dense_one_it_stands_for(word: str, device: str) -> None:
    game = pg.load(word)
    index, batch = game.encoder("index"), pg.Batch(game, 2 if SIMULATED else 20, device=device)
    batch.random_play(5)
    expected = batch.encode(index.dense)
    assert torch.equal(View(game, str(index), device=device).observe(batch.states), expected)
    assert torch.equal(batch.on.expand(index, batch.encode(str(index))), expected)
