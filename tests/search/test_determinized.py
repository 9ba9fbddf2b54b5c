"""The compiled search over determinizations: candidates, common determinizations, sequential halving, rollouts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.games.rng import seeds
from plyground.search.determinized_search import Searcher
from plyground.search.tree_config import SearchConfig

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def duel() -> pg.Game:
    return pg.load(TINY[0])


def searcher_of(game: pg.Game, position: pg.Position, simulations: int, leaf: str = "random") -> Searcher:
    searcher = Searcher(game, SearchConfig(simulations=simulations, leaf=leaf))
    searcher.begin(position.states, seeds(0, 1))
    return searcher


def test_without_a_scorer_every_legal_action_is_a_candidate(duel: pg.Game) -> None:
    position = duel.start(0)
    searcher = searcher_of(duel, position, 10)
    assert sorted(searcher.search.candidates["action"][: len(position.legal())]) == position.legal()


def test_the_candidates_are_those_with_the_highest_scores() -> None:
    game = pg.load("sequence")
    position = game.start(1)
    searcher = searcher_of(game, position, 10, "window")
    score = game.rules.SCORERS["window"]
    scores = {action: score(position.state, action) for action in position.legal()}
    candidates = searcher.search.candidates
    assert len(candidates) == 16 < len(scores)
    assert np.array_equal(candidates["prior"], sorted(scores.values(), reverse=True)[:16])
    assert all(scores[action] == prior for action, prior in zip(candidates["action"], candidates["prior"], strict=True))


def test_all_candidates_are_played_in_the_same_determinizations(duel: pg.Game) -> None:
    searcher = searcher_of(duel, duel.start(0), 300)
    left = int(searcher.search.progress["left"][0])
    searcher.simulate(10)
    assert searcher.search.progress["determinizations"][0] == math.ceil(10 / left)
    assert set(searcher.search.candidates["visits"][:left]) == {math.ceil(10 / left)}


def test_halving_keeps_the_better_half_and_at_least_two(duel: pg.Game) -> None:
    searcher = searcher_of(duel, duel.start(0), 300)
    search = searcher.search
    search.progress["left"] = search.progress["considered"] = 3
    search.candidates["total"][:3], search.candidates["visits"][:3] = (1.0, 9.0, 5.0), 10
    first, second, third = search.candidates["action"][:3].tolist()
    searcher.kernels.halve(search)
    assert search.progress["left"][0] == 2
    assert search.candidates["action"][:3].tolist() == [second, third, first]
    searcher.kernels.halve(search)
    assert search.progress["left"][0] == 2


def test_equal_results_are_decided_by_the_score_then_by_the_number(duel: pg.Game) -> None:
    searcher = searcher_of(duel, duel.start(0), 300)
    search = searcher.search
    search.candidates["action"][:3], search.candidates["prior"][:3] = (5, 7, 6), (0.1, 0.1, 0.2)
    search.progress["left"] = 3
    searcher.kernels.halve(search)
    assert search.candidates["action"][:3].tolist() == [6, 5, 7]


def test_a_rollout_counts_for_the_side_that_searches(duel: pg.Game) -> None:
    """Two tricks ahead with two to play: whatever it plays, the leader cannot lose, nor the other win."""
    for to_move in (0, 1):
        where = "".join(str(0 if card in (1, 2) else 1 if card in (3, 4) else 3) for card in range(8))
        position = duel.position(f"{where} 20 -1 {to_move}")
        searcher = searcher_of(duel, position, 64)
        searcher.simulate(64)
        values = searcher.finish().action_values[0, : len(position.legal())]
        assert ((values >= 0) == (to_move == 0)).all() or (values == 0).all(), values


def test_the_result_lists_the_legal_actions_with_visits_that_sum_up(duel: pg.Game) -> None:
    position = duel.start(2)
    searcher = searcher_of(duel, position, 100)
    searcher.run(position.states, seeds(0, 1))
    found, count = searcher.finish(), len(position.legal())
    assert found.actions[0, :count].tolist() == position.legal()
    assert (found.actions[0, count:] == -1).all()
    assert found.visits.sum() == found.simulations[0] >= 100
    assert found.policy.sum() == pytest.approx(1)
    assert found.chosen[0] in position.legal()
    best = position.legal().index(int(found.chosen[0]))
    assert found.values[0] == found.action_values[0, best]
    assert found.visits[0, best] == found.visits.max()
