"""AlphaZero on a cluster: whole games with their targets, and what the learner makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from plyground.cluster.blocks import decode
from plyground.cluster.players import BlockPlayer, make_sink

from cluster_runs import cluster_learner, config_of, plain
from plyground.cluster.feed import Task
from plyground.cluster.streams import to_bytes

pytestmark = pytest.mark.once


def test_a_block_of_alphazero_holds_whole_games_with_their_targets() -> None:
    """The values are the λ-returns of one machine's learner that has played the same games."""
    name, config = config_of("alphazero")
    player = BlockPlayer(name, plain(config), 24)
    found = player.play(Task(0, 0, 1, 0.0, 5), to_bytes(make_sink(name, config).weights()), None)[0]
    block = decode(found, name, player.player.games.game)
    counts = block.results["counts"]
    assert len(block) == counts["plies"], "all plies of the games that have ended"
    ended = block.plies["flags"] & 3
    assert (ended == 1).sum() == counts["games"] > 8
    assert np.allclose(block.plies["policy"].astype(np.float32).sum(1), 1.0, atol=2e-3)
    final = ended == 1
    value, reward = block.plies["values"][final], block.plies["rewards"][final]
    proven = np.isin(value, (-1.0, 0.0, 1.0))
    lam = config.td_lambda
    assert ((value[~proven] - lam * reward[~proven]) <= 1 - lam + 1e-6).all()
    assert (np.abs(block.plies["values"]) <= 1 + 1e-6).all()


def test_the_learner_learns_from_the_values_of_a_block() -> None:
    learner = cluster_learner("alphazero")
    while learner.learner.replay.time < 10:
        learner.iterate()
    own = learner.learner
    indices = own.replay.draw(200)
    assert own.replay.at(own.replay.usable, indices).all()
    targets = own.replay.lambda_returns(indices, own.found.values, 1.0, 0.85)
    assert torch.equal(targets, own.replay.at(own.found.values, indices))
    assert own.found.ended == own.state.plies == 10 * own.config.num_envs
