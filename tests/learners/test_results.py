"""How games ended: counts, shares, lengths and reasons."""

from __future__ import annotations

import pytest
import torch

import plyground as pg
from plyground.backend.games import DeviceGame, on_device
from plyground.learners import saving
from plyground.learners.results import MAX_REASONS, MAX_REASONS_PER_PLY, GameResults


def rows(games: DeviceGame, *texts: str) -> torch.Tensor:
    """[N, bytes] heads of positions."""
    return torch.cat([games.from_records(games.game.heads(games.game.position(text).states)) for text in texts])


def test_reasons_are_counted_however_many_games_end_at_once(connect_four: pg.Game) -> None:
    """Of 2,000 games that end together some are put into words, and of those that end later too."""
    games, results, n = on_device(connect_four, "cpu"), GameResults(connect_four), 2000
    next_states, yes = rows(games, "1212121").repeat(n, 1), torch.ones(n, dtype=torch.bool)
    lengths, illegal = torch.full((n,), 7, dtype=torch.int32), torch.tensor([n])
    for _ in range(2):
        assert results.add(games, next_states, yes, ~yes, lengths, illegal) == n
    assert results.games == 2 * n
    assert results.reasons == {"four in a row": 2 * MAX_REASONS_PER_PLY}
    for _ in range(30):
        results.add(games, next_states, yes, ~yes, lengths, illegal)
    assert results.reasons == {"four in a row": MAX_REASONS}


def counted(connect_four: pg.Game) -> GameResults:
    """Two wins of the first side, one of the second, one truncation, one game that continues."""
    games, results = on_device(connect_four, "cpu"), GameResults(connect_four)
    next_states = rows(games, "1212121", "1212121", "12121232", "12", "12")
    terminated = torch.tensor([True, True, True, False, False])
    truncated = torch.tensor([False, False, False, True, False])
    lengths = torch.tensor([7, 9, 8, 40, 2], dtype=torch.int32)
    assert results.add(games, next_states, terminated, truncated, lengths, torch.tensor([3])) == 3
    return results


def test_shares_and_lengths_by_hand(connect_four: pg.Game) -> None:
    results = counted(connect_four)
    assert results.games == 4
    record = results.record()
    assert (record["first_wins"], record["second_wins"], record["draws"], record["truncated"]) == (0.5, 0.25, 0, 0.25)
    assert record["mean_length"] == pytest.approx((7 + 9 + 8 + 40) / 4)
    assert record["longest"] == 40
    assert record["reasons"] == {"four in a row": 3}, "a truncated game has no reason"
    results.clear()
    assert results.record()["games"] == 0
    assert results.record()["reasons"] == {}


def test_saved_counts_are_restored_and_replace_others(connect_four: pg.Game) -> None:
    results, again = counted(connect_four), GameResults(connect_four)
    again.counts["games"], again.reasons["no. 7 of the rules"] = 99, 5
    saved, plain = {}, {}
    saving.dump("results", results, saved, plain)
    saving.restore("results", again, saved, plain)
    assert (again.counts, again.reasons) == (results.counts, results.reasons)
    again.reasons["a reason. With a full stop"] = 2
    plain.clear()
    saving.dump("results", again, saved, plain)
    saving.restore("results", results, saved, plain)
    assert results.reasons == again.reasons
