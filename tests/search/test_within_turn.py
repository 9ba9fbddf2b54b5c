"""Wins within the turn are found in every game, and only what the seat may know is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TESTS, TINY
from naive import turns
from plyground.agents.registry import make
from plyground.checks import laws
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.paco_sako import analysis
from plyground.games.rng import seeds
from plyground.search import within_turn
from plyground.search.choosing_arrays import EVALUATED, FULL
from plyground.search.tree_memory import words_of
from plyground.search.within_turn import best_end, choose, to_win

pytestmark = pytest.mark.compiled
GAMES = ("connect_four", "chess", "paco_sako", "sequence")
DICE = [str(TESTS / "tiny_games" / name) for name in ("pig.py", "dice_race.py", "race.py")]
MANY = {"sequence": 150}
"""positions that are tried, where the slow twin takes long"""


def winning_actions(game: pg.Game, states: Any, rngs: Any) -> Any:
    """[N] an action that begins a win within the turn; -1: there is none."""
    return choose(game, states, rngs.copy(), to_win(game))[0]


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


@pytest.mark.parametrize("word", [*GAMES, *TINY, *DICE, str(ROOT / "examples" / "three_in_a_row.py")])
def test_wins_and_ends_are_those_of_the_slow_twin(word: str) -> None:
    """In positions of random games, whatever their turns, dice and hidden cards."""
    game = pg.load(word)
    states = laws.sample(game, 40, seed=6).states
    states = states[states["outcome"] == RUNNING]
    states = states[:: max(1, len(states) // MANY.get(word, 400))]
    rngs = seeds(4, len(states))
    found = winning_actions(game, states, rngs)
    assert found.tolist() == turns.winning_actions(game, states, rngs)
    assert (rngs == seeds(4, len(states))).all()
    assert (found >= 0).any()
    assert (found < 0).any()
    for row in range(0, len(states), 10):
        assert best_end(game, states[row : row + 1]) == turns.best_end(game, states[row : row + 1])


def test_memory_grows_with_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the places do not suffice, the generator is as before; with more of them the answers are the same."""
    game = pg.load("paco_sako")
    states = laws.sample(game, 40, seed=6).states
    states = states[states["outcome"] == RUNNING][::9]
    level = to_win(game)._replace(glances=0.5, temperature=0.5, scores=EVALUATED)
    wanted, rngs = choose(game, states, seeds(1, len(states)), level)[0], seeds(1, len(states))
    ends = [best_end(game, states[row : row + 1]) for row in range(0, len(states), 20)]
    monkeypatch.setattr(within_turn, "PLACES", 4)
    chosen, turn = choose(game, states, rngs, level)
    assert len(turn.nodes) > 4
    assert (chosen == wanted).all()
    assert [best_end(game, states[row : row + 1]) for row in range(0, len(states), 20)] == ends
    row = next(row for row in range(len(states)) if len(choose(game, states[row : row + 1], rngs, level)[1].nodes) > 4)
    small, rng = within_turn.new_turn(game, 4), seeds(1, 1)
    words, work = words_of(states[row : row + 1])[0], game.work()[0]
    assert game.kernels(within_turn.TEMPLATE).choose(words, rng, level, small, work) == FULL
    assert rng == seeds(1, 1)


def test_a_turn_without_end_is_searched_for_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of Pig whose die always shows 2 may go on for ever, and with more to choose it has ever more positions."""
    source, file = (TESTS / "tiny_games" / "pig.py").read_text(), tmp_path / "endless.py"
    file.write_text(source.replace("1 + below(rng, 6)", "2").replace("CHANCE = 0, True", "CHANCE = 0, False"))
    pig = pg.load(file).without_compiler()
    start, lasts = pig.blank, [100 - 2 * k for k in (within_turn.LONGEST - 1, within_turn.LONGEST)]
    for points, found in zip(lasts, (0, -1), strict=True):
        start["points"][0, 0] = points
        assert winning_actions(pig, start, seeds(0, 1)) == found
    branching = "else:\n        state['turn'] = 2 * state['turn'] + 1\n        return\n        "
    file.write_text(file.read_text().replace('state["turn"] += die', 'state["turn"] = 2 * (state["turn"] + 1)'))
    file.write_text(file.read_text().replace("else:\n        ", branching, 1))
    monkeypatch.setattr(within_turn, "MOST", 100)
    _, turn = choose(pg.load(file).without_compiler(), pig.blank, seeds(0, 1), to_win(pig))
    assert 100 < np.count_nonzero(turn.table) < 200
