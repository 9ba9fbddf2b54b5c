"""Nobody who looks, asks or types learns what dice and hidden cards will do before the action is played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import plyground as pg
from conftest import TESTS
from plyground.cli.analyse import moves_table
from plyground.errors import IllegalAction
from plyground.play import hints, thoughts, typed
from plyground.play.line import Line
from plyground.play.saved import read_games, write_game
from plyground.web import thinking

pytestmark = pytest.mark.compiled

PIG = (TESTS / "tiny_games" / "pig.py").read_text()
TURNS = """

def turn_text(steps):
    return ">".join(action_name(state, action) for state, action in steps)


def typed_turn(text, side):
    if not set(text.split(">")) <= {"roll", "hold"}:
        raise InvalidText("a turn is `roll>roll>hold`")
    return text.split(">")
"""
SEARCH = "search:sims=50"


@pytest.fixture(params=["", TURNS], ids=["actions", "whole turns"])
def pig(request: pytest.FixtureRequest, steady_path: Path) -> pg.Game:
    path = steady_path / "pig.py"
    path.write_text(PIG + request.param)
    return pg.load(path)


def lucky_and_unlucky(pig: pg.Game) -> tuple[pg.Position, pg.Position]:
    """The same position before two dice: a 1, which ends the turn, and another."""
    positions = [pg.Position(pig, pig.position("0 0 3 0").states, seed) for seed in range(100)]
    by_turn = {position.play("roll").to_move: position for position in positions}
    return by_turn[0], by_turn[1]


def typed_as(position: pg.Position) -> list[list[int] | str]:
    def read(text: str) -> list[int] | str:
        try:
            return typed.read(position, text)
        except IllegalAction as error:
            return str(error)

    return [read(text) for text in ("roll", "roll hold", "roll roll hold", "roll>hold", "roll>roll>hold", "hold roll")]


def table(position: pg.Position) -> str:
    found = position.analyse(SEARCH)
    (shown, *_) = moves_table(found, position).renderables
    return str([list(column.cells) for column in shown.columns])  # type: ignore


ASKED: dict[str, Callable[[pg.Position], object]] = {
    "typed": typed_as,
    "moves": typed.legal_turns,
    "analysed": lambda position: str(position.analyse(SEARCH)),
    "shown": table,
    "thought": lambda position: [
        (move.line, move.value) for move in thoughts.think(position, pg.agent(SEARCH, position.game)).analysis.moves
    ],
    "page": lambda position: [
        (move.name, move.line, move.value) for move in list(thinking.analyse(position, SEARCH))[-1].analysis.moves
    ],
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_told_before_a_throw_does_not_follow_from_the_dice(pig: pg.Game, name: str) -> None:
    one, other = (ASKED[name](position) for position in lucky_and_unlucky(pig))
    assert one == other


def test_a_hint_does_not_foresee_the_dice(pig: pg.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "adviser", lambda game: SEARCH)
    one, other = map(hints.hint, lucky_and_unlucky(pig))
    assert one == other


def test_a_record_of_turns_with_dice_is_read_as_they_were_thrown(pig: pg.Game) -> None:
    for start in lucky_and_unlucky(pig):
        position, actions = start, list[int]()
        for _ in range(12):
            action = position.action("roll" if len(actions) % 3 else "hold")
            actions.append(action)
            position = position.play(action)
        (again,) = read_games(write_game(Line(start, actions, agreed=pg.Outcome.FIRST_WINS), ("a", "b")), pig)
        assert again.actions == actions
