"""Replay: n-step returns by hand and against their definition, which plies are sampled, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compiled import compiled
from plyground.kernels import replay
from plyground.kernels.arrays import NStepReturns, Plies, SampleShares
from plyground.kernels.replay import (
    RUNS_ON,
    TERMINATED,
    TRUNCATED,
    lambda_returns,
    mark_games,
    n_step_returns,
    sample_prioritised,
    sample_uniform,
    set_priorities,
)

n_step_return, lambda_return = compiled(replay.n_step_return), compiled(replay.lambda_return)
G = 0.9
ALL = SampleShares(0.0, 0.0, 1)


def returned(
    plies: Sequence[tuple[int, int, float, int]],
    start: int = 0,
    n: int = 1,
    own_turns: bool = False,
    explored: Sequence[int] = (),
    penalty: float = 0.0,
) -> tuple[float, float, int]:
    """`n_step_return` in one game of plies (side, next side, reward, ended)."""
    column = [np.array(values)[:, None] for values in zip(*plies, strict=True)]
    sides, next_sides, ended = (column[k].astype(np.int8) for k in (0, 1, 3))
    flags = np.array([[ply in explored] for ply in range(len(plies))])
    stored = Plies(sides, next_sides, column[2].astype(np.float32), ended, flags)
    return n_step_return(start, 0, len(plies) - 1, stored, n, own_turns, G, penalty)


ALTERNATING = [(0, 1, 0.0, RUNS_ON), (1, 0, 0.0, RUNS_ON), (0, 1, 1.0, TERMINATED)]
CHAIN = [(0, 0, 0.0, RUNS_ON), (0, 1, 0.0, RUNS_ON), (1, 0, 0.0, RUNS_ON), (0, 1, 0.0, RUNS_ON)]


def test_one_step_negates_and_discounts_where_the_side_to_move_changes() -> None:
    assert returned(ALTERNATING) == pytest.approx((0.0, -G, 0))
    assert returned(CHAIN) == pytest.approx((0.0, 1.0, 0)), "lift and place are one turn: neither sign nor discount"


def test_n_steps_follow_the_game_with_signs() -> None:
    assert returned(ALTERNATING, n=2) == pytest.approx((0.0, G * G, 1))
    assert returned(ALTERNATING, n=3) == pytest.approx((G * G, 0.0, 2)), "my own win two turns later"
    assert returned(ALTERNATING, start=1, n=3) == pytest.approx((-G, 0.0, 2)), "the opponent's win is my loss"
    assert returned(CHAIN, n=3) == pytest.approx((0.0, G * G, 2))
    assert returned(CHAIN, n=9) == pytest.approx((0.0, -(G**3), 3)), "the newest ply: value from there"


def test_a_later_ply_that_explored_is_not_followed() -> None:
    assert returned(ALTERNATING, n=3, explored=[0]) == pytest.approx((G * G, 0.0, 2)), "the first may explore"
    assert returned(ALTERNATING, n=3, explored=[2]) == pytest.approx((0.0, G * G, 1))


def test_a_truncation_bootstraps_and_a_termination_does_not() -> None:
    stopped = [(0, 1, 0.0, TRUNCATED), (0, 1, 5.0, RUNS_ON)]
    assert returned(stopped, n=3) == pytest.approx((0.0, -G, 0)), "the next game is never read"
    assert returned(stopped, n=3, penalty=0.1) == pytest.approx((-0.1, -G, 0))
    over = [(0, 1, 0.5, TERMINATED), (0, 1, 5.0, RUNS_ON)]
    assert returned(over, n=3, penalty=0.1) == pytest.approx((0.5, 0.0, 0))


def test_from_own_turn_to_own_turn() -> None:
    assert returned(ALTERNATING, own_turns=True) == pytest.approx((0.0, G * G, 1)), "the opponent is environment"
    assert returned(ALTERNATING, start=1, own_turns=True) == pytest.approx((-G, 0.0, 2)), "and may win"
    assert returned(CHAIN, start=1, own_turns=True) == pytest.approx((0.0, G * G, 2))
    assert returned(CHAIN, start=3, own_turns=True)[2] == -1, "the next own turn is not stored yet"
    assert returned(ALTERNATING, n=1, own_turns=True, explored=[1]) == pytest.approx((0.0, G * G, 1))


def random_plies(rows: int, envs: int) -> Plies:
    chance = np.random.default_rng(4)
    sides = chance.integers(0, 2, (rows + 1, envs)).astype(np.int8)
    ended = chance.choice([RUNS_ON, TERMINATED, TRUNCATED], (rows, envs), p=[0.8, 0.1, 0.1]).astype(np.int8)
    rewards = chance.normal(size=(rows, envs)).astype(np.float32)
    return Plies(sides[:-1].copy(), sides[1:].copy(), rewards, ended, chance.random((rows, envs)) < 0.2)


def cursor_at(newest: int, seed: int = 1) -> Any:
    """Of a buffer whose newest row has this number, counted from the first one written."""
    return np.array([newest + 1, seed], np.uint64)


def results(n: int) -> NStepReturns:
    numbers = [np.full(n, np.nan, np.float32) for _ in range(3)]
    return NStepReturns(numbers[0], numbers[1], np.full(n, -1), numbers[2])


def test_samples_of_all_plies_are_those_of_each() -> None:
    rows, envs, newest = 7, 5, 3
    plies, indices = random_plies(rows, envs), np.arange(35)[::-1].copy()
    found = results(35)
    n_step_returns(indices, cursor_at(newest + rows), plies, 3, True, G, 0.25, found)
    for k, index in enumerate(indices):
        value, discount, last = n_step_return(index // envs, index % envs, newest, plies, 3, True, G, 0.25)
        assert found.returns[k] == np.float32(value)
        assert found.bootstrap_discount[k] == np.float32(discount)
        assert found.complete[k] == (last >= 0)
        assert found.next_indices[k] == (last * envs + index % envs if last >= 0 else index)
    assert 0 < found.complete.sum() < 35


def returns_by_definition(plies: Plies, values: Any, env: int, rows: Sequence[int], td_lambda: float) -> list[float]:
    """The λ-returns of plies that follow one another, the last of which is the newest: backwards, one from the next."""
    found: list[float] = []
    for row in reversed(rows):
        value, ended = float(values[row, env]), plies.ended[row, env]
        following = value if ended == TRUNCATED or (not found and ended == RUNS_ON) else plies.rewards[row, env]
        if found and ended == RUNS_ON:
            passed = plies.next_sides[row, env] != plies.sides[row, env]
            following = (-1 if plies.sides[row, env] != plies.sides[(row + 1) % len(plies.sides), env] else 1) * found[
                -1
            ]
            following *= G if passed else 1.0
        found.append(value if plies.explored[row, env] else (1 - td_lambda) * value + td_lambda * float(following))
    return found[::-1]


@pytest.mark.parametrize("td_lambda", [0.0, 0.7, 1.0])
def test_lambda_returns_are_those_of_the_definition(td_lambda: float) -> None:
    rows, envs, newest = 9, 6, 4
    plies = random_plies(rows, envs)
    values = np.random.default_rng(1).normal(size=(rows, envs)).astype(np.float32)
    order = [(newest + 1 + k) % rows for k in range(rows)]
    found, indices = np.full(rows * envs, np.nan, np.float32), np.arange(rows * envs)
    lambda_returns(indices, cursor_at(newest + rows), plies, values, G, td_lambda, found)
    for env in range(envs):
        expected = returns_by_definition(plies, values, env, order, td_lambda)
        assert found.reshape(rows, envs)[order, env].tolist() == pytest.approx(expected, abs=1e-6)
        assert lambda_return(order[0], env, newest, plies, values, G, td_lambda) == pytest.approx(expected[0])


def drawn(n: int, shares: SampleShares = ALL, seed: int = 1, **changed: Any) -> Any:
    """Indices from a buffer of 8 rows of 4 plies, whose newest row is 7."""
    arrays = {"usable": np.ones((8, 4), np.bool_), "decided": np.zeros((8, 4), np.bool_), **changed}
    indices = np.full(n, -1)
    sample_uniform(cursor_at(7, seed), shares, arrays["usable"], arrays["decided"], indices)
    return indices


def test_uniform_samples_are_uniform() -> None:
    counts = np.bincount(drawn(64_000), minlength=32)
    assert abs(counts - 2000).max() < 6 * np.sqrt(2000)
    assert (drawn(100) == drawn(100)).all()
    assert (drawn(100) != drawn(100, seed=2)).any()
    assert (drawn(100)[:40] == drawn(40)).all(), "each sample has a generator of its own"


def test_plies_that_are_not_usable_are_not_sampled() -> None:
    usable = np.ones((8, 4), np.bool_)
    usable[:, 1] = False
    assert not (drawn(1000, usable=usable) % 4 == 1).any()


def test_shares_of_recent_and_decided_plies() -> None:
    decided = np.zeros((8, 4), np.bool_)
    mark_games(decided, cursor_at(7), np.array([False, False, True, False]), np.full(4, 3, np.int32), True)
    assert np.argwhere(decided).tolist() == [[5, 2], [6, 2], [7, 2]]
    found = drawn(8000, SampleShares(0.5, 0.0, 1), decided=decided)
    assert np.isin(found, [22, 26, 30]).mean() == pytest.approx(0.5 + 0.5 * 3 / 32, abs=0.03)
    found = drawn(8000, SampleShares(0.0, 0.5, 2), decided=decided)
    assert (found >= 24).mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.03)


def test_a_decided_game_is_marked_across_the_end_of_the_ring() -> None:
    decided = np.zeros((4, 2), np.bool_)
    mark_games(decided, cursor_at(1), np.array([True, True]), np.array([3, 99], np.int32), True)
    assert decided[:, 0].tolist() == [True, True, False, True]
    assert decided[:, 1].all()


def test_priorities_are_sums_and_a_repeated_index_keeps_its_largest() -> None:
    tree = np.zeros(16)
    set_priorities(tree, np.array([1, 5, 5, 5]), np.array([2.0, 1.0, 3.0, 2.0]))
    assert tree[8:].tolist() == [0, 2, 0, 0, 0, 3, 0, 0]
    set_priorities(tree, np.array([5, 6]), np.array([0.5, 4.0]))
    assert tree[8:].tolist() == [0, 2, 0, 0, 0, 0.5, 4, 0]
    assert all(tree[node] == tree[2 * node] + tree[2 * node + 1] for node in range(1, 8))


def test_prioritised_samples_follow_their_priorities() -> None:
    tree, wanted = np.zeros(64), np.sqrt(np.arange(32.0))
    set_priorities(tree, np.arange(32), wanted)
    indices, probabilities = np.full(64_000, -1), np.zeros(64_000)
    sample_prioritised(cursor_at(0, 3), tree, indices, probabilities)
    counts = np.bincount(indices, minlength=32)
    np.testing.assert_allclose(counts / 64_000, wanted / wanted.sum(), atol=0.0001)  # one from each of 64,000 parts
    assert probabilities == pytest.approx(wanted[indices] / wanted.sum())
