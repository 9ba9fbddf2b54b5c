"""REINFORCE: which plies it learns from, their returns by hand, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from plyground.kernels.replay import RUNS_ON, TERMINATED, TRUNCATED
from small_runs import REINFORCE_SOLVES, check_three_in_a_row, learner_of, scripted, trained


def test_it_learns_from_each_game_once_when_it_has_ended() -> None:
    learner = learner_of("reinforce", rollout_length=4, num_envs=16)
    rollout, replay = learner.rollout, learner.rollout.replay
    learned: list[tuple[int, int]] = []
    ended = 0
    for _ in range(10):
        for _ in range(4):
            rollout.play()
        found = learner.advantages()
        indices = found.indices.numpy()
        rows = (replay.newest - indices // 16) % 8
        learned += [(replay.time - 1 - int(age), int(env)) for age, env in zip(rows, indices % 16, strict=True)]
        ended += int((replay.plies.ended[(replay.newest - np.arange(4)) % 8] != RUNS_ON).sum())
        results = np.abs(found.returns.numpy())
        assert np.isclose(results[:, None], [0.0, *(0.99**k for k in range(9))]).any(axis=1).all()
    games = rollout.games.results.games
    assert ended == games > 50
    assert len(set(learned)) == len(learned), "no ply twice"
    plies = rollout.games.results.counts["plies"]
    assert plies - 2 * games < len(learned) <= plies, "only plies further back than two rollouts are missing"


WON = [(0, 1, 0.0, RUNS_ON), (1, 1, 0.0, RUNS_ON), (1, 0, 1.0, TERMINATED), (0, 1, 0.0, RUNS_ON)]


def test_the_return_is_the_result_discounted_where_the_turn_passed() -> None:
    """Side 1 acts twice and wins; the last ply's game continues, so it waits."""
    found = scripted("reinforce", WON, [0.5] * 4, baseline=False).advantages()
    assert found.indices.tolist() == [0, 1, 2]
    assert found.returns.tolist() == pytest.approx([-0.9, 1.0, 1.0])
    assert found.advantages.tolist() == found.returns.tolist(), "without a baseline the return alone"


def test_the_baseline_is_subtracted() -> None:
    found = scripted("reinforce", WON, [0.1, 0.2, 0.3, 0.4]).advantages()
    plain = np.array([-1.0, 0.8, 0.7])
    assert found.returns.tolist() == pytest.approx([-0.9, 1.0, 1.0])
    assert found.advantages.tolist() == pytest.approx(list((plain - plain.mean()) / plain.std()), abs=1e-5)


def test_a_truncated_game_counts_as_a_draw() -> None:
    plies = [(0, 1, 0.0, RUNS_ON), (1, 0, 0.0, TRUNCATED)]
    found = scripted("reinforce", plies, [0.5, 0.5], baseline=False).advantages()
    assert found.returns.tolist() == [0.0, 0.0]


def test_it_never_loses_three_in_a_row_to_perfect_play_as_first_player() -> None:
    check_three_in_a_row(trained("reinforce", **REINFORCE_SOLVES))
