"""A function is refused that cannot take the arguments which the contract passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from numba import njit

from plyground.games.signatures import misfit


@pytest.mark.parametrize(
    ("function", "arguments", "fault"),
    [
        (lambda state, action, rng: 0, "(state, action, rng)", ""),
        (lambda board, move, random: 0, "(state, action, rng)", ""),  # the names are free
        (lambda *all_of_them: 0, "(state, action, rng)", ""),
        (lambda state, action, rng, more=1: 0, "(state, action, rng)", ""),
        (lambda steps: 0, "([(state, action), ...])", ""),
        (lambda game, agent, progress=None: 0, "(game, agent, progress=None)", ""),
        (njit(lambda state, action: 0), "(state, action)", ""),
        (max, "(state)", ""),  # it tells no parameters
        (lambda state, action: 0, "(state, action, rng)", "`play` takes (state, action, rng), not (state, action)"),
        (lambda: 0, "(state)", "`play` takes (state), not ()"),
        (lambda state, seat, scale=2: 0, "(state)", "`play` takes (state), not (state, seat, scale=2)"),
        (njit(lambda state: 0), "(state, actions)", "`play` takes (state, actions), not (state)"),
    ],
)
def test_the_arguments_fit_or_both_lists_are_told(function: Callable[..., Any], arguments: str, fault: str) -> None:
    assert misfit("play", function, arguments) == ([fault] if fault else [])


def test_types_are_not_told() -> None:
    def draw(state: Any, seat: int) -> str:
        return ""

    assert misfit("draw", draw, "(state)") == ["`draw` takes (state), not (state, seat)"]


def test_compiled_functions_may_take_working_memory_too() -> None:
    assert misfit("legal", lambda state, actions, work: 0, "(state, actions)", work=True) == []
    assert misfit("legal", lambda state, actions: 0, "(state, actions)", work=True) == []
    assert misfit("legal", lambda state, actions, work: 0, "(state, actions)") != []
    assert misfit("legal", lambda state, actions, other: 0, "(state, actions)", work=True) != []
