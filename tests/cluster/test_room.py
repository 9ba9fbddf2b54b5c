"""What a run asks of a cluster is compared with what there is, before anything waits for it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from cluster_runs import config_of
from plyground.cluster import room as module
from plyground.cluster import run
from plyground.cluster.config import ClusterConfig
from plyground.cluster.connect import Cluster, NoCluster
from plyground.cluster.room import Room
from plyground.cluster.run import helper_needs, on_cluster

pytestmark = pytest.mark.once
ONE_CPU = {"CPU": 1, "GPU": 0}


class Resources:
    """Ray, as far as it tells what there is; `free` shrinks the list at each look until one answer is left."""

    def __init__(self, nodes: list[int], gpus: int = 0, free: list[float] | None = None) -> None:
        self.sizes, self.gpus, self.free = nodes, gpus, free or [float(sum(nodes))]

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": float(size)}} for size in self.sizes]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(sum(self.sizes)), "GPU": float(self.gpus)}

    def available_resources(self) -> dict[str, float]:
        free = self.free.pop(0) if len(self.free) > 1 else self.free[0]
        return {"CPU": free, "GPU": float(self.gpus)} if free else {}


def cluster(*nodes: int, gpus: int = 0, free: list[float] | None = None) -> Cluster:
    return Cluster(Resources(list(nodes), gpus, free), "nowhere", ours=False)


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
    Room(3, 0.0, 1, ONE_CPU).wait(cluster(4, free=[2.0]))


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


def test_a_full_cluster_is_waited_for_and_then_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "POLL", 0.01)
    monkeypatch.setattr(module, "NOTICE", 0.02)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    sentence = "4 actors take at least 1 free CPU to begin, and 0 of the cluster's 4 are free"
    with caplog.at_level(logging.INFO, "plyground"), pytest.raises(NoCluster, match=f"^{sentence}: try again when"):
        Room(4, 0.0, 0, ONE_CPU).wait(cluster(4, free=[0.0]))
    assert [record.getMessage() for record in caplog.records] == [f"{sentence}: waiting up to 0 seconds for it ..."]
    Room(4, 0.0, 0, ONE_CPU).wait(cluster(4, free=[0.0, 0.0, 1.0]))  # somebody else has ended


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
