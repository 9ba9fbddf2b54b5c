"""Which block is played with which weights, and in which order blocks are learned from."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from plyground.cluster.actors import Block, Finished, Task
from plyground.cluster.config import ClusterConfig
from plyground.cluster.feed import Feed

pytestmark = pytest.mark.once


class Players:
    """Actors, and Ray's store, whose blocks are ready in an order of the test's choice."""

    def __init__(self, order: Any = None) -> None:
        self.order = order or (lambda tasks: tasks[0])
        self.ray, self.most = self, 0
        self.tasks: list[Task] = []
        self.played: list[tuple[Task, Any, Any]] = []

    def put(self, value: Any) -> Any:
        return value

    def get(self, ref: Any) -> Any:
        return ref

    def submit(self, task: Task, weights: Any, before: Any) -> None:
        self.tasks.append(task)
        self.most = max(self.most, len(self.tasks))
        self.played.append((task, weights, before))

    def wait(self, seconds: float) -> Finished | None:
        chosen = self.order(self.tasks) if self.tasks else None
        if chosen is None:
            return None
        self.tasks.remove(chosen)
        return Finished(chosen, Block({}, {}, {}), {"after": f"{chosen.number} of {chosen.stream}"})

    def abandon(self) -> None:
        self.tasks.clear()


def feed_of(players: Any, **changes: Any) -> Feed:
    config = ClusterConfig(**{"actors": 2, "streams": 4, "max_staleness": 16, **changes})
    feed = Feed(players, config, lambda: b"weights %d" % feed.version)
    return feed


def learn(feed: Feed, blocks: int, changed: bool = True) -> list[Task]:
    """Take blocks, and update the weights after each."""
    found: list[Task] = []
    for _ in range(blocks):
        done = feed.next_block(0.5, 1.0)
        assert done is not None
        found.append(done.task)
        feed.changed |= changed
    return found


def test_in_deterministic_mode_numbers_alone_decide_stream_and_weights() -> None:
    rng = random.Random(0)
    taken = [learn(feed_of(Players(order), deterministic=True), 20) for order in (None, rng.choice, max)]
    assert taken[0] == taken[1] == taken[2]
    for number, task in enumerate(taken[0]):
        assert (task.number, task.stream) == (number, number % 4)
        assert task.version == max(1, number - 2), "published when block k - 4 had been learned from"


def test_otherwise_blocks_are_learned_from_as_they_arrive() -> None:
    numbers = [task.number for task in learn(feed_of(Players(max)), 20)]
    assert numbers != sorted(numbers)
    assert len(set(numbers)) == len(numbers)


def test_no_block_is_older_than_the_bound() -> None:
    players = Players(lambda tasks: max(tasks) if random.Random(len(players.played)).random() < 0.9 else min(tasks))
    feed, stale = feed_of(players, max_staleness=6), list[int]()
    for _ in range(200):
        done = feed.next_block(0.5, 1.0)
        assert done is not None
        stale.append(feed.staleness(done.task))
        feed.changed = True
    assert max(stale) == 6


def test_a_slow_learner_holds_the_actors_back() -> None:
    players = Players()
    feed = feed_of(players)
    for _ in range(6):
        feed.next_block(0.0, 0.0)
    assert len(players.played) == players.most == 4, "one block of each stream"
    learn(feed, 30)
    assert players.most == 4
    idle = feed_of(Players(lambda tasks: None))
    assert idle.next_block(0.0, 0.05) is None
    assert idle.waited >= 0.05


def test_weights_are_published_only_when_they_have_changed_and_streams_go_on() -> None:
    players = Players()
    feed = feed_of(players)
    learn(feed, 8, changed=False)
    assert {weights for _, weights, _ in players.played} == {b"weights 0"}
    feed.changed = True
    learn(feed, 1)
    assert players.played[-1][0].version == 2
    for task, _, before in players.played:
        assert before == (None if task.number < 4 else {"after": f"{task.number - 4} of {task.stream}"})


def saved(feed: Feed) -> dict[str, Any]:
    """As a checkpoint returns it: names of what is inside begin with that of the part."""
    found: dict[str, Any] = {}
    pending = [*feed.state().items()]
    for name, value in pending:
        if isinstance(value, dict):
            pending += [(f"{name}.{each}", inside) for each, inside in value.items()]  # pyright: ignore
        else:
            found[name] = value
    return found


def test_a_deterministic_feed_continues_from_a_checkpoint() -> None:
    whole = learn(feed_of(Players(), deterministic=True), 17)
    feed, other = feed_of(Players(max), deterministic=True), Players()
    begun, again = learn(feed, 9), feed_of(other, deterministic=True)
    again.load_state(saved(feed))
    assert begun + learn(again, 8) == whole
    assert [before for task, _, before in other.played if task.number == 12] == [{"after": "8 of 0"}]


def test_weights_are_published_anew_after_a_rollback() -> None:
    players = Players()
    feed = feed_of(players)
    learn(feed, 2, changed=False)
    feed.publish = lambda: b"restored"
    feed.load_state(saved(feed))
    learn(feed, 1)
    assert {weights for _, weights, _ in players.played[-4:]} == {b"restored"}


def test_another_feed_begins_new_games_after_a_checkpoint() -> None:
    feed, players = feed_of(Players()), Players()
    learn(feed, 9)
    again = feed_of(players)
    again.load_state(saved(feed))
    learn(again, 4)
    assert all(before is None for _, _, before in players.played[:4])
    assert {task.number for task, _, _ in players.played}.isdisjoint(itertools.chain(range(9))), "with other seeds"
