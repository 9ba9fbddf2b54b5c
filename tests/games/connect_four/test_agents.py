"""Connect Four's own agents and exact scores."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plyground.games.connect_four.agents import AGENTS, Perfect, solve
from plyground.games.connect_four.solver.solver import NO_MOVE, perfect
from plyground.games.rng import seeds

pytestmark = pytest.mark.compiled


def test_exact_scores_come_with_words(connect_four: pg.Game) -> None:
    position = connect_four.position("445566")
    solved = solve(position, seconds=60)
    assert list(solved) == position.legal()
    assert solved[2] == solved[6] == (18, "wins in 1 move")
    assert max(score for score, _ in solved.values()) == 18
    assert 3 not in solve(connect_four.position("444444"))


def test_the_solver_is_an_agent_of_the_game(connect_four: pg.Game) -> None:
    agent = AGENTS["solver"](connect_four)
    states = np.repeat(connect_four.position("445566").states, 40)
    chosen = agent.act(states, seeds(1, 40))
    assert set(chosen.tolist()) == {2, 6}, "all best moves are played"


def test_the_solvers_scores_order_the_legal_actions_as_its_exact_ones_do(connect_four: pg.Game) -> None:
    states = np.concatenate([connect_four.position(text).states for text in ("445566", "444444", "41424")])
    actions, scores = Perfect(connect_four).scores(states)
    exact = perfect().move_scores(states)
    for row in range(len(states)):
        legal = np.flatnonzero(exact[row] != NO_MOVE)
        assert actions[row, : len(legal)].tolist() == legal.tolist()
        assert (actions[row, len(legal) :] == -1).all()
        order = scores[row, : len(legal)]
        assert (np.sign(order) == np.sign(exact[row, legal])).all()
        assert (np.argsort(order, kind="stable") == np.argsort(exact[row, legal], kind="stable")).all()
        assert (np.abs(order) <= 1).all()
