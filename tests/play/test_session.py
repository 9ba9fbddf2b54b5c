"""A game in progress: every input gives events, and the position follows from them."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TESTS
from plyground.agents.agent import GIVES_UP
from plyground.agents.registry import make
from plyground.games.chess import pgn as chess_pgn
from plyground.play import session as module
from plyground.play.session import Event, Session


class First:
    """Plays the first legal action and keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def act(self, states: Any, rngs: Any) -> Any:
        return self.act_in(None, states, rngs)

    def act_in(self, games: Any, states: Any, rngs: Any) -> Any:
        game = pg.load("connect_four")
        return np.array([pg.Position(game, states[k : k + 1]).legal()[0] for k in range(len(states))], np.int32)

    def ended(self, games: Any, outcomes: Any) -> None:
        self.told += outcomes.tolist()


class GivesUp:
    def act(self, states: Any, rngs: Any) -> Any:
        return np.full(len(states), GIVES_UP, np.int32)


def sit(start: pg.Position, against: Any = "random", side: int = 0, seed: int = 1) -> Session:
    agent = make(against, start.game) if isinstance(against, str) else against
    return Session(start, agent, against if isinstance(against, str) else "agent", side, seed)


def after(session: Session, *lines: str) -> list[Event]:
    """The events of the last line and of the agent's reply to it."""
    events: list[Event] = []
    for line in lines:
        events = session.submit(line)
        while session.agent_to_move:
            events += session.reply()
    return events


def test_a_session_tells_its_positions_and_actions(connect_four: pg.Game) -> None:
    session = Session(connect_four.start(), None, "nobody", side=0, seed=0)
    session.submit("4")
    assert session.actions == [3]
    assert session.positions == [connect_four.start(), connect_four.position("4")]


def test_a_move_and_its_reply_are_events() -> None:
    session = sit(pg.load("connect_four").start(), First())
    assert session.begin() == [Event("began")]
    assert session.submit("4") == [Event("played", "4", "you", 3)]
    assert session.agent_to_move
    assert session.reply() == [Event("played", "1", "agent", 0)]
    assert not session.agent_to_move
    assert session.position == pg.load("connect_four").position("41")


def test_a_refused_input_changes_nothing() -> None:
    session = sit(pg.load("connect_four").start())
    (refused,) = session.submit("9")
    assert refused == Event("refused", "'9' is not legal here; legal: 1, 2, 3, 4, 5, 6, 7")
    assert session.position == session.start
    assert session.undo() == [Event("refused", "There is nothing to take back.")]
    assert session.submit("save")[0].kind == "refused"


def test_an_answer_completes_an_ambiguous_input() -> None:
    session = sit(pg.load("sequence").start(3))
    assert session.submit("ts") == [Event("refused", "ts: j2 or b6?")]
    assert session.submit("j2") == [Event("refused", "ts j2: take 4h, kc, 5s, 5c or ts?")]
    (played,) = session.submit("5c")
    assert played.kind == "played"
    assert played.text == "place ts j2 take 5c"


@pytest.mark.parametrize("piece", ["Q", "q", "=Q", "e8=Q"])
def test_an_answer_completes_a_promotion(piece: str) -> None:
    session = sit(pg.load("chess").position("7k/4P3/8/8/8/8/8/K7 w - - 0 1"))
    assert session.submit("e8") == [Event("refused", "e8: e8=Q+, e8=N, e8=B or e8=R+?")]
    (played,) = session.submit(piece)
    assert played.kind == "played"
    assert session.start.name(played.action) == "e7e8q"


@pytest.mark.parametrize("answer", ["y", "Yes", "3", "Nf3"])
def test_yes_answers_a_question_with_one_answer(answer: str) -> None:
    session = sit(pg.load("chess").start())
    assert session.submit("Nf") == [Event("refused", "Nf: Nf3?")]
    assert session.submit(answer)[0].text == "Nf3"
    session = sit(pg.load("chess").start())
    assert session.submit("y")[0].kind == "refused", "nothing was asked"
    session.submit("b1")
    assert session.submit("y")[0].kind == "refused", "two answers are possible"


def test_an_answer_completes_a_numbered_move_and_a_piece_alone() -> None:
    session = sit(pg.load("chess").start())
    assert session.submit("1. N") == [Event("refused", "N: Na3, Nc3, Nf3 or Nh3?")]
    assert session.submit("f3")[0].text == "Nf3"


@pytest.mark.parametrize("answer", ["y", "3", "Nf3", "Ng1>f3"])
def test_a_question_about_a_whole_turn_is_answered_too(answer: str) -> None:
    session = sit(pg.load("paco_sako").start())
    assert session.submit("Nf") == [Event("refused", "Nf: Ng1>f3?")]
    assert [event.text for event in session.submit(answer)] == ["Lg1", "Pf3"]


def test_a_command_with_more_words_says_how_it_is_typed() -> None:
    session = sit(pg.load("connect_four").start())
    assert session.submit("undo foo") == [Event("refused", "Type undo, or undo 3 for three turns, not undo foo.")]
    assert session.submit("hint me") == [Event("refused", "Type hint alone, not hint me.")]
    session.resign()
    assert session.submit("new game") == [Event("refused", "Type new alone, not new game.")]


def test_a_turn_of_several_actions_is_taken_back_whole() -> None:
    session = sit(pg.load("paco_sako").start())
    assert [event.text for event in session.submit("e2e4") if event.kind == "played"] == ["Le2", "Pe4"]
    while session.agent_to_move:
        session.reply()
    assert session.undo() == [Event("taken_back", plies=4)]
    assert session.position == session.start
    session.submit("e2")
    assert session.undo() == [Event("taken_back", plies=1)], "of an unfinished turn too"


def test_several_turns_are_taken_back_at_once() -> None:
    session = sit(pg.load("connect_four").start())
    assert session.submit("undo 0")[0].kind == session.submit("undo 2")[0].kind == "refused"
    for column in "123":
        session.submit(column)
        session.reply()
    session.resign()
    assert session.submit("undo 3") == [Event("taken_back", plies=4)], "a resignation and two turns"
    assert session.submit("undo 9") == [Event("taken_back", plies=2)], "all that there are"
    assert session.position == session.start


def test_the_end_is_told_once_and_taken_back() -> None:
    agent = First()
    session = sit(pg.load("connect_four").position("121212"), agent)
    played, ended = session.submit("1")
    assert played.kind == "played"
    assert ended == Event("ended", "You win (four in a row)!", outcome=pg.Outcome.FIRST_WINS)
    session.close()
    assert agent.told == [pg.Outcome.FIRST_WINS]
    (refused,) = session.submit("1")
    assert refused == Event("refused", "The game is over. Type undo, new, save FILE or quit.")
    assert session.submit("undo") == [Event("taken_back", plies=1)]
    assert agent.told == [pg.Outcome.FIRST_WINS, pg.Outcome.RUNNING]
    assert session.position == session.start
    lost = sit(pg.load("connect_four").position("121212"), "greedy", side=1)
    assert lost.reply()[-1] == Event("ended", "You lose (four in a row).", outcome=pg.Outcome.FIRST_WINS)


def test_a_game_that_begins_at_its_end_says_so() -> None:
    session = sit(pg.load("connect_four").position("1212121"), side=1)
    ended = Event("ended", "You lose (four in a row).", outcome=pg.Outcome.FIRST_WINS)
    assert session.begin() == [Event("began"), ended]
    assert not session.agent_to_move


def test_leaving_tells_an_agent_that_the_game_has_not_ended() -> None:
    agent = First()
    sit(pg.load("connect_four").start(), agent).close()
    assert agent.told == [pg.Outcome.RUNNING]


def test_a_resignation_ends_the_game_and_is_taken_back_alone() -> None:
    session = sit(pg.load("connect_four").start())
    after(session, "1")
    assert session.resign() == [Event("ended", "You resign: random wins.", outcome=pg.Outcome.SECOND_WINS)]
    for line in ("1", "new game", "undo all", "hint"):
        assert session.submit(line)[0].kind == "refused", line
    assert session.undo() == [Event("taken_back", plies=0)]
    assert len(session.line.actions) == 2
    assert session.submit("2")[0].kind == "played"


def test_new_begins_where_the_game_began_and_deals_cards_anew() -> None:
    given = pg.load("connect_four").position("4453")
    session = sit(given)
    after(session, "1")
    assert session.new() == [Event("began")]
    assert session.position == given
    cards, texts = sit(pg.load("sequence").start(1)), set[str]()
    for _ in range(3):
        texts.add(cards.position.text)
        cards.new()
    assert len(texts) == 3


FINAL = "The game is over, and what was hidden is shown: nothing can be taken back. Type new for another game."


@pytest.mark.parametrize("end", ["resign", "lose", "agent"])
def test_after_the_end_of_a_game_with_hidden_cards_nothing_is_taken_back(end: str) -> None:
    """Its board shows all hands, and its record the deck."""
    session = sit(pg.load("sequence:rules=boxed").start(5))
    if end == "agent":
        session.agent = GivesUp()
    after(session, session.position.names()[0])
    if end == "resign":
        after(session, "resign")
    while not session.over:
        after(session, session.position.names()[0])
    line = list(session.line.actions)
    for typed in ("undo", "undo 3", "undo 1"):
        assert session.submit(typed) == [Event("refused", FINAL)]
    assert (session.over, session.line.actions, session.seat) == (True, line, None)
    assert session.submit("1") == [Event("refused", "The game is over. Type new, save FILE or quit.")]
    assert session.prompt == "new, save FILE or quit"
    loaded = sit(session.start)
    loaded.replay(session.line.actions, session.outcome)
    assert loaded.undo() == [Event("refused", FINAL)]
    assert session.submit("new")[0].kind == "began"
    assert not session.over


@pytest.mark.parametrize("spec", [f"sequence:rules={rules},seats={n}" for rules in ("course", "boxed") for n in (2, 4)])
def test_looking_and_taking_back_gains_nothing(spec: str) -> None:
    """The card that was drawn, or the face-up card that followed, is another one after each undo."""
    session = sit(pg.load(spec).start(3), "window")
    rules = session.start.game.rules
    for _ in range(3):
        after(session, session.position.names()[0])
    before, drawn = session.position, set[str]()
    for number in range(12):
        seat = session.position.seat
        assert rules.view(session.position.state, seat) == rules.view(before.state, seat)
        assert rules.observe(session.position.state, seat) == rules.observe(before.state, seat)
        assert session.position.scene(seat) == before.scene(seat)
        assert session.position.names() == before.names()
        assert session.position.problems == []
        session.play(session.position.legal()[0])
        mine = session.position.state
        drawn.add(str(mine["hands"][seat][: mine["held"][seat]]) + str(mine["display"]))
        while session.agent_to_move:
            session.reply()
            assert session.position.problems == []
        plies = session.undo()[0].plies
        assert plies >= 1, number
    assert len(drawn) > 5
    assert session.undo(2)[1:] == [Event("message", "What was hidden or left to chance is drawn anew.")]


def test_dice_are_thrown_anew() -> None:
    session, thrown = sit(pg.load(str(TESTS / "tiny_games" / "dice_race.py")).start(1)), set[int]()
    for _ in range(12):
        after(session, "roll")
        thrown.add(int(session.line.positions[-2].state["last"]))
        session.undo()
    assert len(thrown) > 6
    session.resign()
    assert session.undo() == [Event("taken_back")], "nothing was seen"


def test_a_hint_names_an_agent_and_its_move() -> None:
    (message,) = sit(pg.load("connect_four").position("121212")).hint()
    assert message.kind == "message"
    assert message.text == "the solver would play 1: it wins in 1 move"
    (message,) = sit(pg.load("sequence").start(3)).hint()
    assert message.kind == "message"
    assert "search:model=trained,time=0.5 would play" in message.text
    assert sit(pg.load("connect_four").start()).moves() == [Event("message", "legal: 1, 2, 3, 4, 5, 6, 7")]


def test_an_agent_that_fails_loses_and_the_game_is_kept() -> None:
    class Broken:
        def act(self, states: Any, rngs: Any) -> Any:
            raise pg.Error("the engine is gone")

    session = sit(pg.load("connect_four").start(), Broken())
    assert after(session, "1")[-1] == Event("ended", "the engine is gone. You win.", outcome=pg.Outcome.FIRST_WINS)
    assert "result: ● wins\n\n● 1\n" in session.record()


@pytest.mark.parametrize(("faults", "reason"), [(["late", "it died"], "it died"), (None, "it gives no reason")])
def test_an_agent_that_gives_up_loses_and_says_why(faults: list[str] | None, reason: str) -> None:
    agent: Any = GivesUp()
    if faults:
        agent.faults = faults
    session = sit(pg.load("connect_four").start(), agent)
    said = f"agent gives up: {reason}. You win."
    assert after(session, "1")[-1] == Event("ended", said, outcome=pg.Outcome.FIRST_WINS)


def test_the_view_is_the_persons_until_the_game_is_over() -> None:
    session = sit(pg.load("sequence:seats=4").start(1), side=1)
    assert (session.agent_to_move, session.seat) == (True, 1), "not the agent's hand"
    session.reply()
    assert (session.position.seat, session.seat) == (1, 1)
    session.resign()
    assert session.seat is None
    chess = sit(pg.load("chess").start(), side=1)
    chess.resign()
    assert chess.seat == 1


def test_a_record_tells_players_start_result_and_actions() -> None:
    session = sit(pg.load("connect_four").position("121212"))
    session.submit("1")
    assert session.save("game.txt") == [Event("saved", session.record(), "game.txt")]
    assert session.record() == "game: connect_four\n●: you\n○: random\n" + (
        "position: ......./......./......./xo...../xo...../xo.....\nresult: ● wins (four in a row)\n\n● 1\n"
    )


def test_a_game_of_chess_is_recorded_as_pgn() -> None:
    session = sit(pg.load("chess").start())
    after(session, "e4", "resign")
    (record,) = chess_pgn.read(session.record())
    assert (record.result, record.tags["White"], len(record.actions)) == ("0-1", "you", 2)


def test_a_record_of_cards_tells_no_secret_before_the_end() -> None:
    """Nor a seed: the deal follows from it, and the next one."""
    session = sit(pg.load("sequence").start(1))
    origin = "position: not told before the game is over"
    record = re.sub("sealed: [A-Za-z0-9+/=]+\n", "", session.record())
    assert record == f"game: sequence\nred: you\nblue: random\n{origin}\nresult: not finished\n\n"
    session.resign()
    assert f"position: {session.start.text}\ngenerator: {session.start.rngs[0]}\n" in session.record()
    session.new()
    assert session.start != pg.load("sequence").start(2), "its seed does not follow from the last one"


def test_events_are_plain_data() -> None:
    session = sit(pg.load("connect_four").position("121212"))
    events = [*session.begin(), *session.hint(), *session.submit("9"), *session.submit("1"), *session.save("x")]
    assert len(json.loads(json.dumps([asdict(event) for event in events]))) == 6


def test_a_session_neither_prints_nor_reads_nor_knows_a_terminal() -> None:
    for path in Path(module.__file__).parent.glob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert not names & {"print", "input", "open"}, path
        assert "rich" not in path.read_text(), path


def test_an_agent_may_be_named_by_its_spec() -> None:
    session = Session(pg.load("connect_four").start(), "random", "random", side=1, seed=0)
    assert session.reply()[0].name == "random"
