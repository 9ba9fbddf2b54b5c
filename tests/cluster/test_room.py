"""What a run asks of a cluster is compared with what there is, before anything waits for it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from cluster_runs import config_of
from plyground.cluster import actors, run
from plyground.cluster import room as module
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import Cluster, NoCluster, connect
from plyground.cluster.room import Room
from plyground.cluster.run import helper_needs, on_cluster

pytestmark = pytest.mark.once
ONE_CPU = {"CPU": 1, "GPU": 0}


class Resources:
    """Ray, as far as it tells what there is and reserves it; `room` says at each look whether there is some, and its
    last answer stays. All CPUs count as free, as they may when others have just taken them."""

    def __init__(self, nodes: list[int], gpus: int = 0, room: list[bool] | None = None) -> None:
        self.sizes, self.gpus, self.room = nodes, gpus, room or [True]
        self.groups: list[Any] = []  # bundles of reservations that are held
        self.util = SimpleNamespace(
            placement_group=self.reserve,
            remove_placement_group=lambda group: self.groups.remove(group.bundles),
            scheduling_strategies=SimpleNamespace(PlacementGroupSchedulingStrategy=lambda group, place: place),
        )

    def reserve(self, bundles: list[Any]) -> Any:
        self.groups.append(bundles)
        return SimpleNamespace(bundles=bundles, wait=self.look)

    def look(self, seconds: float) -> bool:
        time.sleep(0.001)
        return self.room.pop(0) if len(self.room) > 1 else self.room[0]

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": float(size)}} for size in self.sizes]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(sum(self.sizes)), "GPU": float(self.gpus)}

    def available_resources(self) -> dict[str, float]:
        return self.cluster_resources()


def cluster(*nodes: int, gpus: int = 0, room: list[bool] | None = None) -> Cluster:
    return Cluster(Resources(list(nodes), gpus, room), "nowhere", ours=False)


@pytest.mark.parametrize(
    ("room", "there", "sentence"),
    [
        (
            Room(2, 0.0, 1, ONE_CPU),
            cluster(2),
            r"2 actors and 1 further learner process take 3 CPUs, .* has 2: take fewer",
        ),
        (Room(1, 0.0, 0, ONE_CPU), cluster(0), "1 actor takes 1 CPU, and the cluster has 0"),
        (Room(9, 0.0, 0, ONE_CPU), cluster(4, 4), "9 actors take 9 CPUs, and the cluster has 8: take fewer"),
        (Room(2, 0.5, 2, {"CPU": 0, "GPU": 1}), cluster(8, gpus=1), "2 actors and 2 further .* take 3 GPUs, .* has 1"),
    ],
)
def test_what_no_cluster_of_that_size_can_give_is_refused_at_once(room: Room, there: Cluster, sentence: str) -> None:
    with pytest.raises(NoCluster, match=sentence):
        room.check(there)


def test_what_fits_is_not_refused() -> None:
    Room(2, 0.0, 2, ONE_CPU).check(cluster(3, 1))
    Room(6, 0.1666, 1, {"CPU": 0, "GPU": 1}).check(cluster(8, gpus=2))


def test_a_run_says_what_it_lacks_before_it_starts_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pretended(where: str) -> Generator[Cluster]:
        yield cluster(2)

    monkeypatch.setattr(run, "connect", pretended)
    before = "ray" in sys.modules
    config = ClusterConfig(on="ray:cpus=2", actors=2, learners=2)
    with (
        pytest.raises(NoCluster, match=r"2 actors and 1 further learner process take 3 CPUs, and the cluster has 2"),
        on_cluster(*config_of("ppo"), config),
    ):
        pass
    assert before == ("ray" in sys.modules), "imported without a token's variables, it would join no cluster later"


def test_a_run_holds_room_for_its_learner_processes_and_its_first_actor_while_it_runs() -> None:
    there = cluster(8, gpus=2, room=[False, False, True])
    with Room(6, 0.5, 1, {"CPU": 0, "GPU": 1}).reserved(there) as places:
        assert there.ray.groups == [[{"GPU": 1}, {"CPU": 1, "GPU": 0.5}]]
        assert places == [0, 1]
    assert not there.ray.groups


def test_a_full_cluster_is_waited_for_and_then_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever Ray counts as free."""
    monkeypatch.setattr(module, "NOTICE", 0.02)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    there = cluster(4, gpus=1, room=[False])
    sentence = "4 actors take at least 1 CPU and 0.25 GPUs to begin, and the cluster has no room until others end"
    why = f"{sentence} (free: 4 of 4 CPUs, 1 of 1 GPU)"
    with (
        caplog.at_level(logging.INFO, "plyground"),
        pytest.raises(NoCluster) as found,
        Room(4, 0.25, 0, ONE_CPU).reserved(there),
    ):
        pass
    assert str(found.value) == f"given up after 0.2 seconds: {why}"
    assert [record.getMessage() for record in caplog.records] == [f"waiting up to 0.2 seconds: {why} ..."]
    assert not there.ray.groups


def test_ctrl_c_during_the_wait_leaves_nothing_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(seconds: float) -> bool:
        raise KeyboardInterrupt

    there = cluster(4)
    monkeypatch.setattr(there.ray, "look", press)
    with pytest.raises(KeyboardInterrupt), Room(4, 0.0, 0, ONE_CPU).reserved(there):
        pass
    assert not there.ray.groups


def test_a_further_learner_process_takes_as_many_cpus_as_it_has_threads() -> None:
    _, settings = config_of("ppo")
    assert helper_needs(cluster(8, 4), replace(settings, threads=6)) == {"CPU": 6, "GPU": 0}
    assert helper_needs(cluster(4, 2), replace(settings, threads=6)) == {"CPU": 4, "GPU": 0}
    assert helper_needs(cluster(4), replace(settings, threads=0)) == {"CPU": 1, "GPU": 0}
    assert helper_needs(cluster(4), SimpleNamespace(device="cuda", threads=6)) == {"CPU": 0, "GPU": 1}


@pytest.mark.parametrize(
    ("actors", "gpus", "share"), [(2, 4, 1.0), (4, 2, 0.5), (3, 2, 0.5), (7, 3, 0.3333), (5, 0, 0.0)]
)
def test_a_whole_number_of_actors_shares_each_gpu(actors: int, gpus: int, share: float) -> None:
    settings, config = SimpleNamespace(device="cuda"), ClusterConfig(actors=actors)
    assert run._gpus_of_each(cluster(8, gpus=gpus), settings, config) == share


@pytest.mark.cluster
def test_a_cluster_that_others_fill_is_named_in_one_sentence_and_used_as_soon_as_they_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waits for a reservation, not for a count: what Ray counts as free may be late, so any count will do here."""

    class Other:
        def works(self) -> bool:
            return True

    config = ClusterConfig(on="ray", actors=1)
    with connect("ray:cpus=1") as there:
        other = there.ray.remote(Other).options(num_cpus=1).remote()
        assert there.ray.get(other.works.remote()), "it has the CPU"
        sentence = r"^given up after 2 seconds: 1 actor takes at least 1 CPU to begin, .* \(free: [01] of 1 CPU\)$"
        with monkeypatch.context() as hasty:
            hasty.setattr(module, "PATIENCE", 2.0)
            hasty.setattr(actors, "PATIENCE", 10.0)  # so that this ends soon if it starts an actor without room
            with pytest.raises(NoCluster, match=sentence), on_cluster(*config_of("ppo"), config):
                pass
        there.ray.kill(other)
        with on_cluster(*config_of("ppo"), config) as learner:
            group: Any = learner.actors
            assert group.alive == 1
