"""The network with what belongs to it: learning rate, clipping, best version, snapshots."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
import torch

from plyground.backend import parts
from plyground.errors import InvalidValue
from plyground.learners.config import DQN
from plyground.learners.network import LearningNetwork, Snapshots, to_floats
from plyground.learners.state import TrainingState
from small_runs import ROW


def model_of(**changes: Any) -> LearningNetwork:
    return LearningNetwork(DQN(**{"game": ROW, "network": "8", "threads": 1, "learning_rate": 0.5, **changes}))


def test_the_learning_rate_falls_over_the_second_half_and_is_halved_by_rollbacks() -> None:
    model = model_of(learning_rate_final=0.1)
    rates: list[float] = []
    for progress, rollbacks in ((0.0, 0), (0.5, 0), (0.75, 0), (1.0, 0), (1.0, 2)):
        model.schedule_learning_rate(TrainingState(progress=progress, rollbacks=rollbacks))
        rates.append(model.learning_rate)
    assert rates == pytest.approx([0.5, 0.5, 0.5 * 0.55, 0.05, 0.05 / 4])


@pytest.mark.parametrize(("limit", "norm"), [(0.0, 5.0), (10.0, 5.0), (1.0, 1.0)])
def test_gradients_are_clipped_to_their_norm_and_the_norm_before_is_returned(limit: float, norm: float) -> None:
    model = model_of(max_grad_norm=limit)
    for each in model.network.parameters():
        each.grad = torch.zeros_like(each)
    first = next(model.network.parameters())
    assert first.grad is not None
    first.grad[0, 0], first.grad[0, 1] = 3.0, 4.0
    assert model.step().item() == pytest.approx(5.0)
    assert first.grad.norm().item() == pytest.approx(norm, rel=1e-4)


def test_the_same_seed_gives_the_same_network_and_another_another() -> None:
    one, same, other = (model_of(seed=seed).network.state_dict()["body.0.weight"] for seed in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_the_best_version_stays_while_the_network_changes() -> None:
    model = model_of()
    weights = model.network.state_dict()["body.0.weight"]
    before = weights.clone()
    with torch.no_grad():
        weights += 1.0
    assert (model.best.state()["body.0.weight"] == before.numpy()).all()
    assert cast(Any, model.best_agent()).model is model.best
    model.keep_best()
    assert (model.best.state()["body.0.weight"] == (before + 1).numpy()).all()


def test_snapshots_are_copies_and_only_the_newest_are_kept() -> None:
    network = torch.nn.Linear(1, 1)
    snapshots = Snapshots(network, most=2)
    for value in (1.0, 2.0, 3.0):
        with torch.no_grad():
            network.weight.fill_(value)
        snapshots.add(network)
    with torch.no_grad():
        network.weight.fill_(9.0)
    assert [each.state_dict()["weight"].item() for each in snapshots.networks] == [2.0, 3.0]
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    parts.dump("snapshots", snapshots, arrays, plain)
    again = Snapshots(network, most=2)
    again.add(network)
    parts.restore("snapshots", again, arrays, plain)
    assert [each.state_dict()["weight"].item() for each in again.networks] == [2.0, 3.0]


@pytest.mark.parametrize("count", [3, -1, 10**30, "2", None, True])
def test_a_number_of_snapshots_that_no_run_has_is_refused(count: Any) -> None:
    """It would copy the network until the memory is full."""
    snapshots = Snapshots(torch.nn.Linear(1, 1), most=2)
    with pytest.raises(InvalidValue, match="a run keeps 0 to 2 snapshots, not"):
        snapshots.load_state({"count": count})


def test_a_snapshot_is_taken_at_its_interval() -> None:
    model = model_of(snapshot_interval=3, snapshots=9, opponents=("1 snapshot",))
    taken: list[int] = []
    for cycle in range(1, 8):
        before = len(model.snapshot_agents())
        model.end_cycle(cycle)
        taken += [cycle] * (len(model.snapshot_agents()) - before)
    assert taken == [3, 6]


def test_a_run_that_does_not_exist_cannot_initialise_a_network(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="is no run to begin with"):
        model_of(init=str(tmp_path / "nowhere"))
    with pytest.raises(InvalidValue, match="is no run to begin with") as error:
        model_of(init="x" * 5000)
    assert len(str(error.value)) < 500


# ---- by hand ----


def test_metrics_become_floats_in_their_order() -> None:
    found = to_floats({"b": torch.tensor(1.5, requires_grad=True), "a": torch.tensor(2)})
    assert found == {"b": 1.5, "a": 2.0}
    assert list(found) == ["b", "a"]
