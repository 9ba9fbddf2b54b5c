"""Teachers: deterministic scores, policies on a scale where a pawn matters, chess in 4096 actions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.agents.registry import make
from plyground.agents.teacher import UNIT, Teacher, make_teacher, teachers_of
from plyground.checks import laws
from plyground.games.rng import seeds

pytestmark = pytest.mark.compiled


class Given:
    """Returns the scores it was given."""

    def __init__(self, scores: list[float]) -> None:
        self.given = np.array([scores])

    def scores(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.given.shape[1], dtype=np.int32)[None], self.given


def test_a_policy_by_hand(connect_four: pg.Game) -> None:
    states = connect_four.start().states
    teacher = Teacher(connect_four, Given([0.0, 0.125, -0.5, 0.125, 0.0, 999.0, -999.0]), "given")
    found = teacher.lessons(states, 3, 1.0)
    assert found.top.tolist() == [[5, 1, 3]], "the best first; of equal ones the lowest"
    assert found.policy[0].tolist() == [1.0, 0.0, 0.0], "a forced win is all that counts"
    assert found.values.tolist() == [1.0]
    calm = Teacher(connect_four, Given([0.0, 2 * UNIT, UNIT]), "given").lessons(states, 2, 0.5)
    assert calm.policy[0] == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))])
    assert teacher.act(states, np.zeros(1, np.uint64)).tolist() == [5]


def test_a_pawn_matters(connect_four: pg.Game) -> None:
    pawn = 100 / 600  # what chess's `evaluate` says of one
    teacher = Teacher(connect_four, Given([pawn, 0.0, 0.0, 0.0, 0.0]), "given")
    states = connect_four.start().states
    chances = [float(teacher.lessons(states, 5, temperature).policy[0, 0]) for temperature in (100.0, 1.0, 0.3)]
    assert chances == pytest.approx([0.20, 0.78, 1.0], abs=0.01)


def test_fewer_actions_than_asked_for(connect_four: pg.Game) -> None:
    sample = laws.sample(connect_four, 60).states
    counts = connect_four.legal_mask(sample).sum(1)
    few = int(np.flatnonzero((counts > 0) & (counts < 5))[0])
    nearly_full = pg.Position(connect_four, sample[few : few + 1])
    found = make_teacher(connect_four).lessons(nearly_full.states, 5, 1.0)
    count = len(nearly_full.legal())
    assert (found.top[0, count:] == -1).all()
    assert found.policy[0, :count].sum() == pytest.approx(1)
    assert found.valid[0][found.valid[0] >= 0].tolist() == nearly_full.legal()


def test_chess_is_seen_in_4096_actions_and_the_exact_move_is_kept() -> None:
    chess = pg.load("chess")
    position = chess.position("8/5P1k/8/6p1/6p1/8/5R2/K5R1 w - - 0 1")  # both a queen and a rook can be made on f8
    actions = np.array([position.legal()], np.int32)
    view = chess.rules.DATASET.actions(position.states, actions)
    assert view.max() < 4096
    assert sorted(np.unique(view[view != actions])) == [position.action("f7f8q")]
    knight = chess.position("8/5P1k/8/6pp/6pn/6qr/8/K7 w - - 0 1")
    black = chess.position("4k3/8/8/8/8/8/5p2/3K2N1 b - - 0 1")
    for each, name in ((knight, "f7f8n"), (black, "f2g1r")):
        action = np.array([[each.action(name)]], np.int32)
        assert chess.rules.DATASET.actions(each.states, action)[0, 0] == each.action(name[:4] + "q")


def test_an_under_promotion_that_mates_is_the_best_move() -> None:
    chess = pg.load("chess")
    position = chess.position("5r1r/4PPkp/6pp/6pP/8/8/8/K5R1 w - - 0 1")
    teacher = make_teacher(chess, depth=1, quiescence=0)
    found = teacher.lessons(position.states, 5, 1.0)
    exact = [position.name(int(action)) for action in found.moves[0]]
    assert len(set(found.top[0].tolist())) == 5
    actions, scores = teacher.scorer.scores(position.states)
    best = position.name(int(actions[0, np.argmax(np.where(actions[0] >= 0, scores[0], -np.inf))]))
    assert exact[0] == best
    assert found.top[0, 0] < 4096


def test_the_solver_teaches_connect_four(connect_four: pg.Game) -> None:
    assert teachers_of(connect_four) == ["minimax", "solver"]
    position = connect_four.position("4444")
    teacher = make_teacher(connect_four, "solver")
    found = teacher.lessons(position.states, 7, 1.0)
    from plyground.games.connect_four.solver.solver import perfect

    exact = perfect().move_scores(position.states)[0].astype(int)
    order = sorted(range(7), key=lambda column: (-exact[column], column))
    assert found.top[0].tolist() == order
    assert np.sign(found.values[0]) == np.sign(exact.max())


def test_the_window_scorer_teaches_sequence() -> None:
    sequence = pg.load("sequence")
    sample = laws.sample(sequence, 12, seed=2)
    rows = np.flatnonzero(sample.states["outcome"] == 0)[::9][:120]
    states = sample.states[rows]
    taught = make_teacher(sequence).lessons(states, 5, 1.0)
    window, tries = make("window", sequence), 40
    agrees = 0
    for row in range(len(states)):
        played = window.act(np.repeat(states[row : row + 1], tries), seeds(1, tries))
        agrees += int(taught.moves[row, 0] in played)
    assert agrees >= 0.9 * len(states)
    assert np.abs(taught.values).max() <= 1


def test_a_teacher_never_changes_its_mind() -> None:
    chess = pg.load("chess")
    states = laws.sample(chess, 6, seed=4).states[::15]
    states = states[states["outcome"] == 0]
    one, two = (make_teacher(chess, threads=threads).lessons(states, 5, 1.0) for threads in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(make_teacher(chess, table=12).lessons(states, 5, 1.0).policy, one.policy)


def test_who_cannot_teach() -> None:
    with pytest.raises(pg.InvalidValue, match="has no teacher: it has neither"):
        make_teacher(pg.load(TINY[0]))
    with pytest.raises(pg.Error, match="no teacher of chess 'solver'"):
        make_teacher(pg.load("chess"), "solver")


def test_a_search_teaches_what_it_would_play(connect_four: pg.Game) -> None:
    states = laws.sample(connect_four, 12, seed=3).states
    states = states[states["outcome"] == 0][::5]
    spec = "search:sims=60"
    search: Any = make(spec, connect_four)
    found = search.search(states, np.zeros(len(states), np.uint64))
    taught = make_teacher(connect_four, spec).lessons(states, 3, 1.0)
    assert np.array_equal(taught.moves[:, 0], found.chosen), "also where another action has a higher mean"
    assert any(found.action_values[row].max() > taught.values[row] for row in range(len(states))), "as it has here"
    alone = make_teacher(connect_four, spec, threads=1).lessons(states[3:4], 3, 1.0)
    assert np.array_equal(alone.policy[0], taught.policy[3]), "a position is scored alone"


def test_a_search_teaches_only_what_it_has_visited() -> None:
    sequence = pg.load("sequence")
    states = laws.sample(sequence, 2, seed=2).states[::20]
    states = states[states["outcome"] == 0]
    spec = "search:sims=20"
    search: Any = make(spec, sequence)
    visits = search.search(states, np.zeros(len(states), np.uint64)).visits
    taught = make_teacher(sequence, spec).lessons(states, 64, 1.0)
    assert np.array_equal((taught.top >= 0).sum(1), np.maximum(1, (visits > 0).sum(1)))
    assert ((taught.valid >= 0).sum(1) >= (taught.top >= 0).sum(1)).all()


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("search:time=0.1", "its limit is a time"),
        ("search:model=trained,sims=8", "rounded together"),
        ("search:sims=0", "sims of the agent search"),
    ],
)
def test_searches_that_cannot_teach(connect_four: pg.Game, spec: str, reason: str) -> None:
    with pytest.raises(pg.InvalidValue, match=reason):
        make_teacher(connect_four, spec)
