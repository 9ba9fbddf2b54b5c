"""Wins within the turn are found in every game, and only what the seat may know is used."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.checks import laws
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.paco_sako import analysis
from plyground.games.rng import seeds
from plyground.search.wins import winning_actions

pytestmark = pytest.mark.compiled


def win(game: pg.Game, position: pg.Position) -> str:
    action = int(winning_actions(game, position.states, seeds(0, 1))[0])
    return "" if action < 0 else position.name(action)


def test_a_win_by_one_action_is_found(connect_four: pg.Game) -> None:
    assert win(connect_four, connect_four.position("121212")) == "1"
    assert win(connect_four, connect_four.position("12121")) == "", "a threat is no win"
    chess = pg.load("chess")
    assert win(chess, chess.position("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")) == "a1a8"
    assert win(chess, chess.start()) == ""


def test_a_win_by_several_actions_is_found_and_followed() -> None:
    """Paco Ŝako: where its own search of chains finds a way, the actions found one after the other end the game."""
    game, found = pg.load("paco_sako"), 0
    states = laws.sample(game, 30, seed=5).states
    for state in states[states["outcome"] == RUNNING][::9]:
        position = pg.Position(game, state.reshape(1).copy())
        ways = analysis.chains(position)
        if position.state["required"] == 0:
            assert bool(win(game, position)) == bool(ways.found), position.text
        side = position.to_move
        while name := win(game, position):
            position = position.play(name)
            found += position.over
            if position.over:
                assert position.outcome == FIRST_WINS + side
                break
    assert found > 3


@pytest.mark.parametrize("word", ["sequence", *TINY])
def test_every_action_that_wins_at_once_is_found(word: str) -> None:
    """By playing each legal action of sampled positions, one at a time."""
    game, wins = pg.load(word), 0
    states = laws.sample(game, 12, seed=3).states
    states = states[states["outcome"] == RUNNING][-150:]
    found = winning_actions(game, states, seeds(1, len(states)))
    for row in range(len(states)):
        position = pg.Position(game, states[row : row + 1])
        after = {action: position.play(action) for action in position.legal()}
        winning = {action for action, each in after.items() if each.outcome == FIRST_WINS + position.to_move}
        wins += bool(winning)
        if winning and not game.rules.CHANCE:
            assert found[row] >= 0, position.text
        if winning and all(after[action].to_move != position.to_move for action in winning):
            assert found[row] in winning, position.text
    assert wins > 0


def test_what_is_hidden_changes_nothing() -> None:
    game = pg.load("sequence")
    states = laws.sample(game, 6, seed=8).states
    states = states[states["outcome"] == RUNNING]
    other, seats = states.copy(), np.empty(len(states), np.int32)
    game.kernels().seats_to_act(other, seats)
    game.kernels().determinize_all(other, seats, seeds(77, len(states)))
    assert other.tobytes() != states.tobytes()
    rngs = seeds(2, len(states))
    assert (winning_actions(game, states, rngs) == winning_actions(game, other, rngs)).all()
