"""The replay buffer: n-step returns by hand, which plies are sampled and how often, and how it is saved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import plyground as pg
from conftest import TINY
from plyground.backend import parts
from plyground.batch import Batch
from plyground.errors import Error
from plyground.kernels.replay import TERMINATED
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import Transition

G = 0.9


Log = list[tuple[Tensor, Tensor, Tensor, Tensor, Tensor]]  # states, actions, rewards, next_states, terminated


def filled(game: pg.Game, steps: int, rows: int = 8, envs: int = 4, **options: Any) -> tuple[ReplayBuffer, Log]:
    replay, batch, log = (
        ReplayBuffer(game, "cpu", rows * envs, envs, seed=1, **options),
        Batch(game, envs, 2, device="cpu"),
        [],
    )
    everything = torch.ones(envs, dtype=torch.bool)
    for _ in range(steps):
        states, actions, lengths = batch.on.heads(batch.states), batch.random_actions(), batch.plies + 1
        rewards, terminated, truncated = batch.step(actions)
        next_states = batch.next_states.clone()
        ply = Transition(states, actions, rewards, batch.next_states, terminated, truncated, everything, lengths)
        replay.add(ply, everything)
        log.append((states, actions, rewards, next_states, terminated))
    return replay, log


def test_the_newest_plies_are_kept(connect_four: pg.Game) -> None:
    replay, log = filled(connect_four, 11)
    assert len(replay) == replay.capacity == 32
    assert replay.newest == 2
    for row, step in enumerate([8, 9, 10, 3, 4, 5, 6, 7]):
        assert torch.equal(replay.states[row], log[step][0])
        assert torch.equal(replay.next_states[row], log[step][3])
        assert torch.equal(replay.actions[row], log[step][1])


def test_the_newest_rows_are_read_as_records_newest_first(connect_four: pg.Game) -> None:
    replay, log = filled(connect_four, 11)
    states, actions, rewards, ended = replay.newest_rows(4)
    for back in range(4):
        expected = log[10 - back]
        assert (states[back] == replay.games.to_records(expected[0])).all()
        assert actions[back].tolist() == expected[1].tolist()
        assert rewards[back].tolist() == expected[2].tolist()
        assert (ended[back] == TERMINATED).tolist() == expected[4].tolist()


@pytest.mark.parametrize("spec", ["connect_four", TINY[1], TINY[0]])
def test_samples_are_what_happened(spec: str) -> None:
    """One-step samples against the log of the games, on turns that alternate and turns that do not."""
    game = pg.load(spec)
    replay, log = filled(game, 50, rows=60)
    sample = replay.sample(300, gamma=G)
    for k, place in enumerate(sample.indices):
        step, env = divmod(int(place), 4)
        states, actions, rewards, next_states, terminated = (part[env] for part in log[step])
        assert torch.equal(sample.states[k], states)
        assert torch.equal(sample.next_states[k], next_states)
        assert sample.actions[k] == actions
        assert sample.returns[k] == rewards
        before, after = replay.games.to_records(torch.stack([states, next_states]))
        same = before["to_move"] == after["to_move"]
        wanted = 0.0 if terminated else 1.0 if same else -G
        assert sample.bootstrap_discounts[k].item() == pytest.approx(wanted)


def test_uniform_samples_are_uniform(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8)
    counts = np.bincount(replay.sample(64_000).indices, minlength=32)
    assert abs(counts - 2000).max() < 6 * np.sqrt(2000)


def test_every_sample_has_its_own_seed(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8)
    drawn = [tuple(replay.sample(16).indices.tolist()) for _ in range(5)]
    assert len(set(drawn)) == 5


def test_plies_that_are_not_usable_are_not_sampled(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8)
    replay.usable[:, 1] = False
    assert not (replay.sample(1000).indices % 4 == 1).any()


def won_in(env: int, length: int, replay: ReplayBuffer) -> Transition:
    """A ply that ends the game of one environment, of four, after so many plies."""
    won = torch.zeros(4, dtype=torch.bool)
    won[env] = True
    heads = replay.games.from_records(replay.game.heads(replay.game.position("1212121").states)).repeat(4, 1)
    lengths = torch.full((4,), length, dtype=torch.int32)
    return Transition(heads, torch.zeros(4).int(), torch.zeros(4), heads, won, ~won, won, lengths)


def test_shares_of_recent_plies_and_of_decided_games(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8)
    replay.mark_decided(won_in(2, 3, replay))
    assert replay.decided.sum() == 3, "a truncated game is not decided"
    assert replay.decided[5:, 2].all()
    indices = replay.sample(8000, decided_share=0.5).indices
    assert np.isin(indices, [22, 26, 30]).mean() == pytest.approx(0.5 + 0.5 * 3 / 32, abs=0.03)
    indices = replay.sample(8000, recent_share=0.5, recent_rows=2).indices
    assert (indices >= 24).float().mean().item() == pytest.approx(0.5 + 0.5 / 4, abs=0.03)


def test_a_ply_that_overwrites_a_decided_one_is_not_decided(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8)
    replay.mark_decided(won_in(2, 8, replay))
    assert replay.decided[:, 2].all()
    replay.add(won_in(0, 1, replay), torch.ones(4, dtype=torch.bool))
    assert not replay.decided[0].any()


def test_prioritized_samples_follow_their_priorities(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8, prioritized=True)
    errors = torch.arange(32.0)
    replay.update_priorities(torch.arange(32), -errors, alpha=0.5)
    wanted = (errors.numpy() + 1e-3) ** 0.5
    sample = replay.sample(64_000, beta=1.0)
    counts = np.bincount(sample.indices, minlength=32)
    np.testing.assert_allclose(counts / 64_000, wanted / wanted.sum(), atol=0.004)
    # Weights that correct in full make the weighted sum uniform again.
    total = np.bincount(sample.indices, weights=sample.weights, minlength=32)
    np.testing.assert_allclose(total[1:] / total[1:].sum(), 1 / 31, rtol=0.15)
    assert sample.weights.max() == 1


def test_new_plies_get_the_highest_priority_and_unusable_ones_none(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 8, prioritized=True)
    replay.update_priorities(torch.arange(32), torch.full((32,), 3.0), alpha=1.0)
    replay.add(won_in(0, 1, replay), torch.tensor([True, False, True, True]))
    assert replay.tree is not None
    tree = replay.tree.tree
    leaves = tree[len(tree) // 2 :]
    assert leaves[:4].tolist() == pytest.approx([3.001, 0.0, 3.001, 3.001])
    assert tree[1].item() == pytest.approx(leaves.sum().item())
    assert not (replay.sample(2000).indices == 1).any()


# ---- saving ----


def copied(replay: ReplayBuffer, again: ReplayBuffer) -> ReplayBuffer:
    """`again` with what was saved of `replay`."""
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    parts.dump("replay", replay, arrays, plain)
    parts.restore("replay", again, {name: values.copy() for name, values in arrays.items()}, plain)
    return again


@pytest.mark.parametrize("prioritized", [False, True])
@pytest.mark.parametrize("steps", [3, 8, 11])
def test_a_restored_buffer_continues_as_the_saved_one(connect_four: pg.Game, steps: int, prioritized: bool) -> None:
    replay, _ = filled(connect_four, steps, prioritized=prioritized)
    replay.mark_decided(won_in(2, 2, replay))
    again = copied(replay, ReplayBuffer(connect_four, "cpu", 32, 4, seed=99, prioritized=prioritized))
    assert len(again) == len(replay)
    for _ in range(3):
        one, other = replay.sample(16, decided_share=0.3), again.sample(16, decided_share=0.3)
        for name, values in one._asdict().items():
            assert torch.equal(values, getattr(other, name)), name


def test_only_the_rows_in_use_are_saved(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 3)
    assert len(replay.state()["states"]) == 3


def test_a_buffer_of_another_size_is_refused(connect_four: pg.Game) -> None:
    replay, _ = filled(connect_four, 5)
    with pytest.raises(Error, match="not of this run"):
        copied(replay, ReplayBuffer(connect_four, "cpu", 64, 8))
    with pytest.raises(Error, match="a buffer of 7 plies is too small for 4 environments: at least 8"):
        ReplayBuffer(connect_four, "cpu", 7, 4)
