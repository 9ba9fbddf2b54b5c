"""Bodies of the tree search on trees that are built by hand."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.games.interface import NO_WORK, RUNNING, value_for
from plyground.search import tree
from plyground.search.tree_arrays import DRAWN, LOST, OPEN, WON, Trees
from plyground.search.tree_config import SearchConfig, halving_schedule
from plyground.search.tree_memory import new_trees, words_of

pytestmark = pytest.mark.compiled


PLAIN = {
    "from plyground.kernels.uncounted import uncounted_body, uncounted_loop": "uncounted_body = uncounted_loop = plain",
    "from numba import njit": "plain = njit = lambda function: function",
}


@functools.cache
def bodies(game: pg.Game) -> Any:
    """The template's functions for a game without the compiler: to compile each for a call from Python takes a second,
    and all of them together for another game more than ten."""
    source = Path(tree.__file__).read_text(encoding="utf-8")
    for compiled, plain in PLAIN.items():
        assert compiled in source
        source = source.replace(compiled, plain)
    module, rules = ModuleType("plain_tree"), game.rules
    exec(compile(source, tree.__file__, "exec"), vars(module))  # noqa: S102
    functions = {name: getattr(function, "py_func", function) for name, function in rules.compiled.items()}
    for name in ("legal", "play"):
        if rules.WORK == NO_WORK:
            functions[name] = _without_work(functions[name])
    size = rules.STATE.itemsize // rules.STATE.alignment
    vars(module).update(functions, play_head=functions["play"], MAX_LEGAL=rules.MAX_LEGAL, SIZE=size)
    return module


def _without_work(function: Any) -> Any:
    return lambda *arguments: function(*arguments[:-1])


def grown(game: pg.Game, edges: list[tuple[float, int, float]], **settings: Any) -> tuple[Any, Any, Trees]:
    """Kernels, settings, and a tree whose root has edges of these (prior, visits, value) to nodes of the other side."""
    config = SearchConfig(leaf="random", lookahead=False, **settings)
    kernels, trees = bodies(game), new_trees(game, 1, 40)
    kernels.add_node(0, 0, -1, -1, trees)
    root = trees.nodes[0, 0]
    root["count"], root["visits"] = len(edges), 1 + sum(visits for _, visits, _ in edges)
    for k, (prior, visits, value) in enumerate(edges):
        edge = trees.edges[0, k]
        edge["prior"], edge["visits"], edge["value"] = prior, visits, value
        edge["weight"], edge["child"] = prior / (1 + visits), k + 1
        node = trees.nodes[0, k + 1]
        node["parent"], node["edge"], node["side"], node["visits"] = 0, k, 1, visits
    trees.counters["nodes"] = 1 + len(edges)
    kernels.begin_rounds(trees, config.settings(game))
    return kernels, config.settings(game), trees


def test_puct_balances_value_and_prior(three: pg.Game) -> None:
    edges = [(0.5, 10, 0.1), (0.3, 3, 0.1), (0.2, 1, -0.1)]
    kernels, settings, trees = grown(three, edges, exploration=1.5)
    root = math.sqrt(15.0)
    scores = [value + 1.5 * root * prior / (1 + visits) for prior, visits, value in edges]
    assert kernels.choose_by_puct(0, 0, trees, settings) == int(np.argmax(scores)) == 1


def test_the_mixed_value_weighs_visited_actions_by_their_priors(three: pg.Game) -> None:
    kernels, _, trees = grown(three, [(0.5, 2, 0.4), (0.3, 1, -0.2), (0.2, 0, 0.0)], selection="gumbel")
    trees.nodes[0, 0]["value"] = 0.1
    visited = (0.5 * 0.4 + 0.3 * -0.2) / 0.8
    assert kernels.mixed_value(0, 0, trees) == pytest.approx((0.1 + 3 * visited) / 4, abs=1e-6)


def test_the_improved_policy_is_a_softmax_of_log_priors_and_completed_values(three: pg.Game) -> None:
    edges = [(0.5, 2, 0.4), (0.3, 1, -0.2), (0.2, 0, 0.0)]
    kernels, settings, trees = grown(three, edges, selection="gumbel")
    mixed, scale = kernels.mixed_value(0, 0, trees), (50 + 2) * 0.1
    logits = [math.log(prior) + scale * (value if visits else mixed) for prior, visits, value in edges]
    total = kernels.improve_policy(0, 0, trees, settings)
    wanted = np.exp(logits) / np.exp(logits).sum()
    assert trees.edges["weight"][0, :3] / total == pytest.approx(wanted, abs=1e-5)
    shares = wanted - np.array([2, 1, 0]) / 4
    assert kernels.choose_by_improved_policy(0, 0, trees, settings) == int(np.argmax(shares))


def test_sequential_halving_visits_all_and_then_the_better_half() -> None:
    schedule = halving_schedule(4, 16)
    assert schedule[4].tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert schedule[1].tolist() == list(range(16))


@pytest.mark.parametrize("before", [[0, 0, 0, 0], [9, 0, 3, 1]])
def test_visits_of_an_earlier_search_do_not_break_sequential_halving(three: pg.Game, before: list[int]) -> None:
    """Each of the four actions is visited in the round, however often it was before."""
    edges = [(0.25, visits, 0.1 * k if visits else 0.0) for k, visits in enumerate(before)]
    kernels, settings, trees = grown(three, edges, selection="gumbel", considered=4)
    wanted, chosen = halving_schedule(4, 8), list[int]()
    for _ in range(8):
        chosen.append(kernels.choose_by_halving(0, trees, wanted, settings))
        kernels.back_up(0, chosen[-1] + 1, 0.0, trees)
    assert sorted(chosen[:4]) == [0, 1, 2, 3]
    assert trees.roots["visits"][0, :4].sum() == 8
    assert sorted(trees.roots["visits"][0, :4])[:2] == [1, 1]


def chain(game: pg.Game, sides: list[int]) -> tuple[Any, Trees]:
    """A tree that is one path of nodes with these sides to move."""
    kernels, _, trees = grown(game, [(1.0, 0, 0.0)])
    for n, side in enumerate(sides):
        node = trees.nodes[0, n]
        node["side"], node["parent"], node["edge"], node["visits"] = side, n - 1, n - 1, 0
        node["first"], node["count"], node["proven"] = n, 1, OPEN
        edge = trees.edges[0, n]
        edge["child"], edge["visits"], edge["prior"], edge["value"], edge["weight"] = n + 1, 0, 1.0, 0.0, 1.0
    trees.nodes[0, len(sides) - 1]["count"] = 0
    return kernels, trees


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


def test_dirichlet_noise_has_the_share_and_the_mean_that_it_should(three: pg.Game) -> None:
    kernels = bodies(three)
    rng = np.array([3], np.uint64)
    draws = np.array([kernels.gamma(rng, 0.3) for _ in range(4000)])
    assert draws.mean() == pytest.approx(0.3, abs=0.04)
    assert draws.var() == pytest.approx(0.3, abs=0.08)
    _, settings, trees = grown(three, [(0.7, 0, 0.0), (0.2, 0, 0.0), (0.1, 0, 0.0)], noise=True, noise_share=0.25)
    priors = trees.edges["prior"][0, :3]
    assert priors.sum() == pytest.approx(1.0, abs=1e-5)
    assert settings.noise == 0.25
    assert (priors >= np.array([0.7, 0.2, 0.1]) * 0.75 - 1e-6).all()
    assert priors.tolist() != pytest.approx([0.7, 0.2, 0.1])


def test_a_subtree_is_moved_to_the_root_with_all_it_holds(three: pg.Game) -> None:
    kernels, config = bodies(three), SearchConfig(leaf="random", lookahead=False)
    settings, wanted, source = config.settings(three), halving_schedule(16, 1), new_trees(three, 1, 300)
    kernels.begin_all(source, words_of(three.start().states), settings, three.work())
    kernels.simulate_all(source, 250, wanted, settings, three.work())
    position = three.start().play(4).play(0)
    node = kernels.find_state(source, words_of(position.states))
    target = new_trees(three, 1, 300)
    kernels.move_root(source, node, target, np.zeros(300, np.int32))
    assert target.states[0, 0].tobytes() == position.states[0].tobytes()
    old, new = source.nodes[0, node], target.nodes[0, 0]
    assert (new["visits"], new["count"], new["proven"]) == (old["visits"], old["count"], old["proven"])
    for k in range(target.counters["nodes"][0]):
        for e in range(target.nodes[0, k]["first"], target.nodes[0, k]["first"] + target.nodes[0, k]["count"]):
            child = target.edges[0, e]["child"]
            if child >= 0:
                assert (target.nodes[0, child]["parent"], target.nodes[0, child]["edge"]) == (k, e)
                assert target.nodes[0, child]["visits"] >= target.edges[0, e]["visits"]
    assert kernels.find_state(source, words_of(three.position("xo.xo.x.o").states)) == -1


def test_turns_that_do_not_alternate_prove_what_is_true() -> None:
    """The line of five cells, by an exhaustive search."""
    game = pg.load(f"{TINY[1]}:length=5,resting=forbidden")
    kernels, trees = bodies(game), new_trees(game, 1, 1000)
    settings = SearchConfig(leaf="evaluate", lookahead=False).settings(game)
    kernels.begin_all(trees, words_of(game.start().states), settings, game.work())
    kernels.simulate_all(trees, 999, halving_schedule(16, 1), settings, game.work())

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
