"""Shaping by potentials leaves the best actions as they are: proved on games small enough to solve."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.games.interface import value_for
from plyground.learners.arrays import OnCpu
from plyground.learners.shaping import differences, potentials

DISCOUNT, WEIGHT = 0.9, 0.7
OPINION = """
@njit
def evaluate(state: State) -> float:
    mixed = 7 + 31 * state["to_move"]
    for cell in range(9):
        mixed = (mixed * 13 + 5 * state["cells"][cell] + cell) % 1009
    return mixed / 504.0 - 1.0
"""


@pytest.fixture(scope="module")
def opinionated(tmp_path_factory: pytest.TempPathFactory) -> pg.Game:
    """Three in a row whose `evaluate` has strong and senseless opinions."""
    source = (ROOT / "examples" / "three_in_a_row.py").read_text()
    changed = re.sub(r"\n@njit\ndef evaluate\(state: State\) -> float:\n    return 0\.0\n", OPINION, source)
    assert changed != source
    path = Path(tmp_path_factory.mktemp("games")) / "opinionated.py"
    path.write_text(changed)
    return pg.load(str(path))


def here(game: pg.Game) -> OnCpu:
    return OnCpu(game, np.random.default_rng(0))


Graph = dict[str, dict[int, str]]  # of each position that can be reached: where its actions lead
Table = dict[str, dict[int, float]]  # what each action of a position is worth, for the side to move


def explored(game: pg.Game) -> tuple[Graph, dict[str, pg.Position]]:
    """All positions by their texts. Heads only: what a text does not say is forgotten."""
    graph, positions, waiting = Graph(), dict[str, pg.Position](), [game.start().text]
    while waiting:
        text = waiting.pop()
        if text not in graph:
            position = positions[text] = game.position(text)
            graph[text] = {action: position.play(action).text for action in position.legal()}
            waiting += graph[text].values()
    return graph, positions


def solved(game: pg.Game, graph: Graph, positions: dict[str, pg.Position], weight: float) -> Table:
    """Optimal action values, by value iteration, with rewards as a learner gets them."""
    edges = [(text, action, child) for text, actions in graph.items() for action, child in actions.items()]
    before = game.heads(np.concatenate([positions[text].states for text, _, _ in edges]))
    after = game.heads(np.concatenate([positions[child].states for _, _, child in edges]))
    added = differences(here(game), before, after, DISCOUNT)
    values: Table = {text: {} for text in graph}
    steps = [
        (text, action, child, value_for(int(last["outcome"]), int(first["to_move"])) + weight * float(more), sign)
        for (text, action, child), first, last, more, sign in zip(
            *(edges, before, after, added, np.where(before["to_move"] == after["to_move"], 1.0, -DISCOUNT)), strict=True
        )
    ]
    change = 1.0
    while change > 1e-6:
        change = 0.0
        for text, action, child, reward, sign in reversed(steps):
            value = reward + sign * max(values[child].values(), default=0.0)
            change = max(change, abs(value - values[text].get(action, 1e9)))
            values[text][action] = value
    return values


def check(game: pg.Game) -> None:
    graph, positions = explored(game)
    plain, shaped = (solved(game, graph, positions, weight) for weight in (0.0, WEIGHT))
    assert len(graph) > 10
    for text, actions in plain.items():
        potential = float(potentials(here(game), positions[text].states)[0])
        for action, value in actions.items():
            assert shaped[text][action] == pytest.approx(value - WEIGHT * potential, abs=1e-4)
        if actions:
            best = {action for action, value in actions.items() if value > max(actions.values()) - 1e-4}
            assert {k for k, value in shaped[text].items() if value > max(shaped[text].values()) - 1e-4} == best


def test_the_best_actions_stay_the_best_in_three_in_a_row(opinionated: pg.Game) -> None:
    check(opinionated)


def test_the_best_actions_stay_the_best_where_turns_do_not_alternate() -> None:
    check(pg.load(TINY[1], length=5))


def test_a_difference_by_hand() -> None:
    game = pg.load(TINY[1])  # a token on nine cells; the first side wants to the right
    before = game.position("----o---- 0 0 running")
    after = game.position("-----o--- 1 0 running")
    lead = 1 / 5  # for the first side; the second sees the opposite
    found = differences(here(game), game.heads(before.states), game.heads(after.states), 0.9)
    assert found.tolist() == pytest.approx([-0.9 * -lead - 0.0])
    again = game.position("-----o--- 0 1 running")
    assert differences(here(game), game.heads(before.states), game.heads(again.states), 0.9).tolist() == pytest.approx(
        [lead]
    )
    won = game.position("--------o 1 0 first")
    near = game.position("-------o- 0 0 running")
    found = differences(here(game), game.heads(near.states), game.heads(won.states), 0.9)
    assert found.tolist() == pytest.approx([-3 / 5]), "a finished game has no potential"


def test_a_wrong_sign_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = differences
    monkeypatch.setitem(globals(), "differences", lambda on, a, b, discount: right(on, a, b, -discount))
    with pytest.raises(AssertionError):
        check(pg.load(TINY[1], length=5))


def test_a_game_without_judgement_cannot_shape() -> None:
    game = pg.load(TINY[0])
    with pytest.raises(pg.InvalidValue, match="shaping needs a game that defines `evaluate`"):
        potentials(here(game), np.zeros(1, game.rules.STATE))
