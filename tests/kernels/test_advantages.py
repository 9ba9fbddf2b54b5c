"""Advantages by hand, and against their definition as a sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plyground.kernels.advantages import compute_advantages
from plyground.kernels.arrays import RolloutPlies
from plyground.kernels.replay import RUNS_ON, TERMINATED, TRUNCATED

G, L = 0.9, 0.5
Ply = tuple[int, int, float, int]  # side, next side, reward, ended


def advantages(
    plies: Sequence[Ply],
    values: Sequence[float],
    next_value: float = 0.0,
    others: Sequence[int] = (),
    gae_lambda: float = L,
) -> list[float]:
    """The advantages of one game's plies; `next_value` is the next state's value where no ply follows."""
    column = [np.array(each)[:, None] for each in zip(*plies, strict=True)]
    sides, next_sides, ended = (column[k].astype(np.int8) for k in (0, 1, 3))
    own = np.array([[ply not in others] for ply in range(len(plies))])
    said = np.array(values, np.float32)[:, None]
    last = np.where((ended == TRUNCATED) | (np.arange(len(plies)) == len(plies) - 1)[:, None], next_value, 0.0)
    out = np.full(said.shape, np.nan, np.float32)
    rewards = column[2].astype(np.float32)
    rollout = RolloutPlies(sides, next_sides, rewards, ended, own, said, last.astype(np.float32))
    compute_advantages(rollout, G, gae_lambda, out)
    return out[:, 0].tolist()


ALTERNATING = [(0, 1, 0.0, RUNS_ON), (1, 0, 0.0, RUNS_ON), (0, 1, 1.0, TERMINATED)]
CHAIN = [(0, 0, 0.0, RUNS_ON), (0, 1, 0.0, RUNS_ON), (1, 1, 0.0, RUNS_ON), (1, 0, -1.0, TERMINATED)]


def test_signs_where_turns_alternate() -> None:
    # Backwards: 1 - 0.4 = 0.6; 0 - 0.9 * 0.4 - 0.2 = -0.56, and -0.9 * 0.5 * 0.6 = -0.27 of the ply after;
    # 0 - 0.9 * 0.2 - 0.1 = -0.28, and -0.45 * -0.83.
    assert advantages(ALTERNATING, [0.1, 0.2, 0.4]) == pytest.approx([-0.28 + 0.45 * 0.83, -0.83, 0.6])


def test_neither_sign_nor_discount_within_a_turn() -> None:
    # Side 1 acts twice and loses by its second ply: -1 - 0.4 = -1.4; then 0.4 - 0.3 + 0.5 * -1.4 = -0.6;
    # side 0 before it: -0.9 * 0.3 - 0.2 - 0.45 * -0.6 = -0.2; and its ply before: 0.2 - 0.1 + 0.5 * -0.2 = 0.
    assert advantages(CHAIN, [0.1, 0.2, 0.3, 0.4]) == pytest.approx([0.0, -0.2, -0.6, -1.4], abs=1e-6)


def test_lambda_1_is_the_result_and_lambda_0_is_one_step() -> None:
    whole = advantages(CHAIN, [0.1, 0.2, 0.3, 0.4], gae_lambda=1.0)
    assert whole == pytest.approx([G - 0.1, G - 0.2, -1 - 0.3, -1 - 0.4]), "the other side's loss is my win"
    one = advantages(CHAIN, [0.1, 0.2, 0.3, 0.4], gae_lambda=0.0)
    assert one == pytest.approx([0.1, -G * 0.3 - 0.2, 0.1, -1.4])


def test_the_next_value_is_read_where_a_rollout_or_a_truncated_game_ends() -> None:
    assert advantages([(0, 1, 0.0, RUNS_ON)], [0.1], next_value=0.5) == pytest.approx([-G * 0.5 - 0.1])
    assert advantages([(0, 0, 0.0, RUNS_ON)], [0.1], next_value=0.5) == pytest.approx([0.5 - 0.1])
    stopped = [(0, 1, 0.0, TRUNCATED), (0, 1, 1.0, TERMINATED)]
    assert advantages(stopped, [0.1, 0.2], next_value=0.5) == pytest.approx([-G * 0.5 - 0.1, 0.8]), "another game"


def test_a_terminated_game_has_no_next_value() -> None:
    assert advantages([(0, 1, 1.0, TERMINATED)], [0.1], next_value=99.0) == pytest.approx([0.9])


def test_plies_of_opponents_are_part_of_the_environment() -> None:
    # The value at the opponent's ply is not read: from own turn to own turn, discounted twice.
    found = advantages(ALTERNATING, [0.1, 55.0, 0.4], others=[1])
    came = G * G * (0.5 * 0.4 + 0.5 * 1.0)
    assert found == pytest.approx([came - 0.1, 0.0, 0.6])
    lost = [(0, 1, 0.0, RUNS_ON), (1, 0, 1.0, TERMINATED)]
    assert advantages(lost, [0.1, 55.0], others=[1]) == pytest.approx([-G - 0.1, 0.0]), "its win is my loss"


def test_many_games_against_the_definition() -> None:
    """A ply's advantage is the sum of the temporal differences at each later ply, signed, discounted and faded."""
    chance = np.random.default_rng(4)
    rows, games = 40, 50
    sides = chance.integers(0, 2, (rows + 1, games)).astype(np.int8)
    ended = chance.choice([RUNS_ON, TERMINATED, TRUNCATED], (rows, games), p=[0.8, 0.1, 0.1]).astype(np.int8)
    rewards, values, next_values = (chance.normal(size=(rows, games)).astype(np.float32) for _ in range(3))
    own = np.ones((rows, games), np.bool_)
    out = np.empty((rows, games), np.float32)
    rollout = RolloutPlies(sides[:-1], sides[1:], rewards, ended, own, values, next_values)
    compute_advantages(rollout, G, L, out)
    for game in range(games):
        for start in range(rows):
            total, weight, row = 0.0, 1.0, start
            while True:
                factor = 1.0 if sides[row, game] == sides[row + 1, game] else -G
                runs_on = ended[row, game] == RUNS_ON and row < rows - 1
                after = values[row + 1, game] if runs_on else next_values[row, game]
                if ended[row, game] == TERMINATED:
                    after = 0.0
                total += weight * (rewards[row, game] + factor * after - values[row, game])
                if not runs_on:
                    break
                weight *= factor * L
                row += 1
            assert out[start, game] == pytest.approx(total, abs=1e-5)
