"""Analysis of one position: the same search as the agent's, what it proves is true, and it can be stopped."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.agents.registry import make
from plyground.errors import InvalidValue
from plyground.games.connect_four.solver.solver import perfect
from plyground.games.rng import seeds
from plyground.search import analysis, determinized_search, tree_search
from plyground.search.analysis import LONGEST_LINE, Analysis, GrowingTree, Tree, analyse, best_edge, describe, scored
from plyground.search.tree_arrays import DRAWN, EDGE, LOST, NODE, OPEN, WON
from plyground.search.tree_config import SearchConfig

pytestmark = pytest.mark.compiled


def analysed(position: pg.Position, every: float = 10.0, **settings: Any) -> list[Analysis]:
    return list(analyse(GrowingTree(position.game, SearchConfig(**settings)), position, seeds(0, 1), every))


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_an_analysis_is_the_search_of_the_agent_with_the_same_settings(connect_four: pg.Game, selection: str) -> None:
    """Visits, priors and values of each move, though it is searched in pieces."""
    position = connect_four.position("4453")
    agent: Any = pg.agent(f"search:sims=700,leaf=random,select={selection}", connect_four)
    found = agent.search(position.states.copy(), seeds(0, 1))
    analysis = analysed(position, simulations=700, selection=selection)[-1]
    by_action = {move.action: move for move in analysis.moves}
    assert sorted(by_action) == list(found.actions[0])
    for action, visits, value, prior in zip(
        found.actions[0], found.visits[0], found.action_values[0], found.priors[0], strict=True
    ):
        move = by_action[int(action)]
        assert (move.visits, move.prior) == (visits, pytest.approx(float(prior)))
        assert move.value is None if not visits else move.value == pytest.approx(float(value))
    assert analysis.moves[0].action == found.chosen[0]
    assert analysis.simulations == 700


def test_moves_are_sorted_by_what_the_search_would_play_and_then_by_visits(connect_four: pg.Game) -> None:
    moves = analysed(connect_four.start(), simulations=500)[-1].moves
    visits = [move.visits for move in moves]
    assert moves[0].name == "4"
    assert visits == sorted(visits, reverse=True)


def test_of_proven_losses_the_longer_ones_come_first(connect_four: pg.Game) -> None:
    moves = analysed(connect_four.position("7271454344121541645627121"), simulations=3000)[-1].moves
    distances = [move.distance or 0 for move in moves if move.proven == "loss"]
    assert len(set(distances)) > 2
    assert distances == sorted(distances, reverse=True)
    lost = [move.visits for move in moves if move.proven == "loss"]
    assert lost != sorted(lost, reverse=True), "the order is not that of the visits"


def test_a_principal_variation_is_legal_play_that_begins_with_its_move(connect_four: pg.Game) -> None:
    position = connect_four.position("4453")
    for move in analysed(position, simulations=3000)[-1].moves:
        assert move.line[0] == move.name
        assert 1 <= len(move.line) <= LONGEST_LINE
        assert (len(move.actions), move.actions[0]) == (len(move.line), move.action)
        here = position
        for name, action in zip(move.line, move.actions, strict=True):
            assert here.action(name) == action
            here = here.play(name)


def test_the_line_of_a_proven_win_ends_with_the_win_after_so_many_plies(three: pg.Game) -> None:
    """After a move at the edge against the centre, whatever is played."""
    position, proven = three.start().play("b2").play("a2"), 0
    for first in position.legal():
        here = position.play(first)
        best = analysed(here, simulations=4000, exploration=4.0)[-1]
        if best.proven not in ("win", "loss"):
            continue
        move, end = best.moves[0], here
        for name in move.line:
            end = end.play(name)
        assert end.over
        assert len(move.line) == move.plies
        proven += 1
    assert proven


def test_proven_moves_of_connect_four_have_the_values_of_the_solver(connect_four: pg.Game) -> None:
    """A late position: every move is proven, or nearly."""
    rng, checked = np.random.default_rng(4), 0
    for _ in range(6):
        position = connect_four.start()
        for _ in range(26):
            after = position.play(int(rng.choice(position.legal())))
            position = position if after.over else after
        scores = perfect().move_scores(position.states)[0]
        for move in analysed(position, simulations=5000)[-1].moves:
            if move.proven:
                assert {"win": 1, "draw": 0, "loss": -1}[move.proven] == np.sign(scores[move.action])
                checked += 1
    assert checked > 5


def test_values_are_for_the_side_to_move(connect_four: pg.Game) -> None:
    assert analysed(connect_four.position("112233"), simulations=200)[-1].value == 1.0  # 4 wins at once
    threatened = analysed(connect_four.position("1122337"), simulations=200)[-1]
    assert (threatened.side, threatened.moves[0].name) == (connect_four.rules.SIDES[1], "4")


def test_answers_come_while_the_search_goes_on(connect_four: pg.Game) -> None:
    """The first after a moment; each has more simulations than the one before."""
    found = analysed(connect_four.start(), every=0.0, simulations=2000)
    counts = [each.simulations for each in found]
    assert counts[0] < 10
    assert counts == sorted(counts)
    assert counts[-1] == 2000


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_a_limit_by_time_ends_the_search(connect_four: pg.Game, selection: str) -> None:
    begun = time.perf_counter()
    last = analysed(connect_four.start(), simulations=0, seconds=0.1, selection=selection)[-1]
    assert last.seconds > 0.09
    assert time.perf_counter() - begun < 10
    assert last.simulations > 64  # more than one round


@pytest.mark.parametrize(
    ("word", "module", "loads"),
    [("connect_four", tree_search, "load_tree_kernels"), (TINY[0], determinized_search, "determinized_search")],
)
def test_a_compiler_takes_none_of_the_time_of_a_search(
    word: str, module: Any, loads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of its limit nor of the seconds that its rate is counted by. The first call of a kernel compiles it."""
    compiled, load = set[str](), getattr(module, loads)

    class Compiled:
        def __init__(self, kernels: Any) -> None:
            self.kernels = kernels

        def __getattr__(self, name: str) -> Any:
            compiled.add(name)
            return getattr(self.kernels, name)

    def loaded(*arguments: Any) -> Any:
        found = load(*arguments)
        return (Compiled(found[0]), found[1]) if isinstance(found, tuple) else Compiled(found)

    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + 100.0 * len(compiled))
    monkeypatch.setattr(module, loads, loaded)
    for each in (analysis, module):
        monkeypatch.setattr(each, "time", clock)
    game = pg.load(word)
    agent: Any = make("search:time=0.2,leaf=random", game)
    *_, last = analyse(agent.growing(), game.start(1), seeds(0, 1))
    assert len(compiled) >= 3
    assert last.simulations > 100
    assert 0.1 < last.seconds < 50.0


def test_a_finished_game_has_nothing_to_analyse(connect_four: pg.Game) -> None:
    with pytest.raises(InvalidValue, match=r"an analysis needs a running game; FIRST_WINS in .*: go back a move"):
        analysed(connect_four.position("1212121"), simulations=10)


def test_what_the_search_would_play_comes_first_whatever_its_visits(connect_four: pg.Game) -> None:
    growing, position = GrowingTree(connect_four, SearchConfig(100)), connect_four.start()
    growing.begin(position.states, seeds(0, 1))
    growing.simulate(100)
    found = growing.finish()
    for action in position.legal():
        found.chosen[0] = action
        assert describe(growing, position, found, 0.0).moves[0].action == action


@pytest.mark.parametrize(
    ("proven", "children", "best"),
    [
        (OPEN, [(9, WON, 0), (3, OPEN, 0), (5, OPEN, 0)], 2),  # the most visited, but no loss
        (WON, [(9, LOST, 4), (3, LOST, 2), (20, OPEN, 0)], 1),  # the soonest win
        (LOST, [(9, WON, 1), (3, WON, 3), (5, WON, 2)], 1),  # the latest loss
        (DRAWN, [(20, WON, 1), (3, DRAWN, 0), (5, DRAWN, 0)], 2),
        (WON, [(9, OPEN, 0), (0, LOST, 2), (5, DRAWN, 0)], 1),  # proven without a visit, by a look beside a draw
        (OPEN, [(0, OPEN, 0)] * 3, -1),
    ],
)
def test_a_line_goes_on_with_the_best_edge(proven: int, children: list[tuple[int, int, int]], best: int) -> None:
    """A root and three children, where the opponent moves: visits, what is proven for the opponent, distance."""
    nodes, edges = np.zeros(4, NODE), np.zeros(3, EDGE)
    nodes[0]["count"], nodes[0]["proven"] = 3, proven
    for k, (visits, result, distance) in enumerate(children):
        edges[k]["visits"], edges[k]["child"] = visits, k + 1
        nodes[k + 1]["proven"], nodes[k + 1]["distance"], nodes[k + 1]["side"] = result, distance, 1
    assert best_edge(Tree(None, nodes, edges), 0) == best


def test_print_shows_the_best_moves_with_values_and_lines() -> None:
    found = pg.load("connect_four").position("112233").analyse("search:sims=200")
    lines = str(found).splitlines()
    assert lines[0].startswith("● to move, value +1.00 after")
    assert lines[1].split() == ["4", "win", "in", "1", "move"], "a line of one move is that move"
    assert len(lines) == 8
    assert repr(found).startswith("<analysis: ● to move, value +1.00 after")
    assert str(pg.load("chess").start().analyse("minimax:depth=1")).splitlines()[-1] == "  10 more moves"


def test_print_writes_moves_as_people_do_and_shows_what_there_is() -> None:
    chess = pg.load("chess").start()
    first = str(chess.analyse("minimax:nodes=2000")).splitlines()[1].split()
    assert first[0] == first[2], "the line begins with the move"
    assert first[0] in ("e4", "d4", "Nf3", "Nc3"), "not g1f3"
    paco = str(pg.load("paco_sako").start().analyse("minimax:nodes=2000"))
    assert re.search(r"\n  (\S+>\S\d) +[+-]0.\d\d  \1 \S+>\S\d", paco), "whole turns"
    solved = str(pg.load("connect_four").position("4453").analyse("solver"))
    assert re.search(r"\n  \d  (wins|loses) in \d+ moves\n", solved)
    assert str(scored(chess, {chess.action("g1f3"): 0.5}, 0.0)).splitlines()[1] == "  g1f3   +0.50", (
        "names by themselves"
    )
    shares = scored(chess, {}, 0.0, {chess.action("e4"): 0.75, chess.action("d4"): 0.25}).written_by(chess.written)
    assert str(shares).splitlines()[1:3] == ["  e4    75.0%", "  d4    25.0%"]
