"""Rollouts: what is stored of a ply, which plies are learned from, what an update does."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.agents.network import SamplingAgent
from plyground.errors import Error
from plyground.kernels.replay import RUNS_ON, TERMINATED, TRUNCATED
from plyground.learners.rollout import PolicyBatch, normalized, policy_gradient_loss
from plyground.learners.training import train
from plyground.networks import entropy_of, log_probabilities
from resumed import begin, check_resume, silent
from runs_on_disk import read_records
from small_runs import POLICY_LEARNERS, VARIANTS, learner_of, scripted, short

# ---- play ----


def test_plies_of_opponents_are_not_learned_from() -> None:
    learner = learner_of("ppo", opponents=("1 random",))
    rollout, replay = learner.rollout, learner.rollout.replay
    for _ in range(6):
        rollout.play()
    theirs = (replay.plies.sides != rollout.games.side).numpy()
    ended = replay.plies.ended.numpy() != RUNS_ON
    running = np.cumsum(ended[::-1], axis=0)[::-1] == 0  # the games that still continue
    usable = replay.usable.numpy()
    assert (usable[running] == ~theirs[running]).all()
    assert 0 < usable.sum() < usable.size
    assert learner.advantages().indices.tolist() == np.flatnonzero(usable).tolist()


def test_the_stored_state_is_the_image_that_the_network_saw() -> None:
    learner = learner_of("ppo", game="connect_four", num_envs=64, opening_plies=9)
    rollout, replay, view, game = learner.rollout, learner.rollout.replay, learner.model.view, learner.game
    for _ in range(6):
        rollout.play()
    states, actions = replay.states.flatten(0, 1), replay.actions.flatten()
    with torch.no_grad():
        logits, values = learner.model.network.with_value(view.observe(states))
        logs = log_probabilities(logits, view.legal(states)).gather(1, actions.long()[:, None])[:, 0]
    torch.testing.assert_close(logs, rollout.log_probs.flatten(), atol=1e-5, rtol=0)
    torch.testing.assert_close(values, rollout.values.flatten(), atol=1e-5, rtol=0)
    played, after = view.on.to_records(states).copy(), view.on.to_records(replay.next_states.flatten(0, 1))
    game.kernels().play_all(played, actions.numpy(), np.zeros(len(played), np.uint64), game.work())
    rows = view.on.from_records(played)
    view.on.transform(rows, torch.ones(len(rows), dtype=torch.int32))
    mirrored = view.on.to_records(rows)
    same, turned = played["stones"] == after["stones"], mirrored["stones"] == after["stones"]
    assert (same.all(1) | turned.all(1)).all()
    assert 100 < same.all(1).sum() < 284, "about half of them are turned"


def test_without_symmetries_the_state_itself_is_stored() -> None:
    rollout = learner_of("ppo", game="connect_four", symmetries=False).rollout
    before = rollout.view.on.heads(rollout.games.batch.states)
    rollout.play()
    assert torch.equal(rollout.replay.states[0], before)


def test_a_rollout_is_complete_after_its_length() -> None:
    rollout = learner_of("reinforce", rollout_length=3).rollout
    complete: list[bool] = []
    for _ in range(7):
        complete.append(rollout.play())
    assert complete == [False, False, True, False, False, True, False]


def test_next_values_come_from_the_next_row_and_the_network() -> None:
    """0 where a game has ended; the network's value where a game was truncated and where the rollout ends."""
    plies = [(0, 1, 0.0, RUNS_ON), (1, 0, 0.0, TRUNCATED), (0, 1, 1.0, TERMINATED), (1, 0, 0.0, RUNS_ON)]
    learner = scripted("ppo", plies, [0.1, 0.2, 0.3, 0.4])
    rollout = learner.rollout
    states = rollout.view.on.heads(rollout.games.batch.states)
    rollout.replay.next_states[:] = states
    with torch.no_grad():
        value = learner.model.network.with_value(rollout.view.observe(states))[1].item()
    assert value != 0
    assert rollout.next_values().flatten().tolist() == pytest.approx([0.2, value, 0.0, value])


def test_a_sampling_agent_plays_as_often_as_its_network_says(connect_four: pg.Game) -> None:
    model = learner_of("ppo", game="connect_four").model
    start = connect_four.start().states
    with torch.no_grad():
        model.network.head.policy.bias[:] = torch.arange(7) / 3
        wanted = model.network(model.view.observe(model.view.rows(start))).softmax(1)[0].numpy()
    agent = SamplingAgent(model.present)
    actions = agent.act(np.repeat(start, 20_000), pg.Batch(connect_four, 20_000, seed=5).rngs)
    np.testing.assert_allclose(np.bincount(actions, minlength=7) / 20_000, wanted, atol=0.02)
    assert isinstance(learner_of("ppo", opponents=("1 snapshot",)).model.agent(), type(model.agent()))
    model.snapshots.add(model.network)
    assert [type(each) for each in model.snapshot_agents()] == [SamplingAgent], "snapshots play as the policy did"


# ---- updates ----


def test_the_loss_is_policy_value_and_entropy_with_their_coefficients() -> None:
    learner = learner_of("ppo", entropy_coef=0.2, entropy_coef_final=0.5, value_coef=0.7)
    rollout, view, replay = learner.rollout, learner.model.view, learner.rollout.replay
    for _ in range(6):
        rollout.play()
    learner.state.progress = 0.5
    rollout.schedule_entropy()
    indices = torch.arange(16)
    batch = PolicyBatch(indices, torch.linspace(-1, 1, 16), torch.linspace(0.5, -0.5, 16))
    loss, means = rollout._loss(
        rollout.minibatch(batch), lambda logs, old, advantages: policy_gradient_loss(logs, advantages)
    )
    states, actions = replay.at(replay.states, indices), replay.at(replay.actions, indices).long()
    logits, values = learner.model.network.with_value(view.observe(states))
    logs = log_probabilities(logits, view.legal(states))
    entropy = entropy_of(logs, view.legal(states)).mean()
    actor = -(logs.gather(1, actions[:, None])[:, 0] * batch.advantages).mean()
    wanted = actor + 0.7 * ((values - batch.returns) ** 2).mean() - 0.2 * 0.75 * entropy
    assert loss.item() == pytest.approx(wanted.item(), abs=1e-6)
    errors = (values - batch.returns).abs().mean()
    assert means.tolist() == pytest.approx([actor.item(), errors.item(), entropy.item(), 0.0], abs=1e-5)


def test_an_update_in_parts_equals_one_of_the_whole_batch() -> None:
    found: list[dict[str, torch.Tensor]] = []
    for size in (16, 48):
        learner = learner_of("a2c", batch_size=size)
        for _ in range(6):
            learner.iterate()
        assert learner.state.updates == 1
        found.append(learner.model.network.state_dict())
    for name, values in found[0].items():
        torch.testing.assert_close(values, found[1][name], atol=1e-5, rtol=1e-4)


# ---- runs ----


@pytest.mark.parametrize("name", POLICY_LEARNERS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, name: str, variant: str) -> None:
    check_resume(tmp_path, short(name, **VARIANTS[variant], cycles=9), 33)


def test_a_run_records_its_metrics_and_puzzles(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("ppo"))
    with run:
        assert train(learner, run, silent)
    records = read_records(run.path)
    cycles = [record for record in records if record["event"] == "cycle"]
    assert {"policy_loss", "value_error", "entropy", "gradient", "kl", "distinct"} <= cycles[-1].keys()
    evaluation = next(record for record in records if record["event"] == "evaluation")
    assert evaluation["puzzles"].keys() == {"win_in_1", "block_in_1"}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ppo", {"network": "16"}, r"value head: 16\+value, not 16"),
        ("ppo", {"gae_lambda": 1.5}, "gae_lambda is at most 1"),
        ("ppo", {"epochs": 0}, "epochs is a number of at least 1"),
        ("a2c", {"n_steps": 0}, "n_steps is a number of at least 1"),
        ("reinforce", {"rollout_length": 1}, "rollout_length is a number of at least 2"),
        ("reinforce", {"entropy_coef_final": 2.0}, "entropy_coef_final is at most 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(name: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        short(name, **change)


@pytest.mark.parametrize("name", ["paco_sako", "sequence", "chess"])
def test_a_rollout_of_any_built_in_game(name: str) -> None:
    learner, metrics = learner_of("ppo", game=name, max_plies=8, num_envs=4), dict[str, float]()
    for _ in range(12):
        metrics = learner.iterate() or metrics
    assert learner.state.updates > 0
    assert metrics
    assert all(np.isfinite(value) for value in metrics.values())


# ---- by hand ----


def test_the_policy_gradient_by_hand() -> None:
    values = torch.zeros(1, 2, requires_grad=True)
    logs = log_probabilities(values, torch.ones(1, 2, dtype=torch.bool))[:, 0]
    policy_gradient_loss(logs, torch.tensor([2.0])).backward()
    assert values.grad is not None
    assert values.grad[0].tolist() == pytest.approx([-1.0, 1.0])  # -2 (1 - p), 2 p


def test_normalized_advantages_have_mean_0_and_deviation_1() -> None:
    found = normalized(torch.tensor([1.0, 2.0, 6.0]))
    assert found.tolist() == pytest.approx([x / math.sqrt(14 / 3) for x in (-2.0, -1.0, 3.0)])
    assert normalized(torch.zeros(0)).shape == (0,)
    assert normalized(torch.tensor([3.0])).tolist() == [0.0], "one ply says nothing about scale"
