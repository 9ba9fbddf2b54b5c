"""Streams of games: the same bytes whoever continues them."""

from __future__ import annotations

import pytest

from cluster_runs import RUNS, config_of, plain
from plyground.cluster.feed import Task
from plyground.cluster.players import BlockPlayer, make_sink
from plyground.cluster.streams import to_bytes

pytestmark = pytest.mark.once


@pytest.mark.parametrize("run", RUNS)
def test_a_block_depends_on_its_stream_and_weights_alone(run: str) -> None:
    """One player plays two streams in turn, from bytes; others play only one of them, block after block."""
    name, config = config_of(run)
    weights = to_bytes(make_sink(name, config).weights())
    busy, states = BlockPlayer(name, plain(config), 8), dict[int, bytes | None]({0: None, 1: None})
    played: dict[tuple[int, int], bytes] = {}
    for number in range(8):
        task = Task(number // 2, number % 2, 1, 0.5, 9)
        played[task.stream, task.number], states[task.stream] = busy.play(task, weights, states[task.stream])
    for stream in (0, 1):
        alone, before = BlockPlayer(name, plain(config), 8), None
        for number in range(4):
            block, before = alone.play(Task(number, stream, 1, 0.5, 9), weights, before)
            assert block == played[stream, number]
    assert played[0, 3] != played[1, 3]
