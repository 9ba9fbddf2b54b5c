"""The best lines of a position: one after another, some moves only, by several threads, until they are stopped."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plyground as pg
from plyground.errors import InvalidValue
from plyground.games.rng import seeds
from plyground.search.multipv import LINES, BestLines, LineSearch, lines_analyst
from plyground.search.timed import TimedMinimax

pytestmark = pytest.mark.compiled
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@pytest.fixture(scope="module")
def search() -> LineSearch:
    return LineSearch(pg.load("chess"), table=16)


def last(search: LineSearch, position: pg.Position, **limits: int | list[int]) -> BestLines:
    search.forget()
    *_, found = search.deepen(position.states, **limits)  # pyright: ignore
    return found


def test_one_line_is_what_the_search_by_time_finds(search: LineSearch) -> None:
    position = search.game.position(KIWIPETE)
    found, wanted = (
        last(search, position, depth=6),
        TimedMinimax(search.game, 1e6, table=16).search(position.states, depth=6),
    )
    assert found.lines == [wanted]
    assert (found.depth, found.nodes, found.complete) == (6, wanted.nodes, True)


def test_the_next_line_is_the_best_one_without_the_lines_before(search: LineSearch) -> None:
    position = search.game.position(KIWIPETE)
    lines = last(search, position, depth=3, count=4).lines
    assert len({line.action for line in lines}) == 4
    assert all(one.value >= other.value for one, other in itertools.pairwise(lines))
    for line in lines:
        alone = last(search, position, depth=3, actions=[line.action]).lines
        assert [each.action for each in alone] == [line.action]
        assert alone[0].value == pytest.approx(line.value, abs=0.05)  # late actions are searched less deep
    rest = [action for action in position.legal() if action not in {line.action for line in lines}]
    assert last(search, position, depth=3, actions=rest).lines[0].value <= lines[-1].value + 0.05


def test_there_are_as_many_lines_as_moves_at_most(search: LineSearch) -> None:
    position = search.game.position("k7/8/1Q6/8/8/8/8/7K w - - 0 1")
    assert len(last(search, position, depth=2, count=64).lines) == len(position.legal())


def test_a_root_without_some_moves_is_not_entered_into_the_table(search: LineSearch) -> None:
    """Its value is that of the other moves: here without the mate in one."""
    position = search.game.position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    mate, table = position.action("a1a8"), search.own.memory.table
    key = int(search.game.rules.compiled["transposition_key"](position.state))
    for others, entered in (([action for action in position.legal() if action != mate], False), (None, True)):
        found = last(search, position, depth=3, **({"actions": others} if others else {}))
        assert found.lines[0].turns == (0 if others else 1)
        assert bool(table[key & (len(table) - 1)]["bound"]) == entered


def test_a_proven_line_ends_the_search(search: LineSearch) -> None:
    position = search.game.position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    found = last(search, position)
    assert (found.final, found.depth, found.lines[0].turns) == (True, 1, 1)


def test_nodes_are_counted_exactly(search: LineSearch) -> None:
    position = search.game.position(KIWIPETE)
    assert last(search, position, nodes=5000).nodes == 5000
    assert last(search, position, nodes=5000, count=3).nodes == 5000


def test_there_is_a_move_however_soon_it_is_stopped(search: LineSearch) -> None:
    position = search.game.position(KIWIPETE)
    search.forget()
    (found,) = search.deepen(position.states, stop=lambda: True)
    assert found.lines[0].action in position.legal()
    assert found.lines[0].line[0] == found.lines[0].action


def test_a_stopped_iteration_keeps_the_lines_of_the_one_before(search: LineSearch) -> None:
    position = search.game.position(KIWIPETE)
    for nodes in range(12_000, 30_000, 1500):
        found = last(search, position, nodes=nodes, count=3)
        assert len({line.action for line in found.lines}) == len(found.lines) == 3


def test_threads_share_a_table_and_find_mates() -> None:
    """Two threads find the same mate; nothing that they write into the same entries is taken for a proof."""
    search = LineSearch(pg.load("chess"), table=12, threads=3)
    position = search.game.position("7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20")
    for _ in range(5):
        assert last(search, position, depth=8).lines[0].turns == 3
    assert all(np.shares_memory(own.memory.table, search.own.memory.table) for own in search.helpers)


def test_actions_of_which_none_is_legal_are_refused(search: LineSearch) -> None:
    with pytest.raises(InvalidValue, match=r"none of the actions \[0\] is legal"):
        next(search.deepen(search.game.start().states, actions=[0]))


def test_a_game_that_is_over_is_refused(search: LineSearch) -> None:
    over = search.game.position("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")
    with pytest.raises(InvalidValue, match="needs a running game"):
        next(search.deepen(over.states))


def test_an_analysis_of_so_many_nodes_is_the_same_every_time_and_grows(search: LineSearch) -> None:
    position, analyst = search.game.start(), lines_analyst(search.game, 1e6, 20_000)
    first, again = (list(analyst(position, seeds(0, 1), 0.0)) for _ in range(2))
    assert [(each.nodes, each.depth, each.moves) for each in first] == [
        (each.nodes, each.depth, each.moves) for each in again
    ]
    assert len(first) > 3
    assert all(one.nodes <= other.nodes and one.depth <= other.depth for one, other in itertools.pairwise(first))
    assert first[-1].nodes == 20_000
    assert sum(move.value is not None for move in first[-1].moves) == LINES
    assert first[-1].moves == position.analyse("minimax:nodes=20000").moves


def test_an_analysis_by_time_ends_in_time_and_describes_whole_turns() -> None:
    start = pg.load("paco_sako").start()
    start.analyse("minimax:nodes=100")  # compiles
    found = start.analyse("minimax:time=0.1")
    assert 0.05 < found.seconds < 5.0
    assert (found.simulations, found.nodes > 100, found.depth > 0) == (0, True, True)
    assert str(found).splitlines()[1].split()[0].count(">") == 1
