"""PPO on a cluster: rollouts of others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from plyground.cluster.blocks import decode
from plyground.cluster.players import BlockPlayer, make_sink

from cluster_runs import config_of, plain
from plyground.cluster.feed import Task
from plyground.cluster.streams import to_bytes

pytestmark = pytest.mark.once


def test_a_rollout_is_learned_from_as_on_one_machine() -> None:
    """The first rollout of a stream gives the learner the same advantages as its player computes."""
    name, config = config_of("ppo, otherwise")
    player, sink = BlockPlayer(name, plain(config), 8), make_sink(name, config)
    block, _ = player.play(Task(0, 0, 1, 0.0, 5), to_bytes(sink.weights()), None)
    plies, found = decode(block, name, sink.learner.game).plies, list[Any]()
    sink.learner.learn_from_rollout = lambda: found.append(sink.learner.advantages())
    for row in range(config.rollout_length):
        sink.add_row({each: values[row * 8 : row * 8 + 8] for each, values in plies.items()})
    played: Any = player.player
    rollout = played.rollout
    sink.learner.rollout, sink.learner.model = rollout, rollout.model
    for one, other in zip(found[0], sink.learner.advantages(), strict=True):
        assert torch.equal(one, other)
