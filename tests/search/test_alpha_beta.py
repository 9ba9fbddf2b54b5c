"""The steps of a plain alpha-beta, one by one, and whole searches against the naive twin."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from naive.minimax import naive_minimax
from plyground.checks import laws
from plyground.games.rng import seeds
from plyground.models.compiled import handwritten
from plyground.search.alpha_beta import AT_LEAST, AT_MOST, EXACT, FULL
from plyground.search.alpha_beta_arrays import Memory, Stack, alpha_beta
from plyground.search.minimax import Minimax

LOW, HIGH = -0.25, 0.5


class Steps:
    """Arrays with a table of one entry, and the functions that a plain search is compiled from."""

    def __init__(self) -> None:
        model = handwritten(pg.load("connect_four"))
        self.kernels, (stack, memory) = alpha_beta(model, levels=4, entries=1, plain=True)
        self.stack: Stack = stack
        self.memory: Memory = memory

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.kernels, name)
        return getattr(function, "py_func", function)

    def node(self, level: int, **fields: float) -> Any:
        """The node of a level, with the window from LOW to HIGH."""
        made = self.stack.nodes[level]
        window = {"alpha": LOW, "beta": HIGH, "floor": LOW, "best": -2000.0, "stage": FULL, "best_action": -1}
        for name, value in {**window, "depth": 2, "turn": level, "key": 12, **fields}.items():
            made[name] = value
        return made


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.mark.parametrize(
    ("best", "bound"), [(0.5, AT_LEAST), (0.7, AT_LEAST), (-0.25, AT_MOST), (-0.9, AT_MOST), (0.1, EXACT)]
)
def test_an_entry_says_whether_its_value_is_exact_or_a_bound(steps: Steps, best: float, bound: int) -> None:
    steps.node(0)
    steps.node(1, best=best)
    steps.close_node(1, steps.stack, steps.memory)
    assert steps.memory.table[0]["bound"] == bound


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
def test_a_bound_is_used_only_outside_the_window(steps: Steps, bound: int, value: float, known: bool) -> None:
    entry = steps.memory.table[0]
    assert not steps.look_up(steps.node(1), False, steps.memory)[0], "an empty entry"
    entry["value"], entry["depth"], entry["bound"] = value, 2, bound
    entry["key"] = steps.seal(np.uint64(12), value, 0, 2, bound)
    assert steps.look_up(steps.node(1), False, steps.memory) == (known, value)
    assert not steps.look_up(steps.node(1, depth=1), False, steps.memory)[0], "another depth"
    assert not steps.look_up(steps.node(1, key=13), False, steps.memory)[0], "another position"


def test_a_win_in_the_table_is_counted_from_its_position(steps: Steps) -> None:
    steps.node(0)
    steps.node(1, best=997.0)  # with the third action after this position
    steps.close_node(1, steps.stack, steps.memory)
    assert steps.look_up(steps.node(2), False, steps.memory) == (True, 996.0)


def test_the_root_is_not_entered_into_the_table(steps: Steps) -> None:
    """A draw by repetition depends on the history."""
    steps.node(0, best=0.1)
    steps.close_node(0, steps.stack, steps.memory)
    assert steps.memory.table[0]["bound"] == 0


def test_the_best_value_raises_alpha_and_a_high_one_cuts_off(steps: Steps) -> None:
    parent = steps.node(1, count=9)
    for value in (0.0, -0.5):
        steps.back_up(1, value, steps.stack, steps.memory)
    assert (parent["best"], parent["alpha"]) == (0.0, 0.0)
    assert steps.next_action(1, None, steps.stack, steps.memory)
    steps.back_up(1, HIGH, steps.stack, steps.memory)
    assert parent["best"] == HIGH
    assert not steps.next_action(1, None, steps.stack, steps.memory)


def test_the_first_actions_narrow_the_window_to_the_values_that_must_be_exact(steps: Steps) -> None:
    root, best = steps.node(0, alpha=-2000.0), np.zeros(5)
    for number, (value, alpha) in enumerate([(0.1, -2000.0), (0.3, 0.1), (0.2, 0.2), (-0.5, 0.2), (0.25, 0.25)], 1):
        root["tried"] = number
        steps.narrow(root, value, 2, best)
        assert root["alpha"] == pytest.approx(alpha, abs=1e-8)
        assert root["alpha"] < alpha or number == 1, "equal ones are exact, too"
    assert root["best"] == 0.3
    assert best.tolist() == [0.3, 0.25, 0.2, 0.1, -0.5]


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
