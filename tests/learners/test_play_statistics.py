"""Statistics of stored plies, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.backend.games import on_device
from plyground.learners.play_statistics import cycle_statistics, quality, statistics
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import GameResults, Transition


def filled(game: pg.Game) -> ReplayBuffer:
    """Three rows of two environments: five distinct positions, columns 1 and 2 and 4, one win, one truncation."""
    games, replay = on_device(game, "cpu"), ReplayBuffer(game, "cpu", 20, 2)
    texts = [("", "1"), ("12", "1"), ("121212", "44")]
    actions, rewards = [(0, 1), (0, 0), (0, 3)], [(0.0, 0.0), (0.0, 0.0), (1.0, 0.0)]
    for row in range(3):
        heads = torch.cat([games.from_records(game.heads(game.position(text).states)) for text in texts[row]])
        terminated = torch.tensor([row == 2, False])
        truncated = torch.tensor([False, row == 2])
        own, lengths = torch.ones(2, dtype=torch.bool), torch.tensor([row, row], dtype=torch.int32)
        chosen = torch.tensor(actions[row], dtype=torch.int32)
        replay.add(
            Transition(heads, chosen, torch.tensor(rewards[row]), heads, terminated, truncated, own, lengths), own
        )
    return replay


def test_statistics_by_hand(connect_four: pg.Game) -> None:
    found = statistics(filled(connect_four), 3)
    assert found["plies_looked_at"] == 6
    assert found["distinct"] == pytest.approx(5 / 6), "one position occurs twice"
    assert found["terminals"] == found["truncations"] == pytest.approx(1 / 6)
    assert found["reward_variance"] == pytest.approx(np.var([1, 0, 0, 0, 0, 0]))
    assert found["actions_played"] == 3
    shares = np.array([4, 1, 1]) / 6
    assert found["action_diversity"] == pytest.approx(-(shares * np.log(shares)).sum() / np.log(3))


def test_only_the_newest_rows_count(connect_four: pg.Game) -> None:
    found = statistics(filled(connect_four), 1)
    assert found["plies_looked_at"] == 2
    assert found["terminals"] == 0.5
    assert statistics(filled(connect_four), 99)["plies_looked_at"] == 6, "not more than there are"


def test_quality_is_a_mean_of_three_shares() -> None:
    assert quality({"distinct": 0.5, "action_diversity": 0.9}, 0.1) == pytest.approx(0.5)


def test_a_cycle_has_both_results_and_statistics(connect_four: pg.Game) -> None:
    results = GameResults(connect_four, "cpu", 2)
    results.counts.update({"games": 4, "first_wins": 1, "second_wins": 2, "truncated": 1, "plies": 40})
    found = cycle_statistics(results, filled(connect_four), 3)
    assert found["truncated"] == 0.25
    assert found["mean_length"] == 10
    assert found["buffer"] == 6
    assert found["quality"] == pytest.approx(quality(found, 0.75))
