"""The memory: what comes of a ply by hand, what is drawn and how often, and that nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.errors import Error
from plyground.kernels.replay import RUNS_ON, TERMINATED, TRUNCATED, follow
from plyground.learners.arrays import OnCpu
from plyground.learners.experience import REASONS, REASONS_OF_A_PLY, Tally
from plyground.learners.memory import Memory

G = 0.9


def came_of(
    plies: Sequence[tuple[int, int, float, int]],
    start: int = 0,
    n: int = 1,
    own_turns: bool = False,
    explored: Sequence[int] = (),
    penalty: float = 0.0,
) -> tuple[float, float, int]:
    """`follow` over one game of plies (side, next side, reward, ended)."""
    column = [np.array(values)[:, None] for values in zip(*plies, strict=True)]
    flags = np.array([[ply in explored] for ply in range(len(plies))])
    sides, next_sides, ended = (column[k].astype(np.int8) for k in (0, 1, 3))
    rewards = column[2].astype(np.float32)
    newest = len(plies) - 1
    return follow(start, 0, newest, sides, next_sides, rewards, ended, flags, n, own_turns, G, penalty)


ALTERNATING = [(0, 1, 0.0, RUNS_ON), (1, 0, 0.0, RUNS_ON), (0, 1, 1.0, TERMINATED)]
CHAIN = [(0, 0, 0.0, RUNS_ON), (0, 1, 0.0, RUNS_ON), (1, 0, 0.0, RUNS_ON), (0, 1, 0.0, RUNS_ON)]


def test_one_step_negates_and_discounts_where_the_turn_passes() -> None:
    assert came_of(ALTERNATING) == pytest.approx((0.0, -G, 0))
    assert came_of(CHAIN) == pytest.approx((0.0, 1.0, 0)), "lift and place are one turn: neither sign nor discount"


def test_n_steps_follow_the_game_with_signs() -> None:
    assert came_of(ALTERNATING, n=2) == pytest.approx((0.0, G * G, 1))
    assert came_of(ALTERNATING, n=3) == pytest.approx((G * G, 0.0, 2)), "my own win two turns later"
    assert came_of(ALTERNATING, start=1, n=3) == pytest.approx((-G, 0.0, 2)), "the opponent's win is my loss"
    assert came_of(CHAIN, n=3) == pytest.approx((0.0, G * G, 2))
    assert came_of(CHAIN, n=9) == pytest.approx((0.0, -(G**3), 3)), "the newest ply: value from there"


def test_a_later_ply_that_explored_is_not_followed() -> None:
    assert came_of(ALTERNATING, n=3, explored=[0]) == pytest.approx((G * G, 0.0, 2)), "the first may explore"
    assert came_of(ALTERNATING, n=3, explored=[2]) == pytest.approx((0.0, G * G, 1))


def test_a_truncation_bootstraps_and_a_termination_does_not() -> None:
    stopped = [(0, 1, 0.0, TRUNCATED), (0, 1, 5.0, RUNS_ON)]
    assert came_of(stopped, n=3) == pytest.approx((0.0, -G, 0)), "the next game is never looked at"
    assert came_of(stopped, n=3, penalty=0.1) == pytest.approx((-0.1, -G, 0))
    over = [(0, 1, 0.5, TERMINATED), (0, 1, 5.0, RUNS_ON)]
    assert came_of(over, n=3, penalty=0.1) == pytest.approx((0.5, 0.0, 0))


def test_from_own_turn_to_own_turn() -> None:
    assert came_of(ALTERNATING, own_turns=True) == pytest.approx((0.0, G * G, 1)), "the opponent is part of the world"
    assert came_of(ALTERNATING, start=1, own_turns=True) == pytest.approx((-G, 0.0, 2)), "and may win in it"
    assert came_of(CHAIN, start=1, own_turns=True) == pytest.approx((0.0, G * G, 2))
    assert came_of(CHAIN, start=3, own_turns=True)[2] == -1, "the own turn has not come yet"
    assert came_of(ALTERNATING, n=1, own_turns=True, explored=[1]) == pytest.approx((0.0, G * G, 1))


def filled(game: pg.Game, steps: int, rows: int = 8, games: int = 4, **options: Any) -> tuple[Memory, list]:
    memory, batch, log = Memory(game, rows * games, games, seed=1, **options), pg.Batch(game, games, seed=2), []
    for _ in range(steps):
        states, actions = game.heads(batch.states), batch.random_actions()
        rewards, terminated, truncated = batch.step(actions)
        nothing, everything = np.zeros(games, np.bool_), np.ones(games, np.bool_)
        memory.add(states, actions, rewards, batch.after, terminated, truncated, nothing, everything)
        log.append((states, actions, rewards, batch.after.copy(), terminated))
    return memory, log


def test_the_newest_plies_are_kept(connect_four: pg.Game) -> None:
    memory, log = filled(connect_four, 11)
    assert len(memory) == 32
    assert memory.newest == 2
    for row, step in enumerate([8, 9, 10, 3, 4, 5, 6, 7]):
        assert (memory.states[row] == log[step][0]).all()
        assert (memory.after[row] == log[step][3]).all()
        assert (memory.actions[row] == log[step][1]).all()


@pytest.mark.parametrize("word", ["connect_four", TINY[1], TINY[0]])
def test_samples_are_what_happened(word: str) -> None:
    """One-step samples against the log of the games, on turns that alternate and turns that do not."""
    game = pg.load(word)
    memory, log = filled(game, 50, rows=60)
    sample = memory.draw(300, discount=G)
    for k, place in enumerate(sample.picked):
        step, column = divmod(int(place), 4)
        states, actions, rewards, after, terminated = (part[column] for part in log[step])
        assert sample.states[k] == states
        assert sample.behind[k] == after
        assert sample.actions[k] == actions
        assert sample.returns[k] == rewards
        same = states["to_move"] == after["to_move"]
        assert sample.factors[k] == pytest.approx(0.0 if terminated else 1.0 if same else -G)


def test_uniform_samples_are_uniform(connect_four: pg.Game) -> None:
    memory, _ = filled(connect_four, 8)
    counts = np.bincount(memory.draw(64_000).picked, minlength=32)
    assert abs(counts - 2000).max() < 6 * np.sqrt(2000)


def test_plies_that_are_no_use_are_not_drawn(connect_four: pg.Game) -> None:
    memory, _ = filled(connect_four, 8)
    memory.usable[:, 1] = False
    assert not (memory.draw(1000).picked % 4 == 1).any()


def test_shares_of_recent_and_good_plies(connect_four: pg.Game) -> None:
    memory, _ = filled(connect_four, 8)
    memory.mark_good(np.array([2]), np.array([3], np.int32))
    assert memory.good.sum() == 3
    assert memory.good[5:, 2].all()
    picked = memory.draw(8000, shares=(0.5, 0.0)).picked
    assert np.isin(picked, [22, 26, 30]).mean() == pytest.approx(0.5 + 0.5 * 3 / 32, abs=0.03)
    picked = memory.draw(8000, shares=(0.0, 0.5), recent=2).picked
    assert (picked >= 24).mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.03)


def test_prioritised_samples_follow_their_priorities(connect_four: pg.Game) -> None:
    memory, _ = filled(connect_four, 8, prioritised=True)
    errors = np.arange(32, dtype=np.float32)
    memory.update(np.arange(32), errors, exponent=0.5)
    wanted = (errors + 1e-3) ** 0.5
    sample = memory.draw(64_000, correction=1.0)
    counts = np.bincount(sample.picked, minlength=32)
    np.testing.assert_allclose(counts / 64_000, wanted / wanted.sum(), atol=0.004)
    # Weights that correct in full make the weighted sum uniform again.
    total = np.bincount(sample.picked, weights=sample.weights, minlength=32)
    np.testing.assert_allclose(total[1:] / total[1:].sum(), 1 / 31, rtol=0.15)


def test_new_plies_get_the_highest_priority_and_useless_ones_none(connect_four: pg.Game) -> None:
    memory, _ = filled(connect_four, 8, prioritised=True)
    memory.update(np.arange(32), np.full(32, 3.0, np.float32), exponent=1.0)
    states = memory.states[0].copy()
    no, usable = np.zeros(4, np.bool_), np.array([True, False, True, True])
    memory.add(states, np.zeros(4, np.int32), np.zeros(4, np.float32), states, no, no, no, usable)
    leaves = memory.tree[len(memory.tree) // 2 :]
    assert leaves[:4].tolist() == pytest.approx([3.001, 0.0, 3.001, 3.001])
    assert memory.tree[1] == pytest.approx(leaves.sum())
    assert not (memory.draw(2000).picked == 1).any()


@pytest.mark.parametrize("prioritised", [False, True])
@pytest.mark.parametrize("steps", [3, 8, 11])
def test_a_restored_memory_goes_on_alike(connect_four: pg.Game, steps: int, prioritised: bool) -> None:
    memory, _ = filled(connect_four, steps, prioritised=prioritised)
    again = Memory(connect_four, 32, 4, seed=99, prioritised=prioritised)
    again.restore({name: values.copy() for name, values in memory.arrays().items()})
    for _ in range(3):
        one, other = memory.draw(16), again.draw(16)
        for name in vars(one):
            assert (getattr(one, name) == getattr(other, name)).all(), name


def test_a_memory_of_another_size_is_refused(connect_four: pg.Game) -> None:
    memory, _ = filled(connect_four, 5)
    with pytest.raises(Error, match="not of this run"):
        Memory(connect_four, 64, 8, seed=0).restore(memory.arrays())
    with pytest.raises(Error, match="too small for 4 games"):
        Memory(connect_four, 7, 4, seed=0)


def test_reasons_are_counted_however_many_games_end_at_once(connect_four: pg.Game) -> None:
    """Of 2,000 games that end together some are put into words, and of those that end later too."""
    won = connect_four.position("1212121").states
    on, tally, n = OnCpu(connect_four, np.random.default_rng(0)), Tally(), 2000
    after, yes, lengths = np.repeat(won, n), np.ones(n, np.bool_), np.full(n, 7, np.int32)
    for _ in range(2):
        tally.count(on, after, yes, ~yes, lengths)
    assert tally.games == 2 * n
    assert tally.reasons == {"four in a row": 2 * REASONS_OF_A_PLY}
    for _ in range(30):
        tally.count(on, after, yes, ~yes, lengths)
    assert tally.reasons == {"four in a row": REASONS}
