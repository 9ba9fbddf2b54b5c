"""Loading games, their settings and their positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground import specs


def test_an_unknown_game_gets_a_suggestion() -> None:
    with pytest.raises(pg.UnknownName, match="no game 'conect_four'; did you mean 'connect_four'"):
        pg.load("conect_four")
    with pytest.raises(pg.UnknownName, match="known: connect_four"):
        pg.load("")
    with pytest.raises(pg.InvalidValue, match="no such file"):
        pg.load("nowhere.py")


def test_a_file_that_does_not_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "oops.py"
    path.write_text("def (")
    with pytest.raises(pg.InvalidValue, match=r"oops\.py' does not run: SyntaxError"):
        pg.load(str(path))


def test_settings_come_by_keyword_or_in_the_name() -> None:
    word = TINY[1]
    by_name, by_keyword = pg.load(f"{word}:length=7,resting=forbidden"), pg.load(word, length=7, resting="forbidden")
    assert str(by_name) == str(by_keyword) == f"{word}:length=7,resting=forbidden"
    assert str(pg.load(word, length=9)) == word
    assert pg.load(word).start().text == "----o---- 0 0 running"
    assert by_name.start().text == "---o--- 0 0 running"
    assert by_name.start().names() == ["left", "right"]
    assert pg.load(word).start().names() == ["left", "right", "rest"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("connect_four:size=8", "no setting of connect_four 'size'; known: none"),
        (f"{TINY[1]}:lenght=7", "did you mean 'length'"),
        (f"{TINY[1]}:length=8", "length cannot be '8'; it is one of: 5, 7, 9, 11, 13, 15"),
        (f"{TINY[1]}:length", "cannot read 'length' in"),
        (f"{TINY[1]}:length=5,length=7", "cannot read 'length=7'"),
        (f"{TINY[1]}:", "cannot read ''"),
    ],
)
def test_wrong_settings_are_refused(word: str, message: str) -> None:
    with pytest.raises(pg.Error, match=message):
        pg.load(word)


def test_words_are_put_together_and_taken_apart() -> None:
    assert specs.split("minimax:depth=3") == ("minimax", {"depth": "3"})
    assert specs.join("a", {"b": True, "c": 2, "d": "e"}) == "a:b=true,c=2,d=e"
    assert specs.split(specs.join("a", {"b": True})) == ("a", {"b": "true"})


def test_a_position_plays_by_number_and_by_name(connect_four: pg.Game) -> None:
    position = connect_four.start()
    assert position.play(3).play("4").play(" 5 ") is position
    assert position == connect_four.position("445")
    assert position.to_move == 1
    assert str(position.outcome) == f"{position.outcome}" == "RUNNING"
    assert position.legal() == [0, 1, 2, 3, 4, 5, 6]
    assert position.names() == list("1234567")
    assert position.reason == ""


@pytest.mark.parametrize("move", ["8", "", "d4", 7, -1, "4 4", np.int64(9), "x" * 10_000])
def test_an_illegal_move_says_what_is_legal(connect_four: pg.Game, move: int | str) -> None:
    position = connect_four.position("444444")
    with pytest.raises(pg.IllegalAction, match="legal: 1, 2, 3, 5, 6, 7") as caught:
        position.play(move)
    assert len(str(caught.value)) < 400
    assert position == connect_four.position("444444")


def test_nothing_can_be_played_when_the_game_is_over(connect_four: pg.Game) -> None:
    with pytest.raises(pg.IllegalAction, match=r"the game is over \(FIRST_WINS\)"):
        connect_four.position("1212121").play("3")


def test_copies_do_not_share_the_board(connect_four: pg.Game) -> None:
    one = connect_four.position("44")
    other = one.copy()
    other.play("1")
    assert one == connect_four.position("44")
    assert one != other
    assert one != "44"


def test_a_game_of_chance_repeats_with_its_seed() -> None:
    duel = pg.load(TINY[0])
    assert duel.start(seed=3) == duel.start(seed=3)
    assert len({duel.start(seed).text for seed in range(20)}) > 10
    one, other = duel.start(seed=3), duel.start(seed=3)
    while not one.over:
        move = one.names()[0]
        one.play(move)
        other.play(move)
        assert one == other


def test_a_text_game_refuses_arrays() -> None:
    with pytest.raises(pg.InvalidText, match="reads positions from texts, not from list"):
        pg.load(TINY[1]).position([1, 2])


def test_the_tutorial_game_has_its_known_number_of_games() -> None:
    start = pg.load(str(ROOT / "examples" / "three_in_a_row.py")).start()
    assert [start.perft(depth) for depth in range(10)] == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


@pytest.mark.parametrize("move", [True, 2.0, None, [1]])
def test_what_is_neither_number_nor_name_is_refused(connect_four: pg.Game, move: object) -> None:
    with pytest.raises(pg.IllegalAction, match="a move is an action's number or its name"):
        connect_four.start().play(move)  # type: ignore[arg-type]
    assert connect_four.start().play(np.int32(3)).text.endswith("...x...")  # type: ignore[arg-type]


def test_a_path_may_be_a_path_and_have_colons(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    path = folder / "hops.py"
    path.write_text(Path(TINY[1]).read_text())
    assert pg.load(path).start().text == "----o---- 0 0 running"
    assert pg.load(f"{path}:length=5").start().text == "--o-- 0 0 running"


def test_a_refusal_does_not_tell_what_is_hidden() -> None:
    position = pg.load(TINY[0]).start(seed=1)
    with pytest.raises(pg.IllegalAction) as caught:
        position.play("card9")
    assert position.text not in str(caught.value)
    assert "legal: card" in str(caught.value)


def test_the_package_lists_what_it_offers() -> None:
    assert set(dir(pg)) == {*pg.__all__, "__version__"}
    for name in dir(pg):
        assert getattr(pg, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        pg.lode  # noqa: B018


def test_agents_choose_moves_and_play_matches(connect_four: pg.Game) -> None:
    position = connect_four.position("121212")
    assert position.name(position.ask(pg.agent("greedy", connect_four))) == "1"
    agents = [pg.agent(word, connect_four) for word in ("greedy", "random")]
    assert pg.match(connect_four, *agents, games=20).score > 0.7
