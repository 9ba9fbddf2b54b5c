"""Difficulty levels: wins in one are seen from level 5 on, the easiest loses, the same seed plays the same game."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from naive.turns import drawn_by_score
from plyground.agents.levels import ALPHA_BETA, SEARCH, SEES_WINS, levels_of, strongest
from plyground.agents.registry import can_search, make
from plyground.agents.teacher import Scorer
from plyground.checks import laws
from plyground.errors import shorten
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.games.rng import STEP, seeds
from plyground.search.minimax import Minimax
from plyground.search.within_turn import choose, to_win

pytestmark = pytest.mark.compiled
GAMES = ("connect_four", "chess", "paco_sako", "sequence")
OWN = str(ROOT / "examples" / "three_in_a_row.py")


def planted(game: pg.Game, most: int) -> Any:
    """[N] positions of random games in which the side to move wins within its turn."""
    states = laws.sample(game, 60, seed=11).states
    states = states[states["outcome"] == RUNNING][::3][-1500:]
    return states[choose(game, states, seeds(0, len(states)), to_win(game))[0] >= 0][:most]


@pytest.mark.parametrize("word", [*GAMES, OWN])
def test_a_win_in_one_is_never_missed_from_level_5_on(word: str) -> None:
    game = pg.load(word)
    states = planted(game, 24)
    assert len(states) > 3
    for number in range(SEES_WINS, 10):
        agent, here, rngs = make(f"level:{number}", game), states.copy(), seeds(number, len(states))
        side = here["to_move"].copy()
        for _ in range(40):  # a turn may have several actions
            rows = np.flatnonzero((here["outcome"] == RUNNING) & (here["to_move"] == side))
            if not len(rows):
                break
            part, own = here[rows], rngs[rows]
            game.kernels().play_all(part, agent.act(part, own), own, game.work())
            here[rows], rngs[rows] = part, own
        assert (here["outcome"] == FIRST_WINS + side).all(), number


@pytest.mark.parametrize("word", GAMES)
def test_the_easiest_level_loses_clearly_to_greedy(word: str) -> None:
    game = pg.load(word)
    assert pg.match(game, make("level:1", game), make("greedy", game), games=20, seed=1).score < 0.2


@pytest.mark.parametrize("word", [*GAMES, OWN])
def test_levels_are_reproducible_and_rows_do_not_depend_on_one_another(word: str) -> None:
    game = pg.load(word)
    sample = laws.sample(game, 6, seed=4).states
    states = sample[sample["outcome"] == RUNNING][:40]
    masks = game.legal_mask(states)
    for number in (1, 4, 7):
        actions = make(f"level:{number}", game).act(states.copy(), seeds(3, len(states)))
        assert masks[np.arange(len(states)), actions].all()
        agent = make(f"level:{number}", game)
        for row in range(0, len(states), 7):
            alone = agent.act(states[row : row + 1].copy(), seeds(3, len(states))[row : row + 1])
            assert alone[0] == actions[row], (number, row)


def test_level_10_plays_with_the_network_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [pg.load(word) for word in ("paco_sako", "sequence", "sequence:seats=4")]
    with_network = ["search:model=trained,time=0.2", "search:model=trained,time=0.5", "search:time=0.5"]
    assert [strongest(game) for game in games] == with_network  # there is none for other settings
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else find(name))
    assert [strongest(game) for game in games] == ["minimax:time=0.5", "search:time=0.5", "search:time=0.5"]


def test_each_game_has_the_table_of_what_plays_it_best() -> None:
    assert [levels_of(pg.load(word)) for word in GAMES] == [SEARCH, ALPHA_BETA, ALPHA_BETA, SEARCH]
    assert strongest(pg.load("connect_four")) == "solver"
    assert strongest(pg.load("chess")) == "minimax:time=0.5"
    assert strongest(pg.load(OWN)) == "search:time=0.5"
    for table in (SEARCH, ALPHA_BETA):
        assert list(table) == list(range(1, 11))
        shares = [level.glances for level in table.values()]
        assert shares == sorted(shares, reverse=True)
        assert shares[-1] == 0.0
        assert not table[10].thinks


@pytest.mark.parametrize("word", [*GAMES, OWN])
def test_a_glance_draws_from_the_softmax_of_the_scores(word: str) -> None:
    """The scores are those of minimax of one ply or of the game's scorer; it draws as its slow twin does."""
    game = pg.load(word)
    states = laws.sample(game, 40, seed=9).states
    states = states[states["outcome"] == RUNNING]
    redrawn = game.redrawn(states, seeds(1, len(states)) + STEP)
    scorer = Minimax(game, 1) if can_search(game) else Scorer(game, *next(iter(game.rules.SCORERS.items())), 1)
    actions, scores = scorer.scores(redrawn)
    scores, rows = np.where(actions >= 0, scores, -np.inf), np.arange(len(states))
    for number in (1, 2):
        rngs, own = seeds(1, len(states)), seeds(1, len(states)) + STEP  # it draws first whether it glances
        chosen = make(f"level:{number}", game).act(states.copy(), rngs)
        wanted = actions[rows, drawn_by_score(scores, levels_of(game)[number].temperature, own)]
        assert (chosen == wanted).all()
        assert (rngs == own).all()


@pytest.mark.parametrize("text", ["0", "11", "x", "-1", "5.0", "5,fast=true", "٣", "9" * 5000])
def test_a_level_is_a_number_from_1_to_10(connect_four: pg.Game, text: str) -> None:
    with pytest.raises(pg.Error) as error:
        make(f"level:{text}", connect_four)
    assert "\n" not in str(error.value)
    if "," not in text:
        assert str(error.value) == f"a level is a whole number from 1 to 10, not {shorten(text)!r}"


def test_a_level_needs_its_number(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match="'level:' names no N; write level:N"):
        make("level:", connect_four)
    assert str(make("level:3", connect_four)) == "level:3"


@pytest.mark.parametrize(
    ("word", "level", "visits"),
    [("chess", 3, 0), ("sequence", 3, 0), ("sequence", 6, 0), ("sequence", 7, 100), ("connect_four", 7, 100)],
)
def test_a_low_level_tells_what_it_sees_at_a_glance(word: str, level: int, visits: int) -> None:
    """A few simulations would say +1 of nearly every move."""
    found = pg.load(word).start(3).analyse(f"level:{level}")
    assert found.simulations == visits
    assert visits or len({move.value for move in found.moves}) > 3
    assert visits or all(move.value is not None for move in found.moves)
