"""One game in progress: moves, undo, branches, clocks, views."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

import plyground as pg
from plyground.errors import Error, IllegalAction
from plyground.games.interface import Outcome
from plyground.play.saved import read_moves
from plyground.web import messages
from plyground.web.requests import Clock
from plyground.web.table import FORMAT, Pruning, Saved, Table


def table(spec: str, *players: str, **fields: Any) -> Table:
    game = pg.load(spec)
    names = ["You" if player == "you" else player.title() for player in players]
    saved = Saved(FORMAT, "0" * 16, spec.partition(":")[0], {}, list(players), names, 7, "", [], **fields)
    return Table(saved, game)


def play(game: Table, *names: str) -> None:
    """Moves of people and agents in turn."""
    for name in names:
        action = game.position.action(name)
        if game.agent_to_move:
            game.reply(action)
        else:
            game.play(len(game.moves), action)


def test_undo_takes_back_the_answer_too() -> None:
    game = table("connect_four", "you", "random")
    play(game, "4", "4", "3", "3")
    game.undo()
    assert [move.name for move in game.moves] == ["4", "4"]
    game.undo()
    assert game.moves == []
    with pytest.raises(IllegalAction, match="nothing to take back"):
        game.undo()


def test_an_unfinished_turn_is_taken_back_alone() -> None:
    game = table("paco_sako", "you", "random")
    play(game, *game.position.names()[:1])  # a lift
    assert game.position.to_move == 0
    game.undo()
    assert game.moves == []


def test_a_move_at_an_earlier_ply_asks_before_it_removes_later_ones() -> None:
    game = table("connect_four", "you", "you")
    play(game, "4", "4", "3")
    with pytest.raises(Pruning, match="removes 2 later moves"):
        game.play(1, 0)
    assert len(game.moves) == 3
    game.play(1, 0, prune=True)
    assert [move.name for move in game.moves] == ["4", "1"]


def test_an_illegal_action_changes_nothing() -> None:
    game = table("chess", "you", "random")
    before = game.saved.revision
    for action in (0, 999_999):
        with pytest.raises(IllegalAction):
            game.play(0, action)
    with pytest.raises(IllegalAction):
        game.say(0, "e5")
    assert game.saved.revision == before
    assert game.moves == []


def test_a_typed_move_that_is_not_legal_is_answered_with_the_closest_legal_ones() -> None:
    game = table("chess", "you", "random")
    for text in ("Nf4", "moves", "Nf4 " * 20):
        with pytest.raises(IllegalAction, match="is not legal here; legal: ") as found:
            game.say(0, text)
        assert str(found.value).count(", ") == 11
        assert str(found.value).endswith(" and 8 more")
        assert "`moves`" not in str(found.value), "a command of the terminal"
    with pytest.raises(IllegalAction, match="legal: f4, Nf3, "):
        game.say(0, "Nf4")
    with pytest.raises(IllegalAction, match=r"legal: 1, 2, 3, 4, 5, 6, 7$"):
        table("connect_four", "you", "random").say(0, "9")


def test_nobody_plays_for_the_agent() -> None:
    game = table("connect_four", "random", "you")
    with pytest.raises(IllegalAction, match="Random is to move"):
        game.play(0, 3)


def test_a_typed_turn_is_played_whole() -> None:
    game = table("chess", "you", "random")
    game.say(0, "e4")
    assert game.moves[0].name == "e4"
    assert game.position_message(1).last == ["e4", "e2"]


def test_the_plies_of_a_turn_are_written_as_parts_of_the_turn() -> None:
    game = table("paco_sako", "you", "you")
    game.say(0, "e2>e4")
    assert [move.name for move in game.moves] == ["e2", ">e4"]
    assert [move.turn for move in game.moves] == [1, 1]
    game.say(2, "Ng8>f6")
    assert "".join(move.name for move in game.moves[2:]) == "Ng8>f6"


def test_resigning_ends_the_game_and_can_be_taken_back() -> None:
    game = table("chess", "you", "random")
    play(game, "e2e4", "e7e5")
    game.resign()
    assert game.over
    assert game.message().outcome == "second"
    assert game.position_message(2).choices == []
    with pytest.raises(IllegalAction, match="over"):
        game.play(2, game.position.action("g1f3"))
    game.undo()
    assert not game.over
    assert len(game.moves) == 2


def test_the_end_is_said_from_the_persons_side() -> None:
    won, lost, watched = (table("connect_four", *who) for who in (("you", "x"), ("x", "you"), ("x", "y")))
    for game in (won, lost, watched):
        play(game, "4", "1", "4", "1", "4", "1", "4") if game is not watched else None
    for name in "4141414":
        watched.reply(watched.position.action(name))
    assert won.ending == "You win (four in a row)!"
    assert lost.ending == "You lose (four in a row)."
    assert watched.ending == "●, X, wins (four in a row)."


def test_the_list_of_games_shows_the_result_of_a_game_that_was_pasted() -> None:
    actions = read_moves(pg.load("chess").start(), "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#")
    names = ["Ada", "You"]
    saved = Saved(FORMAT, "0" * 16, "chess", {}, ["you", "you"], names, 7, "", actions)
    info = Table(saved, pg.load("chess")).info()
    assert (info.plies, info.status, info.over) == (7, "White wins (checkmate).", True)
    assert info.title == "Chess: Ada against ?, a study"
    assert (saved.status, saved.over) == (info.status, True), "the list is the same after a restart"
    half = msgspec.structs.replace(saved, actions=actions[:3], names=["You", "You"])
    info = Table(half, pg.load("chess")).info()
    assert (info.status, info.over, info.title) == ("Black to move", False, "Chess: a study")


def test_a_table_is_the_same_after_a_reload() -> None:
    game = table("sequence", "you", "window", revision=3)
    for _ in range(6):
        play(game, game.position.names()[0])
    again = Table(
        Saved(**{name: getattr(game.saved, name) for name in game.saved.__struct_fields__}), pg.load("sequence")
    )
    assert again.position == game.position
    assert messages.encode(again.position_message(6)) == messages.encode(game.position_message(6))


def test_a_kept_game_of_other_rules_is_an_error_without_cards() -> None:
    with pytest.raises(Error, match=r"ply 1 is not legal: the rules of sequence have changed since$"):
        Table(Saved(FORMAT, "0" * 16, "sequence", {}, ["x", "you"], ["X", "You"], 7, "", [2641]), pg.load("sequence"))


def test_turns_of_several_actions_have_one_number() -> None:
    game = table("paco_sako", "you", "you")
    for _ in range(4):
        play(game, game.position.names()[0])
    assert [move.turn for move in game.moves] == [1, 1, 2, 2]


def test_the_clock_runs_for_the_side_to_move() -> None:
    game = table("chess", "you", "random", clock=Clock(60.0, 2.0), clocks=[60.0, 60.0])
    game.run_clock(100.0, True)
    play(game, "e2e4")
    game.run_clock(110.0, True)
    assert game.time_left(115.0) == [52.0, 55.0]  # ten seconds gone, two added; five gone
    game.run_clock(120.0, False)
    assert game.time_left(1000.0) == [52.0, 50.0]


def test_opening_a_game_again_leaves_its_clocks_alone() -> None:
    game = table("connect_four", "you", "you", clock=Clock(300.0, 5.0), clocks=[300.0, 300.0])
    game.run_clock(0.0, True)
    play(game, *"445533")
    assert game.saved.clocks == [315.0, 315.0]
    for _ in range(2):
        game = Table(msgspec.json.decode(msgspec.json.encode(game.saved), type=Saved), game.game)
        assert game.saved.clocks == [315.0, 315.0]
    game.undo(2)
    assert game.saved.clocks == [305.0, 305.0]


def test_moves_that_are_taken_back_give_their_time_back_and_no_increment() -> None:
    game = table("chess", "you", "you", clock=Clock(60.0, 2.0), clocks=[60.0, 60.0])
    for now in (100.0, 200.0):
        game.run_clock(now, True)
        play(game, "e2e4")
        game.run_clock(now + 10.0, True)
        assert game.time_left(now + 10.0) == [52.0, 60.0]
        game.undo()
        game.run_clock(now + 20.0, False)
        assert game.time_left(now + 20.0) == [60.0, 60.0]


def test_a_lost_clock_that_is_taken_back_has_the_time_of_the_moves_beginning() -> None:
    game = table("chess", "you", "random", clock=Clock(60.0), clocks=[60.0, 60.0])
    game.run_clock(100.0, True)
    play(game, "e2e4", "e7e5")
    game.run_clock(120.0, True)
    game.run_clock(200.0, False)
    game.end(Outcome.SECOND_WINS, "The time of White is over: Black wins.")
    game.undo()
    game.run_clock(300.0, True)
    assert not game.over
    assert game.time_left(301.0) == [39.0, 60.0]


def test_the_last_turn_is_marked_by_the_cells_that_it_changed() -> None:
    game = table("connect_four", "you", "random")
    play(game, "4", "4")
    assert game.position_message(2).last == ["d2"]
    assert game.position_message(0).last == []


def test_a_line_is_looked_at_without_being_played() -> None:
    game = table("connect_four", "you", "random")
    shown = game.position_message(0, [3, 3])
    assert shown.last == ["d2"]
    assert shown.choices == []
    assert game.moves == []
    with pytest.raises(Error):
        game.position_message(0, [3] * 7)


@pytest.mark.parametrize("spec", ["sequence", "sequence:rules=boxed", "sequence:seats=4,rules=boxed"])
def test_what_a_page_is_sent_does_not_depend_on_what_its_seat_cannot_see(spec: str) -> None:
    """The bytes stay the same when the hidden cards are dealt anew."""
    game = pg.load(spec)
    seats = int(game.settings["seats"])
    one = table(spec, "you", *["window"] * (seats - 1))
    for _ in range(3 * seats):
        play(one, one.position.names()[0])
        other = table(spec, "you", *["window"] * (seats - 1))
        other.moves, other.seats, other.saved, other.event = one.moves, one.seats, one.saved, one.event
        other.positions = [*one.positions[:-1], redealt(one.position, 0)]
        assert other.position != one.position
        for each in (one, other):
            each._scenes.clear()
        assert messages.encode(other.position_message(len(one.moves))) == messages.encode(
            one.position_message(len(one.moves))
        )
        assert other.record() == one.record()
        assert messages.encode(other.message()) == messages.encode(one.message())


def redealt(position: pg.Position, seat: int) -> pg.Position:
    """The same position with other cards where the seat cannot see them."""
    found = pg.Position(position.game, position.states, rngs=position.rngs)
    found.game.kernels().determinize_all(found.states, np.array([seat], np.int32), np.array([99], np.uint64))
    return found


def test_a_game_of_lists_shows_the_actions_of_the_one_who_acts() -> None:
    from conftest import TINY

    game = table(TINY[0], "you", "you")
    for _ in range(2):
        zones = [zone.name for zone in game.position_message(len(game.moves)).scene.zones]
        assert "actions" in zones
        play(game, game.position.names()[0])
