"""One game in progress: moves, undo, branches, clocks, views."""

from __future__ import annotations

import copy
import random
from typing import Any

import msgspec
import pytest

import plyground as pg
from browsing import TRADE
from conftest import TESTS
from plyground.errors import Error, IllegalAction, InvalidValue
from plyground.games.interface import Outcome
from plyground.play.redraw import Redraw
from plyground.play.saved import read_games, read_moves
from plyground.web import messages
from plyground.web.catalogue import seats_of
from plyground.web.requests import Clock
from plyground.web.table import FORMAT, GameTable, Pruning, Saved, opened, sealed
from secrets_of import secrets_of

RACE = str(TESTS / "tiny_games" / "race.py")


def table(spec: str, *players: str, seed: int = 7, **fields: Any) -> GameTable:
    game = pg.load(spec)
    names = ["You" if player == "you" else player.title() for player in players]
    fields = {"text": "", "actions": [], **fields}
    saved = Saved(FORMAT, "0" * 16, spec.partition(":")[0], {}, list(players), names, seed, **fields)
    return GameTable(saved, game)


def play(game: GameTable, *names: str) -> None:
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


def test_what_a_person_has_begun_is_told_where_taking_it_back_gives_nothing_away() -> None:
    game = table("paco_sako", "you", "random")
    assert game.position_message(0).begun is None
    play(game, "Le2")
    begun = game.position_message(1).begun
    assert begun == messages.Begun(0, ["e2"], ["a2", "b1", "b2", "c2", "d2", "e2", "f2", "g1", "g2", "h2"])
    play(game, "Pe4")
    assert game.position_message(2).begun is None, "a turn that is complete stays"
    play(game, game.position.names()[0])
    assert game.position_message(3).begun is None, "it is the agent's"
    watched = table("paco_sako", "random", "random")
    play(watched, "Le2")
    assert watched.position_message(1).begun is None


def test_drawn_and_hidden_things_are_not_put_back() -> None:
    game = table(RACE, "you", "random")
    play(game, "roll")
    assert game.position_message(1).begun is None, "dice have fallen"
    play(game, "run0")
    begun = game.position_message(2).begun
    assert begun is not None
    assert (begun.ply, begun.others) == (1, ["c0", "c2"])
    cards = table("sequence", "you", "random", text=TRADE)
    play(cards, next(name for name in cards.position.names() if name.startswith("trade ac")))
    assert cards.position.to_move == 0
    assert cards.position_message(1).begun is None


def test_lifting_and_putting_down_leave_nothing_behind_but_the_time() -> None:
    game = table("paco_sako", "you", "random", clock=Clock(60), clocks=[60.0, 60.0])
    for second in range(0, 30, 3):
        game.run_clock(float(second), True)
        play(game, "Le2")
        game.run_clock(second + 1.0, True)
        game.undo(0)
        game.run_clock(second + 2.0, True)
    assert game.saved.actions == game.moves == []
    assert len(game.line.positions) == len(game.saved.clock_history) == 1
    assert game.saved.clocks == [31.0, 60.0], "29 seconds have passed"
    play(game, "Le2", "Pe4", "Le7", "Pe5")
    game.undo(0)
    assert game.saved.clocks[0] == 60.0, "a turn that is taken back gives the time back"


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
    assert GameTable(saved, pg.load("chess")).title == "Chess: Ada against ?, a study"
    assert (saved.status, saved.over) == ("White wins (checkmate).", True)
    half = msgspec.structs.replace(saved, actions=actions[:3], names=["You", "You"])
    assert GameTable(half, pg.load("chess")).title == "Chess: a study"
    assert (half.status, half.over) == ("Black to move", False)


def test_a_table_is_the_same_after_a_reload() -> None:
    game = table("sequence", "you", "window", revision=3)
    for _ in range(6):
        play(game, game.position.names()[0])
    again = GameTable(
        Saved(**{name: getattr(game.saved, name) for name in game.saved.__struct_fields__}), pg.load("sequence")
    )
    assert again.position == game.position
    assert messages.encode(again.position_message(6)) == messages.encode(game.position_message(6))


def test_a_kept_game_of_other_rules_is_an_error_without_cards() -> None:
    with pytest.raises(Error, match=r"ply 1 is not legal: the rules of sequence have changed since$"):
        GameTable(
            Saved(FORMAT, "0" * 16, "sequence", {}, ["x", "you"], ["X", "You"], 7, "", [2641]), pg.load("sequence")
        )


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
        game = GameTable(msgspec.json.decode(msgspec.json.encode(game.saved), type=Saved), game.game)
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
        other.moves, other.saved, other.event, other.line = one.moves, one.saved, one.event, copy.copy(one.line)
        other.line.positions = [*one.line.positions[:-1], redealt(one.position, 0)]
        assert other.position != one.position
        for each in (one, other):
            each._scenes.clear()
        assert messages.encode(other.position_message(len(one.moves))) == messages.encode(
            one.position_message(len(one.moves))
        )
        assert other.record() == one.record()
        assert messages.encode(other.message()) == messages.encode(one.message())


CARDS = [f"sequence:rules={rules},seats={seats}" for rules in ("course", "boxed") for seats in (2, 4)]
DICE = str(TESTS / "tiny_games" / "dice_race.py")


def cards_table(spec: str) -> tuple[GameTable, random.Random]:
    seats = int(pg.load(spec).settings["seats"])
    return table(spec, "you", *["window"] * (seats - 1), seed=123_456_789_012), random.Random(spec)


def go_on(game: GameTable, rng: random.Random) -> None:
    """One turn of the person, and the answers."""
    while True:
        person = game.line.seats[-1] in game.people
        play(game, rng.choice(game.position.names()[:-1] or ["pass"]))
        if game.over or (game.line.seats[-1] in game.people and not person):
            return


@pytest.mark.parametrize("spec", CARDS)
def test_looking_and_taking_back_gains_nothing(spec: str) -> None:
    """The cards to come are others after each undo; what the person sees there is the same to the last byte."""
    game, rng = cards_table(spec)
    for _ in range(3):
        go_on(game, rng)
    ply, drawn = len(game.moves), set[str]()
    before = game.position_message(ply)
    first = before.choices[0].action
    for number in range(15):
        game.play(ply, first, prune=True)
        drawn.add(game.game.rules.view(game.position.state, 0))
        for _ in range(number % 3):
            while game.agent_to_move:
                game.reply(rng.choice(game.position.legal()))
            if len(game.moves) > ply:
                game.play(len(game.moves), rng.choice(game.position.legal()))
        if number % 2:  # else the next move at that ply removes the later ones
            game.undo(ply)
            now = game.position_message(ply)
            assert msgspec.structs.replace(now, revision=before.revision) == before
            assert "drawn anew" in game.event
        assert game.position.problems == []
    assert len(drawn) > 5


@pytest.mark.parametrize("spec", [CARDS[0], DICE])
def test_the_record_of_a_game_whose_first_turn_was_taken_back_is_that_game(spec: str) -> None:
    game = table(spec, "you", "random")
    for _ in range(2):
        game.play(0, game.position.legal()[0])
        game.undo()
    game.play(0, game.position.legal()[0])
    game.resign()
    (read,) = read_games(game.record(), game.game, openly=True)
    assert [each.text for each in read.line.positions] == [each.text for each in game.line.positions]
    assert read.line.position.rngs == game.position.rngs


@pytest.mark.parametrize("spec", CARDS)
def test_after_the_end_of_a_game_with_hidden_cards_nothing_is_taken_back(spec: str) -> None:
    game, rng = cards_table(spec)
    for _ in range(4):
        go_on(game, rng)
    before = game.position.text
    assert "deck" not in game.record()
    game.resign()
    assert f"position: {game.line.positions[0].text}\n" in game.record(), "the end tells everything"
    mine = [k for k in range(len(game.moves)) if game.line.seats[k] == 0]
    for change in (
        game.undo,
        lambda: game.undo(0),
        lambda: game.play(mine[-1], game.line.positions[mine[-1]].legal()[0], prune=True),
        lambda: game.say(mine[0], game.line.positions[mine[0]].names()[0], prune=True),
    ):
        with pytest.raises(IllegalAction, match="over, and what was hidden may be seen: nothing can be taken back"):
            change()
    assert (game.over, game.position.text) == (True, before)
    assert not any(game.position_message(ply).choices for ply in range(len(game.moves) + 1))
    (read,) = read_games(game.record(), game.game, openly=True)
    assert [each.text for each in read.line.positions] == [each.text for each in game.line.positions]


def test_dice_are_thrown_anew_and_a_line_does_not_foresee_them() -> None:
    game, thrown = table(DICE, "you", "random"), set[int]()
    for _ in range(12):
        foreseen = {game.along(0, [0])[-1].text for _ in range(4)}
        assert len(foreseen) > 2
        play(game, "roll")
        thrown.add(int(game.position.state["last"]))
        game.undo()
    assert len(thrown) > 6
    play(game, "roll")
    game.resign()
    game.undo()
    assert not game.over


@pytest.mark.parametrize("spec", [*CARDS, DICE])
def test_a_kept_game_is_sealed_while_it_runs(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seats = seats_of(pg.load(spec))
    game, rng = table(spec, "you", *["window"] * (seats - 1)), random.Random(1)
    for _ in range(4):
        go_on(game, rng)
        game.undo()
        go_on(game, rng)
    (again,) = [kept_and_opened(game)]
    assert [each.text for each in again.line.positions] == [each.text for each in game.line.positions]
    assert again.position.rngs == game.position.rngs, "cards to come are the same"
    assert again.saved == game.saved
    kept = sealed(game.saved, game.game)
    seeds = [str(game.saved.seed), *(str(each.seed) for each in game.saved.redraws)]
    assert (kept.seed, kept.text, kept.redraws, len(seeds)) == (0, "", [], 5)
    with monkeypatch.context() as other:
        other.setattr("plyground.runs.trust._key", lambda: b"another user's")
        with pytest.raises(
            InvalidValue, match=r"^the hidden cards or dice of the game 0+ cannot be read: another user"
        ):
            opened(kept)
    kept.outcome, kept.ending, kept.over = 2, "You resign.", True
    assert opened(kept).outcome == Outcome.RUNNING, "an end that somebody writes into the file shows nothing"
    game.resign()
    assert sealed(game.saved, game.game) is game.saved, "after the end everything is in clear text"


def kept_and_opened(game: GameTable) -> GameTable:
    text = msgspec.json.encode(sealed(game.saved, game.game))
    return GameTable(opened(msgspec.json.decode(text, type=Saved)), game.game)


def test_a_game_that_was_kept_before_games_were_sealed_is_opened() -> None:
    old = b"""{"format":1,"id":"0000000000000000","game":"sequence","settings":{"rules":"boxed"},
    "players":["you","window"],"names":["You","window"],"seed":7,"text":"","actions":[],"ending":"","outcome":0,"clock":null,"clocks":[],
    "clock_history":[],"paused":false,"speed":0.0,"revision":3,"changed":5.0,"status":"Red to move","over":false}"""
    saved = msgspec.json.decode(old, type=Saved)
    game = GameTable(opened(saved), pg.load("sequence:rules=boxed"))
    assert game.position == pg.load("sequence:rules=boxed").start(7)
    assert sealed(game.saved, game.game).sealed


@pytest.mark.parametrize("redraw", [[0, 4, 1], [0, -1, 1], [0, 10**30, 1]])
def test_a_kept_game_with_a_redraw_for_a_seat_that_is_none_is_one_sentence(redraw: list[int]) -> None:
    game = cards_table(CARDS[0])[0]
    game.resign()
    game.saved.redraws = [Redraw(*redraw)]
    with pytest.raises(InvalidValue, match=r"damaged \(redraws\)"):
        GameTable(game.saved, game.game)


@pytest.mark.parametrize("spec", CARDS)
def test_no_message_of_a_game_that_runs_tells_a_deck_a_hand_or_a_seed(spec: str) -> None:
    """Moves, undo, moves at earlier plies, copies, looks, records, a resignation: no way shows what is hidden."""
    game, rng = cards_table(spec)
    for _ in range(30):
        if game.over:
            break
        secrets = secrets_of(game)
        texts = [messages.encode(game.message()), game.title, game.saved.status, game.record(), game.event]
        texts += [messages.encode(game.position_message(ply)) for ply in range(len(game.moves) + 1)]
        texts.append(msgspec.json.encode(sealed(game.saved, game.game)).decode())
        for act in (lambda: game.play(0, 999_999, True), lambda: game.say(0, "x", True), lambda: game.along(0, [1])):
            with pytest.raises(Error) as found:
                act()
            texts.append(str(found.value))
        assert not [secret for secret in secrets for text in texts if secret in text]
        change = rng.choice(("move", "move", "move", "undo", "prune"))
        if change == "undo" and game.moves:
            game.undo(rng.choice((None, rng.randrange(len(game.moves)))) if game.line.seats[-1] == 0 else None)
        elif change == "prune" and game.moves:
            game.play(0, rng.choice(game.line.positions[0].legal()), prune=True)
        if game.agent_to_move:
            game.reply(rng.choice(game.position.legal()))
        else:
            go_on(game, rng)
    if not game.over:
        game.resign()
    ended = messages.encode(game.message()) + messages.encode(game.position_message(len(game.moves)))
    assert not [secret for secret in secrets_of(game) if secret in ended]


def redealt(position: pg.Position, seat: int) -> pg.Position:
    """The same position with other cards where the seat cannot see them."""
    return position.redrawn(seat, 99)


def test_a_game_of_lists_shows_the_actions_of_the_one_who_acts() -> None:
    from conftest import TINY

    game = table(TINY[0], "you", "you")
    for _ in range(2):
        zones = [zone.name for zone in game.position_message(len(game.moves)).scene.zones]
        assert "actions" in zones
        play(game, game.position.names()[0])
