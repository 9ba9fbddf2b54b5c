"""Bodies of the tree search on trees that are built by hand."""

from __future__ import annotations

import ast
import functools

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plain_trees import NO_MODEL, bodies, chain, grown
from plyground.games.interface import RUNNING, value_for
from plyground.search.tree_arrays import DRAWN, LOST, OPEN, WON
from plyground.search.tree_config import SearchConfig, halving_schedule
from plyground.search.tree_memory import new_trees, words_of
from source import FILES, functions, name_of, tree

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    ("sides", "values"),
    [([0, 1, 0, 1], [-0.5, 0.5, -0.5]), ([0, 0, 1, 1], [-0.5, -0.5, 0.5]), ([1, 1, 1, 1], [0.5] * 3)],
)
def test_a_value_is_negated_where_the_side_to_move_changes(
    three: pg.Game, sides: list[int], values: list[float]
) -> None:
    kernels, trees = chain(three, sides)
    kernels.back_up(0, 3, 0.5, trees)
    assert trees.edges["value"][0, :3].tolist() == values
    assert trees.edges["visits"][0, :3].tolist() == [1, 1, 1]
    kernels.back_up(0, 3, 0.1, trees)
    assert trees.edges["value"][0, :3] == pytest.approx([0.6 * value for value in values])


@pytest.mark.parametrize(
    ("sides", "proven"), [([0, 1, 0], [LOST, WON]), ([0, 0, 1], [WON, WON]), ([0, 0, 0], [LOST, LOST])]
)
def test_a_proof_is_turned_where_the_side_to_move_changes(three: pg.Game, sides: list[int], proven: list[int]) -> None:
    kernels, trees = chain(three, sides)
    trees.nodes[0, 2]["proven"] = LOST
    kernels.back_up(0, 2, -1.0, trees)
    assert trees.nodes["proven"][0, :2].tolist() == proven
    assert trees.nodes["distance"][0, :2].tolist() == [2, 1]


def test_a_node_is_lost_or_drawn_only_when_all_its_actions_are_proven(three: pg.Game) -> None:
    kernels, _, trees = grown(three, [(0.4, 0, 0.0), (0.3, 0, 0.0), (0.3, 0, 0.0)])
    for k, seen in enumerate((WON, DRAWN, WON)):  # by the other side: a loss, a draw, a loss
        assert trees.nodes[0, 0]["proven"] == OPEN
        trees.nodes[0, k + 1]["proven"] = seen
        kernels.back_up(0, k + 1, seen - DRAWN, trees)
    assert trees.nodes[0, 0]["proven"] == DRAWN
    assert (trees.edges["weight"][0, [0, 2]] < 0.0).all()


def test_a_refuted_action_no_longer_counts_in_the_mean_of_its_node(three: pg.Game) -> None:
    kernels, trees = chain(three, [0, 1, 0])
    trees.nodes[0, 1]["count"], trees.nodes[0, 1]["first"] = 2, 1  # a second action of node 1, worth 0.3 in ten visits
    trees.edges[0, 2]["visits"], trees.edges[0, 2]["value"], trees.edges[0, 2]["child"] = 10, 0.3, -1
    trees.nodes[0, 2]["proven"] = WON
    kernels.back_up(0, 2, 1.0, trees)
    assert trees.edges[0, 0]["value"] == pytest.approx(-0.3)


def test_a_simulation_looks_beside_a_proven_draw_and_counts_as_a_visit_of_it(three: pg.Game) -> None:
    kernels, trees = chain(three, [0, 1, 0])
    node, looked, drawn = trees.nodes[0, 1], trees.edges[0, 1], trees.edges[0, 2]
    node["count"], drawn["child"], drawn["visits"], drawn["value"], drawn["prior"] = 2, 3, 10, 0.0, 0.9
    trees.nodes[0, 3]["proven"], trees.nodes[0, 3]["visits"] = DRAWN, 10
    assert kernels.look_beside(0, 1, 1, trees) == 1
    assert kernels.look_beside(0, 1, 2, trees) == 1
    kernels.back_up(0, 2, 0.7, trees)
    assert (looked["visits"], drawn["visits"], trees.edges[0, 0]["visits"]) == (0, 11, 1)
    assert looked["value"] == pytest.approx(-0.7)
    assert (drawn["value"], trees.edges[0, 0]["value"]) == (0.0, 0.0)
    trees.counters["nodes"] = trees.nodes.shape[1]
    assert kernels.look_beside(0, 1, 2, trees) == 2, "a full tree has nothing new to show"


def test_what_a_look_beside_a_draw_proves_counts(three: pg.Game) -> None:
    kernels, _, trees = grown(three, [(0.8, 9, 0.0), (0.1, 0, -0.5), (0.1, 3, -0.25)])
    trees.nodes[0, 1]["proven"], trees.nodes[0, 3]["proven"] = DRAWN, LOST
    assert kernels.look_beside(0, 0, 0, trees) == 1
    trees.nodes[0, 2]["proven"], trees.nodes[0, 2]["distance"] = LOST, 4  # for the other side
    kernels.back_up(0, 2, -1.0, trees)
    assert (trees.nodes[0, 0]["proven"], trees.nodes[0, 0]["distance"]) == (WON, 5)
    assert trees.roots["visits"][0, :3].tolist() == [1, 0, 0]


def test_turns_that_do_not_alternate_prove_what_is_true() -> None:
    """The line of five cells, by an exhaustive search."""
    game = pg.load(f"{TINY[1]}:length=5,resting=forbidden")
    kernels, trees = bodies(game), new_trees(game, 1, 1000)
    settings = SearchConfig(leaf="evaluate", lookahead=False).settings(game)
    kernels.begin_all(trees, words_of(game.start().states), settings, NO_MODEL, game.work())
    kernels.simulate_all(trees, 999, halving_schedule(16, 1), settings, NO_MODEL, game.work())

    @functools.cache
    def value(position: bytes) -> int:
        state = np.frombuffer(bytearray(position), game.rules.STATE)
        if state[0]["outcome"] != RUNNING:
            return int(value_for(state[0]["outcome"], state[0]["to_move"]))
        here = pg.Position(game, state)
        children = [here.play(action) for action in here.legal()]
        return max(value(child.states.tobytes()) * (1 if child.to_move == here.to_move else -1) for child in children)

    nodes, states = trees.nodes[0, : trees.counters["nodes"][0]], trees.states[0]
    proven = np.flatnonzero(nodes["proven"])
    assert nodes["proven"][0] != OPEN
    assert len(proven) > 5
    assert any(states[n]["to_move"] == states[nodes["parent"][n]]["to_move"] for n in proven[1:])
    for n in proven:
        assert nodes["proven"][n] - DRAWN == value(states[n].tobytes())


def test_no_body_is_called_with_a_literal() -> None:
    """numba would compile it, and all that it calls, once for the literal and once for other numbers."""
    files = [path for path in FILES if name_of(path).startswith("search/tree")]
    own = {
        each.name
        for path in files
        for each in functions(path)
        if "uncounted_body" in map(ast.unparse, each.decorator_list)
    }
    assert len(own) > 20
    calls = [node for path in files for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id in own:
            assert not [each for each in call.args if ast.unparse(each).lstrip("-").isdigit()], ast.unparse(call)
