"""Turns that run in circles: an agent that would go on for ever is led out, to the best end of the turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import plyground as pg
from plyground.agents.agent import make
from plyground.games.rng import seeds
from plyground.search.circles import Turns, best_end

pytestmark = pytest.mark.compiled
CIRCLE = "5k1r/ppp5/2n2a2/4pa1p/QjPbd2P/4E3/PPKT2P1/R4I2^b4B w 14 - - -"
"""White may go from union to union, b4, d2, e4, d2, b4, for ever; `minimax:nodes=5000` did"""
CIRCLES = {
    "minimax:nodes=5000": CIRCLE,
    "minimax:depth=2": "1nb5/3fEk2/aF1h4/2e3e1/P1p1P3/3dDP1C/3K4/RN5q^d6q b 3 - - -",
    "search:sims=100": CIRCLE,
    "search:net=trained,sims=32": CIRCLE,
    "trained": CIRCLE,
}
"""agents, and where the first two went on for ever"""
LONG = 60  # actions of a turn


def going_round() -> Callable[[pg.Position], int]:
    """An agent that goes round the circle; outside of it, the first legal action."""
    names = itertools.cycle(["Pd2", "Pe4", "Pd2", "Pb4"])

    def choose(position: pg.Position) -> int:
        actions = dict(zip(position.names(), position.legal(), strict=True))
        return actions.get(next(names), min(position.legal()))

    return choose


def actions_of_a_turn(position: pg.Position, choose: Callable[[pg.Position], int]) -> int:
    """How many actions it takes until the turn passes; LONG if it does not within so many."""
    side, actions = position.to_move, 0
    while not position.over and position.to_move == side and actions < LONG:
        position, actions = position.play(choose(position)), actions + 1
    return actions


def test_a_turn_that_would_never_end_ends() -> None:
    start = pg.load("paco_sako").position(CIRCLE)
    assert actions_of_a_turn(start, going_round()) == LONG
    turns, choose = Turns(start.game), going_round()

    def led(position: pg.Position) -> int:
        chosen = np.array([choose(position)], np.int32)
        return int(turns.without_circles(position.states, chosen)[0])

    assert actions_of_a_turn(start, led) < LONG


@pytest.mark.parametrize(("agent", "start"), CIRCLES.items())
def test_agents_end_their_turns(agent: str, start: str) -> None:
    game = pg.load("paco_sako")
    player = make(agent, game)
    assert actions_of_a_turn(game.position(start), lambda position: position.ask(player)) < LONG


def test_the_best_end_is_the_best_of_all_ends() -> None:
    start, evaluate = pg.load("paco_sako").position(CIRCLE), pg.load("paco_sako").rules.evaluate
    assert evaluate is not None
    ends, open_positions, known = list[tuple[float, int]](), [(start, -1)], {start.text}
    while open_positions:
        position, first = open_positions.pop()
        for action in position.legal():
            after, begun = position.play(action), action if first < 0 else first
            if after.to_move != start.to_move or after.over:
                ends.append((-evaluate(after.states[0]) if not after.over else 2.0, begun))
            elif after.text not in known:
                known.add(after.text)
                open_positions.append((after, begun))
    best = max(value for value, _ in ends)
    assert best_end(start.game, start.states, otherwise=-1) in [begun for value, begun in ends if value == best]


def test_rows_do_not_depend_on_one_another_and_other_actions_stay() -> None:
    game = pg.load("paco_sako")
    start = game.position(CIRCLE)
    states = np.concatenate([game.start().states, start.states, start.states])
    alone, together, choose = Turns(game), Turns(game), going_round()
    for _ in range(LONG):
        round_it = choose(pg.Position(game, states[1:2]))
        chosen = np.array([game.start().legal()[0], round_it, round_it], np.int32)
        led = together.without_circles(states, chosen)
        assert led[1] == led[2] == alone.without_circles(states[1:2], chosen[1:2])[0]
        assert led[0] == chosen[0]
        game.kernels().play_all(states[1:], led[1:], seeds(1, 2), game.work())
        if states["to_move"][1] != start.to_move:
            return
    raise AssertionError("the turn did not end")
