"""A game in progress: actions are played at its end and taken back from there."""

from __future__ import annotations

import random

import pytest

import plyground as pg
from conftest import TESTS
from plyground.errors import IllegalAction
from plyground.play.line import Line

DICE, RACE = (str(TESTS / "tiny_games" / name) for name in ("dice_race.py", "race.py"))
CARDS = "sequence:rules=boxed,seats=4"


def grown(spec: str, seed: int) -> Line:
    """A line that was played and cut at random."""
    rng, line = random.Random(seed), Line(pg.load(spec).start(seed))
    for _ in range(40):
        for _ in range(rng.randint(1, 5)):
            if not line.over:
                line.play(rng.choice(line.position.legal()))
        ply = rng.randint(max(0, len(line.actions) - 4), len(line.actions))
        line.cut(ply, line.seats[ply])
    return line


@pytest.mark.parametrize("spec", ["connect_four", "paco_sako", CARDS, DICE])
def test_a_line_that_was_cut_is_the_one_that_is_replayed(spec: str) -> None:
    for seed in range(3):
        line = grown(spec, seed)
        again = Line(line.start, line.actions, line.redraws)
        assert again.positions == line.positions
        assert [each.rngs for each in again.positions] == [each.rngs for each in line.positions], "and cards to come"
        assert (again.seats, again.turns, again.actions) == (line.seats, line.turns, line.actions)
        assert len(line.positions) == len(line.seats) == len(line.actions) + 1
        assert len({each.ply for each in line.redraws}) == len(line.redraws), "one for a ply: they do not grow"
        assert bool(line.redraws) == line.start.game.uncertain


@pytest.mark.parametrize("spec", ["paco_sako", CARDS])
def test_turns_begin_where_another_seat_acts(spec: str) -> None:
    line = grown(spec, 1)
    begins = [ply for ply in range(len(line.actions)) if ply == 0 or line.seats[ply] != line.seats[ply - 1]]
    assert line.turns == begins
    assert len(begins) > 5
    for ply in range(1, len(line.actions) + 1):
        assert line.turn_before(ply) == max(begin for begin in begins if begin < ply)
    assert line.turn_before(0) == 0


def test_a_turn_of_several_actions_is_written_as_one(paco_sako: pg.Game) -> None:
    line = Line(paco_sako.start())
    for name in ("Le2", "Pe4", "Ld7"):
        line.play(line.position.action(name))
    assert (line.turns, line.turn_text(0), line.turn_text(1)) == ([0, 2], "e2>e4", "d7")
    line.cut(1, 0)
    assert (line.turns, line.turn_text(0)) == ([0], "e2")
    line.play(line.position.action("Pe3"))
    assert (line.turns, line.turn_text(0)) == ([0], "e2>e3")


def test_an_action_that_is_not_legal_changes_nothing(connect_four: pg.Game) -> None:
    line = Line(connect_four.start(), [3])
    with pytest.raises(IllegalAction):
        line.play(99)
    assert (line.actions, len(line.positions), line.seats, line.turns) == ([3], 2, [0, 1], [0])


def test_an_agreed_end_is_taken_back_and_the_rules_come_first(connect_four: pg.Game) -> None:
    line = Line(connect_four.start(), [3], agreed=pg.Outcome.DRAW)
    assert (line.over, line.outcome) == (True, pg.Outcome.DRAW)
    assert line.cut(1, 1) is False
    assert (line.over, line.actions) == (False, [3])
    won = Line(connect_four.position("121212"), [0], agreed=pg.Outcome.SECOND_WINS)
    assert won.outcome == pg.Outcome.FIRST_WINS


def test_what_is_drawn_anew_is_told(connect_four: pg.Game) -> None:
    cards = Line(pg.load(CARDS).start(3))
    cards.play(cards.position.legal()[0])
    assert cards.cut(1, 1) is False, "nothing is taken back"
    assert cards.redraws == []
    assert cards.cut(0, 0) is True
    assert [(each.ply, each.seat) for each in cards.redraws] == [(0, 0)]
    assert Line(connect_four.start(), [3]).cut(0, 0) is False


def test_nothing_is_drawn_anew_where_chance_has_decided_nothing_since() -> None:
    line = Line(pg.load(RACE).start(1))
    line.play(line.position.action("roll"))
    assert line.cut(0, 0) is True
    for name in ("roll", "run0"):
        line.play(line.position.action(name))
    thrown = line.positions[1]
    assert line.cut(1, 0) is False, "no dice have fallen after the roll"
    assert line.position is thrown
    assert [each.ply for each in line.redraws] == [0]


def test_a_game_is_final_where_its_end_shows_what_was_hidden(connect_four: pg.Game) -> None:
    for start, final in ((connect_four.start(), False), (pg.load(CARDS).start(1), True)):
        assert Line(start, agreed=pg.Outcome.DRAW).final is final
        assert not Line(start).final


def test_the_end_is_one_sentence(connect_four: pg.Game) -> None:
    won = Line(connect_four.position("121212"), [0])
    assert won.ending() == "● wins (four in a row)."
    assert won.ending(("Ada", "Bob")) == "●, Ada, wins (four in a row)."
    assert won.ending(("", "Bob")) == "● wins (four in a row)."
    assert [won.ending(side=side) for side in (0, 1)] == ["You win (four in a row)!", "You lose (four in a row)."]
    assert won.ending(why="the clock") == "● wins (four in a row).", "the rules know it better"
    given_up = Line(pg.load("chess").start(), agreed=pg.Outcome.SECOND_WINS)
    assert given_up.ending(("Ada", "Bob"), why="the record ends here") == "Black, Bob, wins (the record ends here)."
    assert given_up.ending(side=1) == "You win!"
    given_up.agreed = pg.Outcome.DRAW
    assert (given_up.ending(side=0), given_up.ending(why="it was agreed")) == ("A draw.", "A draw (it was agreed).")
