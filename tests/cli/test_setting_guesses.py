"""Settings that are typed apart from a game's or an agent's name are answered with the line that is meant."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.cli.setting_guesses import SETTINGS_OF_GAMES
from plyground.games import GAMES

RIGHT_LINES = [
    ("play chess minimax --depth 5", "play chess minimax:depth=5"),
    ("play --depth 5 chess", "play chess minimax:depth=5"),
    ("play sequence --seats 4", "play sequence:seats=4"),
    ("play --seats=4 sequence:rules=boxed level:2", "play sequence:rules=boxed,seats=4 level:2"),
    ("play sequence seats=4", "play sequence:seats=4"),
    ("match greedy minimax --depth 4", "match greedy minimax:depth=4"),
    ("grade minimax --depth 4", "grade minimax:depth=4"),
    ("match connect_four minimax depth=3 random", "match connect_four minimax:depth=3 random"),
    ("match search sims=10 minimax depth=2 --games 10", "match search:sims=10 minimax:depth=2 --games 10"),
    ("evaluate runs/x minimax depth=2", "evaluate runs/x minimax:depth=2"),
    ("play connect_four search --sims 100", "play connect_four search:sims=100"),
    ("match connect_four --depth=3 minimax random", "match connect_four minimax:depth=3 random"),
    ("match minimax:depth=3 --depth 4 random", "match minimax:depth=4 random"),
    ("match minimax:depth=3,table=16 --depth 4 random", "match minimax:depth=4,table=16 random"),
    ("match minimax:3 search:100", "match minimax:depth=3 search:sims=100"),
    ("ladder random minimax --depth 2", "ladder random minimax:depth=2"),
    ("play connect_four -level 3", "play connect_four level:3"),
    ("play chess level=3", "play chess level:3"),
]


@pytest.mark.parametrize(("typed", "right"), RIGHT_LINES, ids=[typed for typed, _ in RIGHT_LINES])
def test_a_setting_apart_from_its_name_is_answered_with_the_right_line(answer, typed: str, right: str) -> None:
    assert answer(typed) == right


@pytest.mark.parametrize("right", sorted({right for _, right in RIGHT_LINES}))
def test_the_line_of_an_answer_is_accepted(accept, right: str) -> None:
    code, _, err = accept(right)
    assert code == 0, err


def test_the_settings_of_games_are_known() -> None:
    found = {key: name for name in GAMES for key in pg.load(name).rules.SETTINGS}
    assert found == SETTINGS_OF_GAMES
