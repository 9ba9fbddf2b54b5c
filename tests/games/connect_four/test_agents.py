"""Connect Four's own agents and exact scores."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.games.connect_four.agents import solve

pytestmark = pytest.mark.compiled


def test_exact_scores_come_with_words(connect_four: pg.Game) -> None:
    position = connect_four.position("445566")
    solved = solve(position, seconds=60)
    assert list(solved) == position.legal()
    assert solved[2] == solved[6] == (18, "wins in 1 move")
    assert max(score for score, _ in solved.values()) == 18
    assert 3 not in solve(connect_four.position("444444"))
