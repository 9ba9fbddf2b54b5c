"""The steps of alpha-beta, one by one, and whole searches against the naive twin."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from naive.minimax import naive_minimax
from plyground.checks import laws
from plyground.games.rng import seeds
from plyground.search import alpha_beta
from plyground.search.alpha_beta import AT_LEAST, AT_MOST, EXACT
from plyground.search.arrays import NODE
from plyground.search.minimax import Minimax

LOW, HIGH = -0.25, 0.5


def node(**fields: float) -> np.void:
    """A node with the window from LOW to HIGH."""
    made = np.zeros(1, NODE)[0]
    for name, value in {"alpha": LOW, "beta": HIGH, "floor": LOW, "best": -2000.0, "key": 12 << 2, **fields}.items():
        made[name] = value
    return made


@pytest.mark.parametrize(
    ("best", "bound"), [(0.5, AT_LEAST), (0.7, AT_LEAST), (-0.25, AT_MOST), (-0.9, AT_MOST), (0.1, EXACT)]
)
def test_an_entry_says_whether_its_value_is_exact_or_a_bound(best: float, bound: np.uint64) -> None:
    assert alpha_beta.bound_of(node(best=best)) == bound


@pytest.mark.parametrize(
    ("bound", "value", "known"),
    [
        (EXACT, 0.1, True),
        (AT_LEAST, 0.5, True),
        (AT_LEAST, 0.4, False),  # the value may be higher, and inside the window
        (AT_MOST, -0.25, True),
        (AT_MOST, -0.2, False),
    ],
)
def test_a_bound_is_used_only_outside_the_window(bound: np.uint64, value: float, known: bool) -> None:
    assert alpha_beta.suffices(node(), bound, value) == known
    assert not alpha_beta.suffices(node(), np.uint64(0), value), "an empty entry"


@pytest.mark.parametrize(("same_side", "window"), [(True, (LOW, HIGH)), (False, (-HIGH, -LOW))])
def test_a_window_is_negated_where_the_side_to_move_changes(same_side: bool, window: tuple[float, float]) -> None:
    child = node(alpha=9, beta=9, floor=9)
    alpha_beta.set_window(child, node(), same_side)
    assert (child["alpha"], child["beta"], child["floor"]) == (*window, window[0])


def test_the_best_value_raises_alpha_and_a_high_one_cuts_off() -> None:
    parent = node()
    assert not alpha_beta.back_up(parent, 0.0)
    assert not alpha_beta.back_up(parent, -0.5)
    assert (parent["best"], parent["alpha"]) == (0.0, 0.0)
    assert alpha_beta.back_up(parent, HIGH)
    assert parent["best"] == HIGH


def test_a_position_has_another_key_at_another_level() -> None:
    words = np.arange(12, dtype=np.uint64).reshape(3, 4)
    words[2] = words[1]
    keys = [int(alpha_beta.key_of(words, level)) for level in range(3)]
    assert len(set(keys)) == 3
    assert all(key & 3 == 0 for key in keys)


@functools.cache
def naive_values(word: str) -> tuple[np.ndarray, list[dict[int, float]]]:
    """[8] states, and for each the value of every legal action at depth 3, for the side to move."""
    game = pg.load(word)
    states = laws.sample(game, 8, seed=2).states
    states, values = states[states["outcome"] == 0][::11][:8], []
    for row in range(len(states)):
        position, found = pg.Position(game, states[row : row + 1]), {}
        for action in position.legal():
            after = position.play(action)
            found[action] = naive_minimax(after, 2, ply=1) * (1 if after.to_move == position.to_move else -1)
        values.append(found)
    return states, values


@pytest.mark.compiled
@pytest.mark.parametrize("word", ["connect_four", TINY[1]], ids=["connect_four", "hops"])
@pytest.mark.parametrize("settings", [{}, {"table": 6}, {"ordering": False}], ids=str)
def test_the_value_and_the_action_are_the_naive_ones(word: str, settings: dict[str, int]) -> None:
    """Also with a table so small that most positions share an entry."""
    states, expected = naive_values(word)
    search = Minimax(pg.load(word), 3, **settings)  # pyright: ignore[reportArgumentType]
    chosen, values = search.search(states, seeds(0, len(states)))
    for row, scores in enumerate(expected):
        assert values[row] == pytest.approx(max(scores.values()), abs=1e-5)
        assert scores[int(chosen[row])] == pytest.approx(max(scores.values()), abs=1e-5)
