"""The sides of the learners."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from cluster_runs import config_of, plain
from plyground.cluster.feed import Task
from plyground.cluster.players import LocalActors, make_sink
from plyground.cluster.streams import to_bytes
from plyground.errors import UnknownName

pytestmark = pytest.mark.once


def test_other_learners_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"no learner on a cluster 'dqn'.*known: alphazero, ppo"):
        make_sink("dqn", None)


def test_a_block_depends_on_no_threads_of_the_learner() -> None:
    """Actors have their own number, so that a deterministic run is the same wherever it is played."""
    name, config = config_of("alphazero, everything")
    before, found = torch.get_num_threads(), list[tuple[bytes, bytes]]()
    try:
        for count in (1, 2):
            actors = LocalActors(name, plain(replace(config, threads=count)), 8)
            torch.set_num_threads(count)
            weights = to_bytes(actors.player.player.weights())
            actors.submit(Task(0, 0, 1, 0.0, 0), weights, None)
            (done,) = actors.wait(0)
            found.append((done.block, done.after))
            assert torch.get_num_threads() == count, "the learner goes on with its own"
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]
