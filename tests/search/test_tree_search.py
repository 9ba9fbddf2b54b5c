"""Tree search without a network: it proves what is true, finds what is planted, and each row is on its own."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TESTS
from plyground.errors import InvalidValue, UnknownName
from plyground.game import module_of_file
from plyground.games.connect_four.solver.solver import perfect
from plyground.games.interface import RUNNING, value_for
from plyground.games.rng import seeds
from plyground.models.compiled import CompiledModel
from plyground.search.tree_arrays import DRAWN, LOST, OPEN, WON, Result
from plyground.search.tree_config import SearchConfig, halving_schedule
from plyground.search.tree_memory import words_of
from plyground.search.tree_search import TreeSearch, tree_search
from search.every_reply import lost_games

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def chess() -> pg.Game:
    return pg.load("chess")


def search(game: pg.Game, states: Any, rngs: Any = None, **settings: Any) -> Result:
    rngs = np.zeros(len(states), np.uint64) if rngs is None else rngs
    return TreeSearch(game, SearchConfig(**settings), threads=1).search(states, rngs)


def true_values(game: pg.Game) -> dict[bytes, int]:
    """The value of every position of three in a row for the side to move."""
    found: dict[bytes, int] = {}

    @functools.cache
    def value(key: bytes) -> int:
        state = np.frombuffer(bytearray(key), game.rules.STATE)
        here = pg.Position(game, state)
        if state[0]["outcome"] != RUNNING:
            found[key] = int(value_for(state[0]["outcome"], state[0]["to_move"]))
        else:
            found[key] = max(-value(here.play(action).states.tobytes()) for action in here.legal())
        return found[key]

    value(game.start().states.tobytes())
    return found


def test_proven_values_of_three_in_a_row_are_the_true_ones(three: pg.Game) -> None:
    """All positions, each searched with few simulations and with many: what is proven is true, and many prove all."""
    values = true_values(three)
    running = [key for key in values if np.frombuffer(key, three.rules.STATE)[0]["outcome"] == RUNNING]
    states = np.frombuffer(b"".join(running), three.rules.STATE).copy()
    truth = np.array([values[key] for key in running])
    for settings in (
        {"simulations": 20},
        {"simulations": 4000, "exploration": 4.0},
        {"selection": "gumbel", "simulations": 60},
    ):
        found = search(three, states, **settings)
        proven = found.proven != OPEN
        assert (found.proven[proven].astype(int) - DRAWN == truth[proven]).all()
        assert (found.values[proven] == truth[proven]).all()
        assert proven.mean() > (0.95 if settings["simulations"] == 4000 else 0.3)


@pytest.mark.parametrize("leaf", ["evaluate", "random"])
@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_a_search_without_a_network_never_loses_three_in_a_row(three: pg.Game, leaf: str, selection: str) -> None:
    """Both seats against every reply, with several sequences of random numbers where random play evaluates leaves.
    All positions but the first are proven; that needs more simulations."""
    searcher = TreeSearch(three, SearchConfig(simulations=10_000, leaf=leaf, selection=selection), threads=1)

    for seed in range(10 if leaf == "random" else 1):

        def choose(states: Any, seed: int = seed) -> Any:
            found = searcher.search(states, seeds(seed, len(states)))
            assert (found.proven != OPEN).all() or len(states) == 1
            return found.chosen

        assert [lost_games(three, choose, seat) for seat in (0, 1)] == [0, 0]
    first = search(three, three.start().states, simulations=60_000, leaf=leaf, selection=selection)
    assert first.proven[0] == DRAWN
    assert first.simulations[0] < 60_000


def test_proven_values_of_connect_four_are_the_solvers(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 60, seed=4, threads=1)
    for _ in range(22):
        batch.step(batch.random_actions())
    states = batch.states[batch.states["ply"] == 22].copy()
    found, exact = search(connect_four, states, simulations=4000), perfect().scores(states)
    proven = found.proven != OPEN
    assert proven.sum() > 10
    assert len(set(found.proven.tolist())) >= 3
    assert (np.sign(exact)[proven] == found.proven[proven].astype(int) - DRAWN).all()


@pytest.mark.parametrize("leaf", ["random", "evaluate"])
@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_wins_and_forced_blocks_of_connect_four_are_found_with_32_simulations(
    connect_four: pg.Game, leaf: str, selection: str
) -> None:
    for text, column, proven in (("112233", "4", WON), ("121212", "1", WON), ("12121", "1", 0), ("11213", "4", 0)):
        position = connect_four.position(text)
        for seed in range(8):
            rngs = np.array([seed], np.uint64)
            found = search(connect_four, position.states, rngs, simulations=32, leaf=leaf, selection=selection)
            assert position.name(int(found.chosen[0])) == column
            assert not proven or found.proven[0] == proven


def test_a_mate_in_one_is_found_with_32_simulations(chess: pg.Game) -> None:
    mates = {
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1": "a1a8",
        "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4": "h5f7",
        "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq g3 0 2": "d8h4",
    }
    for leaf in ("evaluate", "random"):
        for fen, move in mates.items():
            position = chess.position(fen)
            found = search(chess, position.states, simulations=32, leaf=leaf, rollout_plies=20)
            assert position.name(int(found.chosen[0])) == move
            assert found.proven[0] == WON


def test_a_repetition_inside_the_tree_is_a_draw(chess: pg.Game) -> None:
    """White is lost but for a perpetual: the position has occurred twice, so that one more repetition is a draw."""
    position = chess.position("7k/8/8/8/8/8/q7/7K w - - 0 1")
    for move in ("h1g1", "h8g8", "g1h1", "g8h8", "h1g1", "h8g8", "g1h1"):
        position = position.play(move)
    found = search(chess, position.states, simulations=200, leaf="evaluate")
    place = found.actions[0].tolist().index(position.action("g8h8"))
    assert found.action_proven[0, place] == DRAWN
    assert found.chosen[0] != position.action("g8h8")


@pytest.mark.parametrize("settings", [{}, {"selection": "gumbel", "noise": True}, {"noise": True}])
def test_a_row_searched_alone_is_the_row_of_a_batch(connect_four: pg.Game, settings: dict[str, Any]) -> None:
    batch = pg.Batch(connect_four, 9, seed=5, threads=1)
    batch.step(batch.random_actions())
    rngs = np.arange(9, dtype=np.uint64)
    whole = TreeSearch(connect_four, SearchConfig(simulations=100, **settings), threads=2)
    together = whole.search(batch.states.copy(), rngs.copy())
    for row in range(9):
        alone = search(
            connect_four, batch.states[row : row + 1].copy(), rngs[row : row + 1].copy(), simulations=100, **settings
        )
        for name, one, all_rows in zip(Result._fields, alone, together, strict=True):
            assert one[0].tobytes() == all_rows[row].tobytes(), name


@pytest.mark.parametrize("settings", [{}, {"selection": "gumbel", "noise": True}, {"leaf": "evaluate", "reuse": True}])
def test_a_search_in_pieces_is_the_search_in_one_piece(
    connect_four: pg.Game, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It pauses so that Ctrl-C is heard; every bit is the same, also in the next search of the same game."""
    batch = pg.Batch(connect_four, 3, seed=5, threads=1)
    batch.step(batch.random_actions())
    games, found = np.arange(3), list[list[bytes]]()
    for chunk in (1, 10**9):
        monkeypatch.setattr("plyground.search.tree_search.FIRST_CHUNK", chunk)
        monkeypatch.setattr("plyground.search.tree_search.SIGNAL_INTERVAL", 0.0)
        searcher = TreeSearch(connect_four, SearchConfig(simulations=150, **settings), threads=1)
        calls, rngs = counted_kernels(searcher), np.arange(3, dtype=np.uint64)
        states, parts = batch.states.copy(), list[bytes]()
        for _ in range(2):
            result = searcher.search_in(games, states, rngs) if "reuse" in settings else searcher.search(states, rngs)
            parts += [each.tobytes() for each in result]
            connect_four.kernels().play_all(states, result.chosen, rngs.copy(), connect_four.work())
        found.append([*parts, rngs.tobytes()])
        assert (calls.count("simulate_all") >= 300) == (chunk == 1)
    assert found[0] == found[1]


def counted_kernels(searcher: TreeSearch) -> list[str]:
    """The names of the kernels that a search calls from now on."""
    calls, own = list[str](), searcher.kernels

    class Counting:
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            return getattr(own, name)

    searcher.kernels = Counting()
    return calls


def test_generators_advance_so_that_the_next_search_differs(connect_four: pg.Game) -> None:
    searcher, rngs = TreeSearch(connect_four, SearchConfig(simulations=50), threads=1), np.zeros(1, np.uint64)
    states = connect_four.start().states
    first, second = searcher.search(states, rngs), searcher.search(states, rngs)
    assert first.visits.tolist() != second.visits.tolist()


def test_a_lost_position_is_played_on_as_long_as_possible(connect_four: pg.Game) -> None:
    """The second player cannot stop both ends of an open three: any move loses, some at once."""
    position = connect_four.position("44556")  # the first side threatens on both sides
    found = search(connect_four, position.states, simulations=3000)
    assert found.proven[0] == LOST
    chosen = found.actions[0].tolist().index(int(found.chosen[0]))
    assert found.distances[0, chosen] == found.distances[0].max()


def test_a_limit_by_time_is_kept(connect_four: pg.Game) -> None:
    states, rngs = connect_four.start().states, np.zeros(1, np.uint64)
    for selection in ("puct", "gumbel"):
        config = SearchConfig(simulations=0, seconds=0.1, selection=selection)
        searcher = TreeSearch(connect_four, config, threads=1)
        searcher.search(states, rngs)  # compiles
        start = time.perf_counter()
        found = searcher.search(states, rngs)
        assert 0.09 < time.perf_counter() - start < 0.6
        assert found.simulations[0] > 500
        assert found.visits[0].sum() == found.simulations[0]
    both = TreeSearch(connect_four, SearchConfig(simulations=300, seconds=5.0), threads=1).search(states, rngs)
    assert both.simulations[0] == 300


def test_a_tree_is_reused_in_the_next_move_of_the_same_game(connect_four: pg.Game) -> None:
    searcher = TreeSearch(connect_four, SearchConfig(simulations=300, reuse=True), threads=1)
    position, rngs = connect_four.start(), np.zeros(1, np.uint64)
    games = np.array([7])
    first = searcher.search_in(games, position.states, rngs)
    position = position.play(int(first.chosen[0])).play(3)
    again = searcher.search_in(games, position.states, rngs)
    assert again.simulations[0] == 300
    assert again.visits[0].sum() > 300
    other = searcher.search_in(np.array([8]), position.states, rngs)
    assert other.visits[0].sum() == 300
    searcher.forget(games)
    assert searcher.search_in(games, position.states, rngs).visits[0].sum() == 300


def test_every_kernel_can_be_compiled_before_a_search(three: pg.Game) -> None:
    """`play` does so before a person waits for the first move."""
    searcher = TreeSearch(three, SearchConfig(simulations=7, leaf="random"), threads=1)
    calls = counted_kernels(searcher)
    searcher.compile()
    assert calls == ["begin_all", "simulate_all", "finish_all"]


def test_a_full_tree_goes_on_with_the_nodes_it_has(connect_four: pg.Game) -> None:
    searcher = TreeSearch(connect_four, SearchConfig(simulations=5000), threads=1)
    searcher.nodes = 50
    found = searcher.search(connect_four.start().states, np.zeros(1, np.uint64))
    assert found.simulations[0] == 5000 == found.visits[0].sum()


def test_scripted_agents_may_play_from_leaves(connect_four: pg.Game) -> None:
    found = search(connect_four, connect_four.start().states, simulations=200, leaf="random")
    assert found.policy[0].sum() == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(UnknownName, match="no evaluator of leaves for connect_four 'nobody'"):
        TreeSearch(connect_four, SearchConfig(leaf="nobody"))


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
@pytest.mark.parametrize("word", ["connect_four", "paco_sako", str(ROOT / "examples" / "three_in_a_row.py")])
def test_a_model_gives_priors_by_the_states_after_the_actions(word: str, selection: str) -> None:
    """Every node of a tree beside plain Python: turns of several actions, sums that follow what has changed."""
    game = pg.load(word)
    model = CompiledModel(game, module_of_file(str(TESTS / "models" / "accumulating.py"), "model file"))
    rng = np.random.default_rng(3)
    for values in model.arrays.values():
        values[...] = rng.normal(0, 0.1, values.shape)
    config = SearchConfig(60, selection=selection, leaf="evaluate", prior_temperature=0.2)
    kernels, (trees, settings, judge, work, _) = tree_search(model, config, 1, 61)
    kernels.begin_all(trees, words_of(game.start().states), settings, judge, work)
    kernels.simulate_all(trees, 60, halving_schedule(config.considered, 60), settings, judge, work)
    expanded = 0
    for n, node in enumerate(trees.nodes[0, : trees.counters["nodes"][0]]):
        state, edges = trees.states[0, n : n + 1], trees.edges[0, node["first"] : node["first"] + node["count"]]
        if n and node["proven"] == OPEN:
            assert node["value"] == pytest.approx(model.judge(state)[0], abs=1e-6)
        values = [after_value(model, pg.Position(game, state), int(edge["action"])) for edge in edges]
        shares = np.exp(np.array(values) / 0.2)
        assert edges["prior"].tolist() == pytest.approx((shares / shares.sum()).tolist(), abs=1e-6)
        for edge, value in zip(edges, values, strict=True):
            assert edge["visits"] or edge["value"] == pytest.approx(value, abs=1e-6)
        expanded += len(edges) > 0
    assert expanded > 5


def after_value(model: CompiledModel, position: pg.Position, action: int) -> float:
    """What the model says of the position after an action, for the side to move before it."""
    after = position.play(action)
    if after.over:
        return value_for(int(after.outcome), position.to_move)
    value = float(model.judge(after.states)[0])
    return value if after.to_move == position.to_move else -value


def test_bad_input_is_refused_in_a_sentence(connect_four: pg.Game, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidValue, match=r"1 search trees of .* nodes of connect_four need .* GB, where .* GB are free"
    ):
        TreeSearch(connect_four, SearchConfig(simulations=100_000_000), threads=1)
    plain = tmp_path / "plain.py"
    row = (ROOT / "examples" / "three_in_a_row.py").read_text(encoding="utf-8")
    plain.write_text(row.replace("def evaluate(", "def worth("), encoding="utf-8")
    with pytest.raises(
        InvalidValue, match=r"needs a game that defines `evaluate`; .*plain.py does not: use leaf=random"
    ):
        TreeSearch(pg.load(str(plain)), SearchConfig(leaf="evaluate"))
    with pytest.raises(InvalidValue, match="without a network"):
        TreeSearch(connect_four, SearchConfig(leaf="network"))
