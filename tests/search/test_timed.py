"""The agent that searches for a time: mates, turns of several actions, Ctrl-C, bad input."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import plyground as pg
from plyground.agents.registry import make
from plyground.games.paco_sako import analysis
from plyground.games.rng import seeds
from plyground.search import pieces, timed
from plyground.search.timed import TimedMinimax

MATES_IN_2 = """
6kr/3Q2pp/8/2B4n/7q/P1N2r2/1P5P/R5KR w - - 2 29
r4r1k/p1pn3p/1p2Q3/7b/8/1K6/P5q1/2q5 b - - 3 41
k6r/1p6/8/p3Q3/8/q7/5PPP/6KR b - - 1 39
5rk1/pbB2pp1/3Pp3/1B5Q/4N3/3n4/5q1P/R6K b - - 2 29
7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20
5rk1/1Q4p1/2n5/3qpp1R/P1B5/2P1P3/8/R1K5 w - - 2 25
4k2r/2pN2p1/r6p/1p3n2/pb1PBq2/8/PPP4P/R2Q2BK b - - 0 29
5rkq/3Q2pp/4p3/p3B1b1/Pn1P4/2N4B/5P1P/R3R1K1 w - - 1 27
"""
MATES_IN_3 = """
7r/2N3k1/3b4/p4Qpp/P2pR3/6P1/1P1PPPB1/R1B1K3 w Q - 1 21
5rk1/1Q4p1/2n5/4pp1R/P7/2P1P3/4B1q1/R1K5 w - - 0 24
r1b1r1k1/1p1p2p1/p1n1pp2/2P3Np/Pb1P1B1P/2N4R/5nPK/q7 b - - 1 22
1k1r4/1pR3Q1/2p5/P2p3r/n2N1P1p/8/3N2PP/5K2 w - - 0 28
rn1k1b1r/ppp2p1p/5np1/8/Q3P3/2q2b2/P2B1P1P/R3KBR1 b Q - 1 13
3Q4/3b2k1/3q3p/7P/4R3/4BN2/pr4r1/R6K b - - 3 43
1R6/6pr/6k1/4QNBp/P1b4P/b7/5PP1/6KR w - - 5 30
4r1k1/3R1p1r/2P2Qp1/5B1p/1q5P/8/3BbP2/4K1R1 b - - 5 42
"""
# positions of games between `minimax:depth=2` and itself; Stockfish 15.1 says mate in 2 (3) at depths 8 and 18


@pytest.fixture(scope="module")
def chess() -> TimedMinimax:
    return TimedMinimax(pg.load("chess"), 1e6)


@pytest.fixture(scope="module")
def paco_sako() -> TimedMinimax:
    return TimedMinimax(pg.load("paco_sako"), 1e6)


@pytest.mark.compiled
@pytest.mark.parametrize(("fens", "turns"), [(MATES_IN_2, 3), (MATES_IN_3, 5)], ids=["two", "three"])
def test_mates_are_found_and_proven(chess: TimedMinimax, fens: str, turns: int) -> None:
    for fen in fens.strip().splitlines():
        position = chess.game.position(fen)
        found = chess.search(position.states, depth=turns + 4)
        assert found.turns == turns, fen
        for action in found.line:
            position = position.play(action)
        assert position.reason == "checkmate", fen


@pytest.mark.compiled
def test_a_perpetual_check_is_seen_as_a_draw(chess: TimedMinimax) -> None:
    """White is a rook and a queen's attack behind, and checks on e8 and h5 for ever."""
    position = chess.game.position("6k1/6p1/8/7Q/8/7P/qr4P1/6K1 w - - 0 1")
    assert chess.search(position.states, depth=2).value < -0.3
    found = chess.search(position.states, depth=6)
    assert (found.value, position.name(found.action)) == (0.0, "h5e8")


@pytest.mark.compiled
def test_a_third_occurrence_of_the_game_is_seen_in_the_tree(chess: TimedMinimax) -> None:
    """Black is a rook ahead, and one of its moves leads to a position that has stood twice."""
    position = chess.game.position("6k1/5p1p/6p1/8/8/8/r7/7K w - - 0 1")
    for move in ("h1g1", "a2b2", "g1h1", "b2a2", "h1g1", "a2b2", "g1h1"):
        position = position.play(move)
    found = chess.search(position.states, depth=5)
    assert position.name(found.action) != "b2a2", "the third occurrence would be a draw"
    assert found.value > 0.3


def paco_in_2(game: pg.Game) -> Iterator[pg.Position]:
    """Positions of games of `greedy` in which an exhaustive search finds Paco in 2."""
    greedy = make("greedy", game)
    for seed in itertools.count():
        position, rng = game.start(), seeds(seed, 1)
        while not position.over:
            if position.state["required"] == 0 and analysis.paco_in_2(position).found:
                yield position
            position = position.play(int(greedy.act(position.states, rng)[0]))


@pytest.mark.compiled
def test_paco_in_two_turns_is_proven_where_the_exhaustive_search_finds_it(paco_sako: TimedMinimax) -> None:
    for position in itertools.islice(paco_in_2(paco_sako.game), 8):
        assert paco_sako.search(position.states, 20.0, depth=3).turns == 3, position.text


@pytest.mark.compiled
def test_a_turn_longer_than_the_stack_proves_nothing(paco_sako: TimedMinimax, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of positions within a turn: where no level is left for the answer, it does not count as lost."""
    monkeypatch.setattr(timed, "LEVELS", 16)
    position = paco_sako.game.position("2j4r/pf1E2kp/4E3/5d2/a7/2a1FIaK/2DW1P2/RN6 b 8 - - -")
    found = TimedMinimax(paco_sako.game, nodes=50_000).search(position.states, depth=3)
    assert (found.value, found.turns) == (998.0, 3), "Paco in 2"


@pytest.mark.compiled
def test_the_rest_of_a_turn_is_played_as_planned(paco_sako: TimedMinimax, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = TimedMinimax(paco_sako.game, 0.01)
    searches: list[tuple[float, ...]] = []
    search = agent.search
    monkeypatch.setattr(agent, "search", lambda state, *time: searches.append(time) or search(state, *time))
    position = paco_sako.game.start()
    for _ in range(4):  # two turns
        position = position.play(position.ask(agent))
    assert position.to_move == 0
    assert searches.count(()) == 2


@pytest.mark.compiled
def test_a_search_takes_its_time_and_not_more() -> None:
    agent = TimedMinimax(pg.load("connect_four"), 0.2)
    states = agent.game.start().states
    agent.compile_kernels()
    begin = time.perf_counter()
    assert agent.act(states, seeds(0, 1))[0] in range(7)
    assert 0.19 < time.perf_counter() - begin < 2.0  # of a busy machine


class Interrupting:
    """Kernels in which the third call is interrupted by Ctrl-C."""

    def __init__(self, kernels: Any) -> None:
        self.begin_search, self.kernels, self.calls = kernels.begin_search, kernels, 0

    def search_on(self, *arguments: Any) -> None:
        self.calls += 1
        if self.calls == 3:
            raise KeyboardInterrupt
        self.kernels.search_on(*arguments)


@pytest.mark.compiled
def test_ctrl_c_plays_the_best_move_so_far_but_ends_a_match() -> None:
    agent = TimedMinimax(pg.load("connect_four"), 1e6, threads=1)
    states = agent.game.start().states
    agent.kernels = Interrupting(agent.kernels)
    found = agent.search(states)
    assert found.stopped
    assert found.action in range(7)
    assert found.depth >= 1
    agent.kernels = Interrupting(agent.kernels.kernels)
    assert agent.act(states, seeds(0, 1))[0] in range(7)
    agent.kernels = Interrupting(agent.kernels.kernels)
    with pytest.raises(KeyboardInterrupt):
        agent.act(np.repeat(states, 2), seeds(0, 2))


def test_a_search_looks_at_the_clock_every_two_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, budgets = [0.0], list[int]()

    def search_on(nodes: int, limits: Any, stack: Any, memory: Any) -> None:
        budgets.append(nodes)
        memory.progress[0]["action"] = 3
        now[0] += nodes * 1e-6  # a million nodes per second

    agent = TimedMinimax(pg.load("connect_four"), 1.0)
    for module in (timed, pieces):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    agent.kernels = SimpleNamespace(search_on=search_on, begin_search=lambda *arguments: None)
    assert agent.search(agent.game.start().states).action == 3
    assert now[0] == pytest.approx(1.0, abs=1e-4)
    assert budgets[:3] == [timed.FIRST_NODES, pieces.FASTEST_GROWTH * timed.FIRST_NODES, 2000]
    assert len(budgets) < 520


@pytest.mark.compiled
def test_a_search_tells_what_it_has_found_so_far() -> None:
    agent = TimedMinimax(pg.load("connect_four"), 1e6)
    told = list(agent.deepen(agent.game.start().states, depth=8))
    assert [found.depth for found in told] == sorted(found.depth for found in told)
    assert told[-1].depth == 8
    assert told[0].nodes < told[-1].nodes


@pytest.mark.compiled
def test_a_search_by_nodes_depends_on_the_position_alone(chess: TimedMinimax) -> None:
    """Not on what was searched before, nor on the pieces in which it is searched."""
    agent, starts = (
        make("minimax:nodes=3000", chess.game),
        [chess.game.position(fen) for fen in MATES_IN_3.split("\n")[1:-1]],
    )
    assert isinstance(agent, TimedMinimax)
    assert str(agent) == "minimax:nodes=3000"
    states = np.concatenate([each.states for each in starts])
    once, again = agent.act(states, seeds(0, len(states))), agent.act(states[::-1], seeds(1, len(states)))[::-1]
    assert once.tolist() == again.tolist()
    for state, action in zip(states, once, strict=True):
        *_, last = TimedMinimax(chess.game, nodes=3000).deepen(state.reshape(1))
        assert (last.action, last.nodes <= 3000) == (action, True)


@pytest.mark.parametrize("spec", ["minimax:time=0", "minimax:time=-1", "minimax:time=nan", "minimax:time=inf"])
def test_a_time_is_positive(connect_four: pg.Game, spec: str) -> None:
    with pytest.raises(pg.InvalidValue, match="a positive number of seconds, not"):
        make(spec, connect_four)


def test_bad_input_gets_one_sentence(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match="time of the agent minimax is a number, not 'long'"):
        make("minimax:time=long", connect_four)
    with pytest.raises(pg.InvalidValue, match="not time and depth"):
        make("minimax:time=1,depth=3", connect_four)
    with pytest.raises(pg.InvalidValue, match="not time and nodes"):
        make("minimax:nodes=5,time=1", connect_four)
    for nodes in ("0", "-3"):
        with pytest.raises(pg.InvalidValue, match=f"nodes of the agent minimax is .* at least 1, not {nodes}"):
            make(f"minimax:nodes={nodes}", connect_four)
    with pytest.raises(pg.InvalidValue, match="cannot play sequence"):
        make("minimax:time=1", pg.load("sequence"))
    with pytest.raises(pg.InvalidValue, match="without chance in which nothing is hidden"):
        TimedMinimax(pg.load("sequence"), 1.0)


def test_a_finished_game_is_not_searched(connect_four: pg.Game) -> None:
    over = connect_four.position("4455667")
    with pytest.raises(pg.InvalidValue, match="this one is over"):
        TimedMinimax(connect_four, 1.0).search(over.states)
