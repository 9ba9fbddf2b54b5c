"""Potential-based shaping leaves the best actions as they are: proved on games small enough to solve."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT, TINY
from plyground.backend.games import DeviceGame, on_device
from plyground.games.interface import value_for
from plyground.learners.selfplay import Transition
from plyground.learners.shaping import potentials, shaping_rewards

GAMMA, WEIGHT = 0.9, 0.7
OPINION = """
@njit
def evaluate(state: State) -> float:
    mixed = 7 + 31 * state["to_move"]
    for cell in range(9):
        mixed = (mixed * 13 + 5 * state["cells"][cell] + cell) % 1009
    return mixed / 504.0 - 1.0
"""


@pytest.fixture
def opinionated(steady_path: Path) -> pg.Game:
    """Three in a row whose `evaluate` has strong and senseless opinions."""
    source = (ROOT / "examples" / "three_in_a_row.py").read_text()
    changed = re.sub(r"\n@njit\ndef evaluate\(state: State\) -> float:\n    return 0\.0\n", OPINION, source)
    assert changed != source
    path = steady_path / "opinionated.py"
    path.write_text(changed)
    return pg.load(str(path))


def rewards_of(games: DeviceGame, before: pg.Position, after: pg.Position, gamma: float) -> list[float]:
    """Of one ply."""
    return shaping_rewards(games, ply(games, heads(games, before), heads(games, after)), gamma).tolist()


def heads(games: DeviceGame, *positions: pg.Position) -> torch.Tensor:
    """[N, bytes]"""
    return torch.cat([games.from_records(games.game.heads(each.states)) for each in positions])


def ply(games: DeviceGame, before: torch.Tensor, after: torch.Tensor) -> Transition:
    """Of all these plies only the states count."""
    n = len(before)
    no, zeros = torch.zeros(n, dtype=torch.bool), torch.zeros(n, dtype=torch.int32)
    return Transition(before, zeros, torch.zeros(n), after, no, no, ~no, zeros)


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
    games = on_device(game, "cpu")
    rows = heads(games, *(positions[text] for text, _, _ in edges))
    next_rows = heads(games, *(positions[child] for _, _, child in edges))
    added = shaping_rewards(games, ply(games, rows, next_rows), GAMMA)
    before, after = games.to_records(rows), games.to_records(next_rows)
    values: Table = {text: {} for text in graph}
    steps = [
        (text, action, child, value_for(int(last["outcome"]), int(first["to_move"])) + weight * float(more), sign)
        for (text, action, child), first, last, more, sign in zip(
            *(edges, before, after, added, np.where(before["to_move"] == after["to_move"], 1.0, -GAMMA)), strict=True
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
    games = on_device(game, "cpu")
    graph, positions = explored(game)
    plain, shaped = (solved(game, graph, positions, weight) for weight in (0.0, WEIGHT))
    assert len(graph) > 10
    for text, actions in plain.items():
        potential = float(potentials(games, heads(games, positions[text]))[0])
        for action, value in actions.items():
            assert shaped[text][action] == pytest.approx(value - WEIGHT * potential, abs=1e-4)
        if actions:
            best = {action for action, value in actions.items() if value > max(actions.values()) - 1e-4}
            assert {k for k, value in shaped[text].items() if value > max(shaped[text].values()) - 1e-4} == best


def test_the_best_actions_stay_the_best_in_three_in_a_row(opinionated: pg.Game) -> None:
    check(opinionated)


def test_the_best_actions_stay_the_best_where_turns_do_not_alternate() -> None:
    check(pg.load(TINY[1], length=5))


def test_a_shaping_reward_by_hand() -> None:
    game = pg.load(TINY[1])  # a token on nine cells; the first side moves it to the right
    games = on_device(game, "cpu")
    before = game.position("----o---- 0 0 running")
    lead = 1 / 5  # for the first side; the second sees the opposite
    passed = game.position("-----o--- 1 0 running")
    assert rewards_of(games, before, passed, 0.9) == pytest.approx([-0.9 * -lead - 0.0])
    again = game.position("-----o--- 0 1 running")
    assert rewards_of(games, before, again, 0.9) == pytest.approx([lead])
    near, won = game.position("-------o- 0 0 running"), game.position("--------o 1 0 first")
    assert rewards_of(games, near, won, 0.9) == pytest.approx([-3 / 5]), "a finished game has no potential"


def test_a_wrong_sign_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = shaping_rewards
    monkeypatch.setitem(globals(), "shaping_rewards", lambda games, ply, gamma: right(games, ply, -gamma))
    with pytest.raises(AssertionError):
        check(pg.load(TINY[1], length=5))


def test_a_game_without_an_evaluation_cannot_shape() -> None:
    game = pg.load(TINY[0])
    with pytest.raises(pg.InvalidValue, match="shaping needs a game that defines `evaluate`"):
        potentials(on_device(game, "cpu"), heads(on_device(game, "cpu"), game.start()))
