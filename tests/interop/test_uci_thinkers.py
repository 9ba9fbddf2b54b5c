"""Agents that think for a UCI engine."""

from __future__ import annotations

import time

import numpy as np
import pytest

import plyground as pg
from plyground.games.rng import seeds
from plyground.interop.uci_options import ELO
from plyground.interop.uci_thinkers import EloAgent, Request, Thinker, centipawns, make_thinker, score
from plyground.search.analysis import Analysis

pytestmark = pytest.mark.compiled
MATE_IN_2 = "7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20"


@pytest.fixture(scope="module")
def chess() -> pg.Game:
    return pg.load("chess")


def thinker_of(game: pg.Game, spec: str, simulations: int = 0) -> Thinker:
    return make_thinker(spec, game, megabytes=1, threads=1, simulations=simulations)


def thoughts(thinker: Thinker, position: pg.Position, **limits: int) -> list[Analysis]:
    return list(thinker.think(position, Request(position.legal(), lambda: False, **limits)))


def test_values_are_pawns_as_the_evaluation_counts_them() -> None:
    assert [centipawns(value) for value in (0.0, 0.5, -0.5, 1 / 6)] == [0, 500, -500, 100]
    assert centipawns(1.0) == -centipawns(-1.0) == 9500


@pytest.mark.parametrize("spec", ["minimax:time=1", "search:time=1"])
def test_mates_are_counted_in_moves_for_both_sides(chess: pg.Game, spec: str) -> None:
    thinker, position = thinker_of(chess, spec), chess.position(MATE_IN_2)
    found = thoughts(thinker, position, nodes=200_000)[-1]
    best = found.moves[0]
    assert score(best) == " score mate 2"
    after = position.play(best.actions[0])
    assert score(thoughts(thinker, after, nodes=200_000)[-1].moves[0]) == " score mate -1"
    last = thoughts(thinker, after.play(best.actions[1]), nodes=1000)[-1]
    assert (score(last.moves[0]), last.moves[0].actions) == (" score mate 1", best.actions[2:])
    assert (last.depth, last.nodes) == (1, thinker.nodes)


@pytest.mark.parametrize("spec", ["minimax:time=1", "search:time=1"])
def test_lines_are_legal_and_begin_with_moves_that_were_asked_for(chess: pg.Game, spec: str) -> None:
    thinker, position = thinker_of(chess, spec), chess.start()
    asked = [position.action(name) for name in ("a2a3", "h2h4", "g1h3")]
    found = list(thinker.think(position, Request(asked, lambda: False, lines=5, nodes=3000)))[-1]
    assert sorted(move.action for move in found.moves) == sorted(asked)
    for move in found.moves:
        after = position
        for action in move.actions:
            after = after.play(action)


def test_the_limits_of_a_spec_hold_whatever_the_gui_asks_for(chess: pg.Game) -> None:
    assert thoughts(thinker_of(chess, "minimax:nodes=300"), chess.start(), depth=30)[-1].nodes == 300
    assert thoughts(thinker_of(chess, "search:sims=50"), chess.start(), nodes=9999)[-1].nodes == 50
    assert thoughts(thinker_of(chess, "search:time=1", simulations=60), chess.start())[-1].nodes == 60
    assert thoughts(thinker_of(chess, "search:sims=50"), chess.start(), nodes=20)[-1].nodes == 20


def test_a_tree_search_ends_at_a_depth(chess: pg.Game) -> None:
    assert thoughts(thinker_of(chess, "search:time=1"), chess.start(), depth=4)[-1].depth >= 4


def test_a_tree_search_is_stopped_soon(chess: pg.Game) -> None:
    thinker, begun = thinker_of(chess, "search:time=1"), time.perf_counter()
    position = chess.start()
    stop = lambda: time.perf_counter() > begun + 0.2  # noqa: E731
    assert list(thinker.think(position, Request(position.legal(), stop)))[-1].moves
    assert time.perf_counter() - begun < 2.0  # 0.25 on an idle machine


def test_an_agent_without_a_search_tells_its_move(chess: pg.Game) -> None:
    position = chess.position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    (found,) = thoughts(thinker_of(chess, "greedy"), position)
    (move,) = found.moves
    assert (move.actions, score(move)) == ([position.action("a1a8")], "")
    only = Request([chess.start().action("a2a3")], lambda: False)
    assert [each.moves[0].actions for each in thinker_of(chess, "greedy").think(chess.start(), only)] == [only.actions]


def test_elo_between_two_levels_mixes_their_moves(chess: pg.Game) -> None:
    low, high, between = EloAgent(chess, ELO[4]), EloAgent(chess, ELO[9]), EloAgent(chess, (ELO[5] + ELO[6]) // 2)
    assert [str(level) for level in low.levels] == ["level:4", "level:5"]
    assert (low.share, high.share) == (0.0, 0.0)
    assert [str(level) for level in high.levels] == ["level:9", "level:9"]
    assert between.share == pytest.approx(0.5, abs=0.01)
    states = np.repeat(chess.start().states, 200)
    actions = between.act(states, seeds(0, 200))
    assert set(actions.tolist()) <= set(chess.start().legal())
