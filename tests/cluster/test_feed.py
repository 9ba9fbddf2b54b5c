"""Which block is played with which weights, and in which order blocks are learned from."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plyground.cluster.config import ClusterConfig
from plyground.cluster.feed import Feed, Finished, Task

pytestmark = pytest.mark.once


class Players:
    """Actors whose blocks are ready in an order of the test's choice."""

    def __init__(self, order: Any = None) -> None:
        self.order = order or (lambda tasks: tasks[0])
        self.tasks: list[Task] = []
        self.most = 0
        self.played: list[tuple[Task, bytes, bytes | None]] = []

    def put(self, data: bytes) -> bytes:
        return data

    def get(self, ref: bytes) -> bytes:
        return ref

    def submit(self, task: Task, weights: bytes, before: bytes | None) -> None:
        self.tasks.append(task)
        self.most = max(self.most, len(self.tasks))
        self.played.append((task, weights, before))

    def wait(self, seconds: float) -> list[Finished]:
        if not self.tasks:
            return []
        chosen = self.order(self.tasks)
        if chosen is None:
            return []
        self.tasks.remove(chosen)
        return [Finished(chosen, b"block %d" % chosen.number, b"stream %d after %d" % (chosen.stream, chosen.number))]

    def abandon(self) -> None:
        self.tasks.clear()


def feed_of(players: Any, **changes: Any) -> Feed:
    config = ClusterConfig(**{"actors": 2, "streams": 4, "max_staleness": 16, **changes})
    feed = Feed(players, config, 0, lambda: b"weights %d" % feed.version)
    return feed


def learn(feed: Feed, blocks: int) -> list[Task]:
    """Take blocks, and update the weights after each."""
    found: list[Task] = []
    for _ in range(blocks):
        done = feed.next_block(0.5, 1.0)
        assert done is not None
        found.append(done.task)
        feed.changed = True
    return found


def test_in_deterministic_mode_numbers_alone_decide_stream_and_weights() -> None:
    rng = random.Random(0)
    taken = [learn(feed_of(Players(order), deterministic=True), 20) for order in (None, rng.choice, max)]
    assert taken[0] == taken[1] == taken[2]
    for number, task in enumerate(taken[0]):
        assert (task.number, task.stream) == (number, number % 4)
        assert task.version == max(1, number - 2), "published when block k - 4 had been learned from"


def test_otherwise_blocks_are_learned_from_as_they_arrive() -> None:
    tasks = learn(feed_of(Players(max)), 20)
    numbers = [task.number for task in tasks]
    assert numbers != sorted(numbers)
    assert len(set(numbers)) == len(numbers)


def test_no_block_is_older_than_the_bound() -> None:
    players = Players(lambda tasks: max(tasks) if random.Random(len(players.played)).random() < 0.9 else min(tasks))
    feed = feed_of(players, max_staleness=6)
    stale: list[int] = []
    for _ in range(200):
        done = feed.next_block(0.5, 1.0)
        assert done is not None
        stale.append(feed.staleness(done.task))
        feed.changed = True
    assert max(stale) == 6


def test_a_slow_learner_holds_the_actors_back() -> None:
    players = Players()
    feed = feed_of(players)
    assert feed.next_block(0.0, 0.0) is None
    for _ in range(5):
        feed.next_block(0.0, 0.0)
    assert len(players.played) == players.most == 4, "one block of each stream"
    learn(feed, 30)
    assert players.most == 4


def test_weights_are_published_only_when_they_have_changed() -> None:
    players = Players()
    feed = feed_of(players)
    for _ in range(8):
        feed.next_block(0.0, 1.0)
    assert {weights for _, weights, _ in players.played} == {b"weights 0"}
    feed.changed = True
    feed.next_block(0.0, 1.0)
    assert players.played[-1][0].version == 2


def test_a_stream_goes_on_where_its_last_block_ended() -> None:
    players = Players()
    learn(feed_of(players), 12)
    for task, _, before in players.played:
        assert before == (None if task.number < 4 else b"stream %d after %d" % (task.stream, task.number - 4))


def test_nothing_comes_where_nobody_plays() -> None:
    feed = feed_of(Players(lambda tasks: None))
    assert feed.next_block(0.0, 0.05) is None
    assert feed.waited >= 0.05


def saved(feed: Feed) -> dict[str, Any]:
    """As a checkpoint returns it: names of what is inside begin with that of the part."""
    state = feed.state()
    tasks = {f"tasks.{stream}": task for stream, task in state.pop("tasks", {}).items()}
    return {**state, **tasks}


def test_a_deterministic_feed_continues_from_a_checkpoint() -> None:
    whole = learn(feed_of(Players(), deterministic=True), 17)
    feed = feed_of(Players(max), deterministic=True)
    begun, state = learn(feed, 9), saved(feed)
    other = Players()
    again = feed_of(other, deterministic=True)
    again.load_state(state)
    assert begun + learn(again, 8) == whole
    assert [before for task, _, before in other.played if task.number == 12] == [b"stream 0 after 8"]


def test_another_feed_begins_new_games_after_a_checkpoint() -> None:
    feed = feed_of(Players())
    learn(feed, 9)
    players = Players()
    again = feed_of(players)
    again.load_state(saved(feed))
    learn(again, 4)
    assert all(before is None for _, _, before in players.played[:4])
    assert players.played[0][0].seed != 0, "other games than those that the first streams began with"
