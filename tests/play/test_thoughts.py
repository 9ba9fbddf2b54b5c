"""What an opponent thinks: whole turns, and values where an agent has none of its own."""

from __future__ import annotations

from typing import Any

import pytest

import plyground as pg
from plyground.play import thoughts, typed
from plyground.search.analysis import Analysis, scored

pytestmark = pytest.mark.compiled


class Lifts:
    """Gives a share to each action, as a network does."""

    def analyse(self, position: pg.Position, rngs: Any) -> Analysis:
        shares = {action: 1.0 / (1 + place) for place, action in enumerate(position.legal())}
        return scored(position, {}, 0.0, {action: share / sum(shares.values()) for action, share in shares.items()})


@pytest.mark.parametrize("spec", ["level:4", "minimax:depth=1"])
def test_values_of_paco_sako_are_those_of_whole_turns(paco_sako: pg.Game, spec: str) -> None:
    start = paco_sako.start()
    found = thoughts.think(start, pg.agent(spec, paco_sako))
    assert (found.rule, found.values_of) == ("", "")
    turns = [typed.turns_of(start, move.actions)[0] for move in found.analysis.moves]
    assert all(turn.whole for turn in turns)
    values = [move.value for move in found.analysis.moves if move.value is not None]
    assert values == sorted(values, reverse=True)
    assert len(values) == 10


def test_the_share_of_a_turn_is_that_of_its_actions(paco_sako: pg.Game) -> None:
    best, *_ = thoughts.think(paco_sako.start(), Lifts()).analysis.moves
    lift = sum(1.0 / (1 + place) for place in range(10))  # as many pieces can move
    assert best.prior == pytest.approx(1.0 / lift * 1.0 / (1.0 + 1.0 / 2.0)), "of two squares"


def test_a_turn_for_which_there_is_no_time_is_not_half_told(
    paco_sako: pg.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thoughts, "SECONDS", 0.0)
    moves = thoughts.think(paco_sako.start(), Lifts()).analysis.moves
    assert [len(move.line) for move in moves if move.prior > 0.0] == [2, 2]


def test_an_agent_that_plays_by_a_rule_tells_it_and_the_values_are_the_games(connect_four: pg.Game) -> None:
    position = connect_four.position("112233")
    found = thoughts.think(position, pg.agent("greedy", connect_four))
    assert found.rule.endswith("nearest to the centre. It would play 4.")
    assert found.values_of == "the game's evaluation function"
    assert found.analysis.moves[0].judgement == "win in 1 move"


def test_where_the_game_scores_no_moves_there_are_no_values(
    connect_four: pg.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thoughts, "can_search", lambda _: False)
    found = thoughts.think(connect_four.start(), pg.agent("punisher", connect_four))
    assert found.rule.startswith("It plays by a rule, without values: win, else block, else any column. It would play")
    assert found.values_of == ""
