"""Wins within the turn are found in every game, and only what the seat may know is used."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import TESTS, TINY
from plyground.agents.agent import make
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


def test_luck_is_no_win() -> None:
    """Pig: with 25 points in the turn and none before, only luck wins at once; with 100, holding does."""
    pig = pg.load(TESTS / "tiny_games" / "pig.py")
    for points in (0, 60, 70):
        state = np.repeat(pig.position(f"{points} 0 25 0").states, 200)
        assert (winning_actions(pig, state, seeds(3, 200)) == -1).all()
    assert win(pig, pig.position("80 0 25 0")) == "hold"
    state = np.repeat(pig.position("80 0 25 0").states, 200)
    assert (winning_actions(pig, state, seeds(3, 200)) == 1).all()


def test_a_level_weighs_its_luck_as_a_search_does() -> None:
    pig = pg.load(TESTS / "tiny_games" / "pig.py")
    rows = np.repeat(pig.position("0 0 25 0").states, 60)
    rolled = {
        spec: int((make(spec, pig).act(rows, seeds(1, 60)) == 0).sum()) for spec in ("level:9", "search:sims=1000")
    }
    assert max(rolled.values()) <= 12, rolled


def test_a_turn_without_end_is_searched_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """From any position a turn of Pig may go on for ever."""
    from plyground.search import wins

    pig, calls = pg.load(TESTS / "tiny_games" / "pig.py"), list[int]()
    monkeypatch.setattr(wins, "without_luck", lambda game, states, *_: np.ones(len(states), np.bool_))
    monkeypatch.setattr(wins, "legal_actions", lambda *each, own=wins.legal_actions: calls.append(1) or own(*each))
    winning_actions(pig, pig.position("0 0 25 0").states, seeds(0, 1))
    assert len(calls) <= wins.LONGEST
