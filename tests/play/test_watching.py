"""A watched game goes on turn by turn, and back."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.errors import Error
from plyground.play.line import Line
from plyground.play.redraw import Redraw
from plyground.play.watching import Watch, by_agents, by_record


def test_a_game_of_agents_goes_on_and_back_and_is_the_same_again(connect_four: pg.Game) -> None:
    agents = pg.agent("greedy", connect_four), pg.agent("random", connect_four)
    watch = Watch(connect_four.start(), ("greedy", "random"), by_agents(lambda: agents, seed=1))
    while not watch.over:
        watch.forward()
    assert watch.position.over
    assert watch.result.startswith(("●, greedy, wins (four", "○, random, wins (four", "A draw"))
    end, turns = watch.position, watch.shown
    watch.forward()
    assert watch.shown == turns, "nothing comes after the end"
    watch.back()
    assert not watch.over
    assert watch.result == ""
    assert not watch.needs_turn, "the last turn has been played already"
    watch.to_start()
    assert watch.position == watch.line.positions[0]
    assert watch.before is None
    watch.back()
    assert watch.shown == 0
    watch.to_end()
    assert watch.position == end
    assert watch.turn(1) == f"1. ● {connect_four.start().name(watch.line.actions[0])}"


def test_a_game_in_which_moves_were_taken_back_is_watched_as_it_was_played() -> None:
    start, redraws = pg.load("sequence:rules=boxed").start(1), [Redraw(0, 0, 5), Redraw(2, 0, 6)]
    actions = list[int]()
    while len(actions) < 4:
        actions.append(Line(start, actions, redraws).position.legal()[-1])
    watch = Watch(start, ("a", "b"), by_record(actions), redraws=redraws)
    while not watch.over:
        watch.forward()
    assert watch.line.positions == Line(start, actions, redraws).positions
    assert watch.ended == "the record ends here"


def test_a_sentence_begins_with_a_capital_letter(paco_sako: pg.Game) -> None:
    start = paco_sako.position("4k3/8/8/8/8/8/4r3/4K3 b 0 - - -")
    watch = Watch(start, ("a", "b"), by_record([start.action("Le2"), start.play("Le2").action("Pe1")]))
    watch.to_end()
    watch.forward()
    assert watch.result == "Black, b, wins (Paco Ŝako)."


def test_a_turn_of_several_actions_is_one_step(paco_sako: pg.Game) -> None:
    start = paco_sako.start()
    actions = [start.action("Le2"), start.play("Le2").action("Pe4")]
    watch = Watch(start, ("a", "b"), by_record(actions))
    watch.forward()
    assert (watch.turn(1), watch.position.to_move) == ("1. white e2>e4", 1)
    assert watch.before == start
    watch.forward()
    assert watch.over
    assert watch.result == "the record ends here."


def test_a_record_of_a_resigned_game_tells_who_has_won(connect_four: pg.Game) -> None:
    watch = Watch(connect_four.start(), ("you", "greedy"), by_record([3]), told=pg.Outcome.SECOND_WINS)
    watch.forward()
    watch.forward()
    assert watch.result == "○, greedy, wins (the record ends here)."
    assert watch.line.outcome == pg.Outcome.SECOND_WINS


def test_a_record_that_ends_within_a_turn_is_shown_to_its_end(paco_sako: pg.Game) -> None:
    watch = Watch(paco_sako.start(), ("a", "b"), by_record([paco_sako.start().action("Le2")]))
    watch.forward()
    assert (watch.turn(1), watch.over) == ("1. white e2", True)


def test_an_agent_that_fails_ends_the_game(connect_four: pg.Game) -> None:
    def fail(position: pg.Position) -> int:
        raise Error("the engine has died")

    watch = Watch(connect_four.start(), ("uci:x", "b"), fail)
    watch.forward()
    assert watch.over
    assert watch.result == "uci:x fails: the engine has died."


@pytest.mark.parametrize("most", [1, 3])
def test_a_game_without_end_is_stopped(connect_four: pg.Game, most: int) -> None:
    watch = Watch(connect_four.start(), ("a", "b"), by_record(range(7)), most)
    for _ in range(7):
        watch.forward()
    assert len(watch.line.actions) == most
    assert watch.result == f"stopped after {most} plies."
