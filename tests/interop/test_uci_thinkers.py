"""Agents that think for a UCI engine."""

from __future__ import annotations

import time

import numpy as np
import pytest

import plyground as pg
from plyground.games.rng import seeds
from plyground.interop.uci_options import ELO
from plyground.interop.uci_thinkers import EloAgent, Line, Request, Thinker, Thought, centipawns, make_thinker

pytestmark = pytest.mark.compiled
MATE_IN_2 = "7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20"


@pytest.fixture(scope="module")
def chess() -> pg.Game:
    return pg.load("chess")


def thinker_of(game: pg.Game, spec: str, simulations: int = 0) -> Thinker:
    return make_thinker(spec, game, megabytes=1, threads=1, simulations=simulations)


def thoughts(thinker: Thinker, position: pg.Position, **limits: int) -> list[Thought]:
    return list(thinker.think(position, Request(position.legal(), lambda: False, **limits)))


def test_values_are_pawns_as_the_evaluation_counts_them() -> None:
    assert [centipawns(value) for value in (0.0, 0.5, -0.5, 1 / 6)] == [0, 500, -500, 100]
    assert centipawns(1.0) == -centipawns(-1.0) == 9500


@pytest.mark.parametrize("spec", ["minimax:time=1", "search:time=1"])
def test_mates_are_counted_in_moves_for_both_sides(chess: pg.Game, spec: str) -> None:
    thinker, position = thinker_of(chess, spec), chess.position(MATE_IN_2)
    found = thoughts(thinker, position, nodes=200_000)[-1]
    assert found.lines[0].mate == 2
    after = position.play(found.lines[0].actions[0])
    assert thoughts(thinker, after, nodes=200_000)[-1].lines[0].mate == -1
    mating = after.play(found.lines[0].actions[1])
    assert thoughts(thinker, mating, nodes=1000)[-1] == Thought(
        [Line(found.lines[0].actions[2:], mate=1)], depth=1, nodes=thinker.nodes, final=True
    )


@pytest.mark.parametrize("spec", ["minimax:time=1", "search:time=1"])
def test_lines_are_legal_and_begin_with_moves_that_were_asked_for(chess: pg.Game, spec: str) -> None:
    thinker, position = thinker_of(chess, spec), chess.start()
    asked = [position.action(name) for name in ("a2a3", "h2h4", "g1h3")]
    found = list(thinker.think(position, Request(asked, lambda: False, lines=5, nodes=3000)))[-1]
    assert sorted(line.actions[0] for line in found.lines) == sorted(asked)
    for line in found.lines:
        after = position
        for action in line.actions:
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
    assert list(thinker.think(position, Request(position.legal(), stop)))[-1].lines
    assert time.perf_counter() - begun < 2.0  # 0.25 on an idle machine


def test_an_agent_without_a_search_tells_its_move(chess: pg.Game) -> None:
    position = chess.position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    (found,) = thoughts(thinker_of(chess, "greedy"), position)
    assert found.lines == [Line([position.action("a1a8")])]
    only = Request([chess.start().action("a2a3")], lambda: False)
    assert [each.lines[0].actions for each in thinker_of(chess, "greedy").think(chess.start(), only)] == [only.actions]


def test_elo_between_two_levels_mixes_their_moves(chess: pg.Game) -> None:
    low, high, between = EloAgent(chess, ELO[4]), EloAgent(chess, ELO[9]), EloAgent(chess, (ELO[5] + ELO[6]) // 2)
    assert [str(level) for level in low.levels] == ["level:4", "level:5"]
    assert (low.share, high.share) == (0.0, 0.0)
    assert [str(level) for level in high.levels] == ["level:9", "level:9"]
    assert between.share == pytest.approx(0.5, abs=0.01)
    states = np.repeat(chess.start().states, 200)
    actions = between.act(states, seeds(0, 200))
    assert set(actions.tolist()) <= set(chess.start().legal())
