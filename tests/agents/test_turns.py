"""Turns that run in circles: an agent that would go on for ever is led out, to the best end of the turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import plyground as pg
from conftest import TESTS
from plyground.agents.registry import make
from plyground.agents.turns import LONGEST, Turn, Turns, act_in_turns, packed, unpacked
from plyground.search.timed import TimedMinimax
from plyground.search.within_turn import best_end

pytestmark = pytest.mark.compiled
CIRCLE = "5k1r/ppp5/2n2a2/4pa1p/QjPbd2P/4E3/PPKT2P1/R4I2^b4B w 14 - - -"
"""White may go from union to union, b4, d2, e4, d2, b4, for ever; `minimax:nodes=5000` did"""
CIRCLES = {
    "minimax:nodes=5000": CIRCLE,
    "minimax:depth=2": "1nb5/3fEk2/aF1h4/2e3e1/P1p1P3/3dDP1C/3K4/RN5q^d6q b 3 - - -",
    "search:sims=100": CIRCLE,
    "search:model=trained,sims=32": CIRCLE,
    "trained": CIRCLE,
}
"""agents, and where the first two went on for ever"""
LONG = 60  # actions of a turn
SECONDS = 0.2


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


class GoingRound:
    """An agent that goes round the circle, and leaves it only as agents of ours do."""

    leaves_circles = True

    def __init__(self) -> None:
        self.choose = going_round()

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        game = pg.load("paco_sako")
        return np.array([self.choose(pg.Position(game, states[k : k + 1])) for k in range(len(states))], np.int32)


def test_a_turn_that_would_never_end_ends() -> None:
    start, agent = pg.load("paco_sako").position(CIRCLE), GoingRound()
    assert actions_of_a_turn(start, going_round()) == LONG
    assert actions_of_a_turn(start, lambda position: position.ask(agent)) < LONG


@pytest.mark.parametrize(("agent", "start"), CIRCLES.items())
def test_agents_end_their_turns(agent: str, start: str) -> None:
    """Also two that are asked in turn, as processes of a server are: what they must know is kept with the game."""
    game = pg.load("paco_sako")
    players = itertools.cycle([make(agent, game), make(agent, game)])
    assert actions_of_a_turn(game.position(start), lambda position: position.ask(next(players))) < LONG


def test_a_turn_is_searched_once_whoever_is_asked_for_its_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, search = list[float](), TimedMinimax.search

    def noted(self: TimedMinimax, state: NDArray[np.void], seconds: float = SECONDS) -> Any:
        searched.append(seconds)
        return search(self, state, seconds)

    monkeypatch.setattr(TimedMinimax, "search", noted)
    game = pg.load("paco_sako")
    players = itertools.cycle([make(f"minimax:time={SECONDS}", game), make(f"minimax:time={SECONDS}", game)])
    for start in (game.start(), game.position(CIRCLE)):
        position, actions = start, 0
        while position.to_move == start.to_move:
            position, actions = position.play(position.ask(next(players))), actions + 1
        assert actions > 1
    assert searched.count(SECONDS) == 2, "one for each turn, and shorter ones where its line is too short"


def test_a_plan_is_for_its_agent_and_its_position_alone() -> None:
    class Planner:
        leaves_circles = True

        def __init__(self, name: str, turn: list[str]) -> None:
            self.name, self.turn = name, turn

        def __str__(self) -> str:
            return self.name

        def act_turns(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> list[list[int]]:
            return [[pg.Position(game, states).action(name) for name in self.turn[:1]] + self.rest(states)]

        def rest(self, states: NDArray[np.void]) -> list[int]:
            position, found = pg.Position(game, states), list[int]()
            for name in self.turn[:1]:
                position = position.play(name)
            for name in self.turn[1:]:
                found.append(position.action(name))
                position = position.play(name)
            return found

        act = act_turns  # type: ignore[assignment]

    game = pg.load("paco_sako")
    king, knight = Planner("king", ["Le1"]), Planner("knight", ["Lb1", "Pc3"])
    start = game.start()
    lifted = start.play(start.ask(knight))
    assert lifted.name(lifted.ask(knight)) == "Pc3"
    with pytest.raises(pg.Error):
        lifted.ask(king)  # which is asked itself, and would lift
    other = start.play("Lg1")
    with pytest.raises(pg.Error):
        other.ask(knight)  # which is asked again


def test_unfinished_turns_are_kept_in_a_checkpoint() -> None:
    turns = {3: Turn(2**64 - 1, (5, 2**63)), 0: Turn(7, tuple(range(1, LONGEST + 1)))}
    assert unpacked(packed(turns, 5)) == turns


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
    assert best_end(start.game, start.states)[0] in [begun for value, begun in ends if value == best]


def test_no_better_end_is_looked_for_where_chance_led_back() -> None:
    """In Pig a roll may lead anywhere, and the hold that would end the turn is no better way to where it led."""
    pig = pg.load(TESTS / "tiny_games" / "pig.py")
    start = pig.position("0 0 6 0").states
    assert best_end(pig, start) == best_end(pig, start, returning=1) == [1]
    assert best_end(pig, start, returning=0) == []


def test_rows_do_not_depend_on_one_another() -> None:
    game = pg.load("paco_sako")
    start = game.position(CIRCLE)
    states = np.concatenate([game.start().states, start.states, start.states])
    alone, together, choose, rngs = Turns(), Turns(), going_round(), np.zeros(3, np.uint64)
    for _ in range(LONG):
        round_it = choose(pg.Position(game, states[1:2]))
        chosen = np.array([game.start().legal()[0], round_it, round_it], np.int32)
        led = act_in_turns(game, states, range(3), together, "", lambda rows, chosen=chosen: chosen[rows])
        (one,) = act_in_turns(game, states[1:2], [9], alone, "", lambda rows, chosen=chosen: chosen[1:2][rows])
        assert led[1] == led[2] == one
        assert led[0] == chosen[0]
        game.kernels().play_all(states[1:], led[1:], rngs[1:], game.work())
        if states["to_move"][1] != start.to_move:
            return
    raise AssertionError("the turn did not end")
