"""Tree search with a network: lockstep, rows that do not depend on one another, the same trees on a GPU.

Without a GPU the tests of the device `cuda` skip here; `backend/test_device.py` runs them with numba's simulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import plyground as pg
from backend.conftest import NEEDS_GPU
from conftest import ROOT, TINY
from plyground.backend.device import SIMULATED
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.models.network import NetworkEvaluator
from plyground.networks import make_network
from plyground.search.analysis import analyse
from plyground.search.network_search import (
    GrowingNetworkTree,
    NetworkSearch,
    search_records,
)
from plyground.search.tree_arrays import LOST, OPEN, WON, Result
from plyground.search.tree_config import SearchConfig
from plyground.search.tree_memory import words_of
from search.every_reply import lost_games

THREE = str(ROOT / "examples" / "three_in_a_row.py")
SIMULATIONS = 12 if SIMULATED else 48


def constant(view: View) -> Any:
    """A network that says the same of every state."""
    logits = torch.linspace(-1.0, 1.0, view.outputs, device=view.device)

    def evaluator(states: Tensor) -> tuple[Tensor, Tensor]:
        n = len(states)
        return logits.expand(n, -1).contiguous(), torch.full((n,), 0.125, device=view.device)

    return evaluator


def config(**changes: Any) -> SearchConfig:
    return SearchConfig(**{"simulations": SIMULATIONS, "leaf": "network", "selection": "gumbel", **changes})


def positions(game: pg.Game, n: int) -> Any:
    """[n] states of running games, one ply further each."""
    batch = pg.Batch(game, n, seed=2, threads=1)
    for ply in range(3):
        batch.step(batch.random_actions())
        if ply == 1:
            batch.states[: n // 2] = game.start().states[0]
    return batch.states.copy()


def run(game: pg.Game, states: Any, config: SearchConfig, device: str = "cpu", evaluator: Any = constant) -> Result:
    view = View(game, "", device=device)
    rngs = np.arange(len(states), dtype=np.uint64)
    return search_records(NetworkSearch(view, evaluator(view), config, len(states)), states, rngs)


def assert_same(one: Result, other: Result) -> None:
    for name, left, right in zip(Result._fields, one, other, strict=True):
        assert left.tobytes() == right.tobytes(), name


@pytest.mark.compiled
def test_a_search_that_is_limited_is_a_search_with_fewer_simulations(three: pg.Game) -> None:
    states, view = positions(three, 6), View(three, "")
    search = NetworkSearch(view, constant(view), config(noise=True), 6)
    for simulations in (7, 20, SIMULATIONS):
        search.limit(simulations)
        limited = search_records(search, states, np.arange(6, dtype=np.uint64))
        assert_same(limited, run(three, states, config(noise=True, simulations=simulations)))


@pytest.mark.compiled
@pytest.mark.parametrize("selection", ["gumbel", "puct"])
def test_a_row_searched_alone_is_the_row_of_the_batch(three: pg.Game, selection: str) -> None:
    states = positions(three, 6)
    together = run(three, states, config(selection=selection, noise=True))
    for row in range(6):
        view = View(three, "planes")
        search = NetworkSearch(view, constant(view), config(selection=selection, noise=True), 1)
        alone = search_records(search, states[row : row + 1], np.array([row], np.uint64))
        assert_same(alone, Result._make(each[row : row + 1] for each in together))


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=NEEDS_GPU)])
@pytest.mark.parametrize(("word", "selection"), [(THREE, "gumbel"), (THREE, "puct"), (TINY[1], "gumbel")])
def test_trees_on_a_gpu_are_those_of_the_cpu(word: str, selection: str, device: str) -> None:
    game = pg.load(word)
    states = positions(game, 3 if SIMULATED else 200)
    expected = run(game, states, config(selection=selection))
    assert_same(run(game, states, config(selection=selection), device), expected)
    assert (expected.simulations > 0).all()


def random_priors(deviation: float, seed: int) -> Any:
    """Networks that say nothing of value: the logits of all states are the same nine random numbers."""
    logits = torch.from_numpy(np.random.default_rng(seed).normal(0.0, deviation, 9).astype(np.float32))

    def evaluator_of(view: View) -> Any:
        return lambda states: (logits.expand(len(states), -1).contiguous(), torch.zeros(len(states)))

    return evaluator_of


def random_weights(view: View) -> NetworkEvaluator:
    torch.manual_seed(0)
    return NetworkEvaluator(view, make_network("16+value", view.shape, view.outputs))


@pytest.mark.compiled
@pytest.mark.parametrize("selection", ["gumbel", "puct"])
@pytest.mark.parametrize(
    "evaluators",
    [
        [random_priors(1.0, seed) for seed in range(3)],
        [random_priors(4.0, seed) for seed in range(3)],
        [random_weights],
    ],
    ids=["priors", "wide priors", "weights"],
)
def test_a_search_with_any_priors_never_loses_three_in_a_row(
    three: pg.Game, selection: str, evaluators: list[Any]
) -> None:
    """Both seats against every reply: proofs make up for bad networks."""
    how = config(selection=selection, simulations=3000)
    for evaluator in evaluators:
        for seat in (0, 1):
            lost = lost_games(three, lambda states, by=evaluator: run(three, states, how, evaluator=by).chosen, seat)
            assert lost == 0


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("selection", ["gumbel", "puct"])
@pytest.mark.parametrize("deviation", [1.0, 4.0, 10.0])
def test_every_reply_in_three_in_a_row_is_proven_whatever_the_priors(
    three: pg.Game, selection: str, deviation: float
) -> None:
    """From the second ply on, so that luck has no part in it."""
    how = config(selection=selection, simulations=10_000)
    for evaluator in [random_priors(deviation, seed) for seed in range(5)]:

        def choose(states: Any, by: Any = evaluator) -> Any:
            found = run(three, states, how, evaluator=by)
            assert (found.proven != OPEN).all()
            return found.chosen

        assert lost_games(three, choose, 1) == 0


@pytest.mark.compiled
@pytest.mark.parametrize("selection", ["gumbel", "puct"])
def test_every_simulation_adds_a_node_until_the_root_is_proven(three: pg.Game, selection: str) -> None:
    """What is proven is not visited again, however small the priors of all other actions are."""
    view, states = View(three, ""), three.position("x...o....").states
    how = config(selection=selection, simulations=10_000, lookahead=False)
    search = NetworkSearch(view, random_priors(4.0, 0)(view), how, 1)
    found = search_records(search, states, np.zeros(1, np.uint64))
    assert found.proven[0] != OPEN
    assert found.simulations[0] == found.visits[0].sum() == search.trees.counters["nodes"][0] - 1


@pytest.mark.compiled
def test_a_network_of_action_values_is_a_policy_and_a_value(three: pg.Game) -> None:
    view = View(three, "planes")
    q = torch.tensor([0.5, -0.25, 0.0, 0.1, 2.0, -1.0, 0.2, 0.3, -0.5])
    network = make_network("4", view.shape, view.outputs)
    with torch.no_grad():
        network.head.get_parameter("weight").zero_()
        network.head.get_parameter("bias").copy_(q)
    states = view.rows(three.position("....x....").states)
    with torch.no_grad():
        logits, values = NetworkEvaluator(view, network)(states)
    assert logits[0].tolist() == pytest.approx((q / 0.1).tolist())
    assert values.tolist() == [0.5]  # the best legal action; the middle is taken


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=NEEDS_GPU)])
def test_the_copy_of_a_network_on_a_gpu_evaluates_as_the_network_and_follows_its_weights(device: str) -> None:
    view = View(pg.load("connect_four"), "", device=device)
    network = make_network("b2c32+value", view.shape, view.outputs).to(view.device)
    batch = pg.Batch(view.game, 64, device=device)
    batch.step(batch.random_actions())
    states = view.on.heads(batch.states)
    evaluator = NetworkEvaluator(view, network)
    for _ in range(2):
        with torch.no_grad():
            logits, values = network.with_value(view.observe(states))
            found, found_values = evaluator(states)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, logits, atol=0.02, rtol=0.02)
        torch.testing.assert_close(found_values, values, atol=0.02, rtol=0.02)
        with torch.no_grad():
            for each in network.parameters():
                each.add_(torch.randn_like(each), alpha=0.05)
        evaluator.refresh(network)


@pytest.mark.compiled
def test_wins_at_once_are_played_whatever_the_network_says(three: pg.Game) -> None:
    states = np.concatenate([three.position(text).states for text in ("xx.oo....", "x.xoo....")])
    found = run(three, states, config(simulations=2))
    assert found.chosen.tolist() == [2, 1]
    assert found.proven.tolist() == [WON, WON]
    assert found.values.tolist() == [1.0, 1.0]
    lost = run(three, three.position("xo..x.x.o").states, config(simulations=40))  # two threats of x, o to move
    assert lost.proven.tolist() == [LOST]
    assert run(three, three.start().states, config(simulations=5)).proven.tolist() == [OPEN]


def expected(search: NetworkSearch, row: int, plies: int = 2) -> Any:
    """[1] the position after the most visited actions from a row's root."""
    trees, n = search.trees, 0
    for _ in range(plies):
        node = trees.nodes[row, n]
        edges = trees.edges[row, node["first"] : node["first"] + node["count"]]
        n = int(edges["child"][np.argmax(edges["visits"])])
    return trees.states[row, n : n + 1].copy()


@pytest.mark.compiled
@pytest.mark.parametrize("selection", ["gumbel", "puct"])
def test_a_reused_tree_is_the_part_of_the_last_one_below_the_position(three: pg.Game, selection: str) -> None:
    """Every node has its parent, its edge and its state; rows without the position in their tree begin anew."""
    states, view = np.repeat(three.start().states, 3), View(three, "planes")
    search = NetworkSearch(view, constant(view), config(selection=selection, reuse=True, lookahead=False), 3)
    search_records(search, states, np.arange(3, dtype=np.uint64))
    after = np.concatenate([expected(search, 0), expected(search, 1), three.position("xo.......").states])
    known = search.kernels.find_state(search.trees, words_of(after[:1]))
    visits = search.trees.nodes[0, known]["visits"]
    search.begin(search.on.from_records(after), torch.zeros(3, dtype=torch.uint64))
    nodes, edges, tree = search.trees.nodes[0], search.trees.edges[0], search.trees.counters[0]
    assert known > 0
    assert nodes[0]["visits"] == visits > 1
    assert tree["nodes"] > 2
    assert (tree["total"], tree["simulations"]) == (0, 0)
    for n in range(tree["nodes"]):
        for e in range(nodes[n]["first"], nodes[n]["first"] + nodes[n]["count"]):
            child = edges[e]["child"]
            if child >= 0:
                assert (nodes[child]["parent"], nodes[child]["edge"]) == (n, e)
                state = pg.Position(three, search.trees.states[0, n : n + 1].copy()).play(int(edges[e]["action"]))
                assert state.states[0].tobytes() == search.trees.states[0, child].tobytes()
    assert search.trees.counters[2]["nodes"] == 1, "another game"


@pytest.mark.compiled
def test_visits_of_a_reused_tree_do_not_break_sequential_halving(three: pg.Game) -> None:
    """In the second search as in the first, each considered action has its visits of the schedule."""
    view = View(three, "planes")
    settings = config(reuse=True, simulations=32, considered=4, lookahead=False)
    search = NetworkSearch(view, constant(view), settings, 1)
    states, rngs = three.start().states, np.zeros(1, np.uint64)
    search_records(search, states, rngs)
    again = search_records(search, expected(search, 0), rngs)
    assert again.visits[0].sum() > 32 == again.simulations[0]
    own = np.sort(search.trees.roots["visits"][0, :7])[::-1]  # seven legal actions, of which four are considered
    assert own.tolist() == [12, 12, 4, 4, 0, 0, 0]


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=NEEDS_GPU)])
def test_reused_trees_on_a_gpu_are_those_of_the_cpu(device: str) -> None:
    game, results = pg.load(THREE), list[Result]()
    states, rngs = np.repeat(game.start().states, 3), np.arange(3, dtype=np.uint64)
    after = states
    for where in ("cpu", device):
        view = View(game, "", device=where)
        search = NetworkSearch(view, constant(view), config(reuse=True), 3)
        search_records(search, states, rngs.copy())
        after = np.concatenate([expected(search, row, 1) for row in range(3)]) if where == "cpu" else after
        results.append(search_records(search, after, rngs.copy()))
    assert_same(*results)
    assert (results[0].visits.sum(1) > SIMULATIONS).any()


def test_other_leaves_are_refused(three: pg.Game) -> None:
    view = View(three, "planes")
    with pytest.raises(InvalidValue, match="not by evaluate"):
        NetworkSearch(view, constant(view), config(leaf="evaluate"), 1)


def test_trees_too_large_for_the_memory_are_refused_with_the_numbers(three: pg.Game) -> None:
    view = View(three, "planes")
    with pytest.raises(InvalidValue, match=r"need .* GB, where .* GB are free"):
        NetworkSearch(view, constant(view), config(simulations=100_000_000), 1000)


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_an_analysis_with_a_network_is_the_search_of_the_agent(three: pg.Game, selection: str) -> None:
    """Searched in pieces, with the network's priors; by time it goes in rounds."""
    settings, view = config(selection=selection), View(three, "", device="cpu")
    found = run(three, three.start().states, settings)
    tree = GrowingNetworkTree(NetworkSearch(view, constant(view), settings, 1))
    *_, last = analyse(tree, three.start(), np.arange(1, dtype=np.uint64), every=0.0)
    by_action = {move.action: move for move in last.moves}
    assert [by_action[action].visits for action in found.actions[0]] == list(found.visits[0])
    assert [by_action[action].prior for action in found.actions[0]] == [float(prior) for prior in found.priors[0]]
    assert last.moves[0].action == found.chosen[0]
    timed = config(selection=selection, simulations=0, seconds=0.05)
    tree = GrowingNetworkTree(NetworkSearch(view, constant(view), timed, 1))
    *_, last = analyse(tree, three.start(), np.arange(1, dtype=np.uint64))
    assert last.simulations > 0
    assert last.moves[0].line[0] == last.moves[0].name
