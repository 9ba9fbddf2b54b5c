"""Updates that several learner processes share: the same as one process makes, up to rounding."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from cluster_runs import cluster_learner, config_of, plain
from plyground.cluster.parallel import Group, SharedUpdates, help_learner
from plyground.errors import Error

pytestmark = [pytest.mark.once, pytest.mark.cluster]
STEPS = 24


@contextmanager
def helpers(run: str, place: Path, size: int) -> Generator[tuple[Group, list[Any]]]:
    """Further learner processes, and the group that they wait for."""
    name, config = config_of(run)
    groups = [Group(f"file://{place}", rank, size, "cpu") for rank in range(size)]
    context = multiprocessing.get_context("spawn")
    found = [context.Process(target=help_learner, args=(name, plain(config), tuple(each))) for each in groups[1:]]
    for process in found:
        process.start()
    try:
        yield groups[0], found
    finally:
        for process in found:
            process.join(10)
            process.kill()


def iterate(learner: Any, steps: int) -> None:
    while learner.state.step < steps:
        learner.state.step += learner.iterate() is not None


@pytest.mark.parametrize(("run", "size"), [("alphazero", 2), ("ppo, everything", 3)])
def test_processes_that_share_updates_learn_what_one_learns(run: str, size: int, tmp_path: Path) -> None:
    alone, shared = cluster_learner(run), cluster_learner(run)
    with helpers(run, tmp_path / "group", size) as (group, processes):
        updates = SharedUpdates(shared.sink, group)
        for learner in (alone, shared):
            iterate(learner, STEPS)
        updates.close()
        for process in processes:
            process.join(10)
            assert process.exitcode == 0
    assert alone.state.updates == shared.state.updates > 4
    before = cluster_learner(run).model.network.state_dict()
    for each, values in alone.model.network.state_dict().items():
        torch.testing.assert_close(values, shared.model.network.state_dict()[each], atol=2e-5, rtol=1e-3)
        assert (values - before[each]).abs().max() > 1e-3, "it has learned"


def test_a_learner_process_that_dies_is_said_in_one_sentence(tmp_path: Path) -> None:
    learner = cluster_learner("ppo")
    with helpers("ppo", tmp_path / "group", 2) as (group, processes):
        updates = SharedUpdates(learner.sink, group)
        processes[0].kill()
        with pytest.raises(Error, match=r"another learner process does not answer .*: resume the run"):
            iterate(learner, 100)
        updates.close()
