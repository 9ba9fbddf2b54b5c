"""Games are read from files and from lists of moves."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from plyground.errors import InvalidText, InvalidValue
from plyground.play.saved import read_file, read_moves
from plyground.play.session import Session

PGN = """[Event "a"]
[Result "1-0"]

1. e4 {a comment} e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "b"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e4 *
"""


@pytest.fixture(scope="module")
def four() -> pg.Game:
    return pg.load("connect_four")


def test_a_column_string_is_a_move_for_each_character(four: pg.Game) -> None:
    assert read_moves(four.start(), "4453") == [3, 3, 4, 2]
    assert read_moves(four.start(), "4 4 5 3") == [3, 3, 4, 2]
    assert read_moves(four.start(), "4") == [3]


def test_chess_moves_may_have_their_numbers() -> None:
    start = pg.load("chess").start()
    actions = read_moves(start, "1. e4 e5 2. Nf3")
    assert start.name(actions[0]) == "e2e4"
    assert len(actions) == 3


def test_an_illegal_move_is_named_with_its_ply(four: pg.Game) -> None:
    with pytest.raises(InvalidText, match=r"ply 3: '9' is not legal in .*; legal: 1, 2"):
        read_moves(four.start(), "449")
    with pytest.raises(InvalidText, match="there are no moves"):
        read_moves(four.start(), "  ")


@pytest.mark.parametrize("begin", ["startpos", "4453"])
def test_a_saved_game_is_read_back(four: pg.Game, tmp_path: Path, begin: str) -> None:
    session = Session(four.position(begin), pg.agent("greedy", four), "greedy", side=0, seed=0)
    while not session.over and len(session.actions) < 8:
        events = session.reply() if session.agent_to_move else session.submit(session.position.names()[0])
        assert events
    path = tmp_path / "game.txt"
    path.write_text(session.record(), encoding="utf-8")
    assert read_file(path, four) == (session.start, session.actions)


def test_a_pgn_is_read_by_the_number_of_the_game(tmp_path: Path) -> None:
    path, chess = tmp_path / "games.pgn", pg.load("chess")
    path.write_text(PGN, encoding="utf-8")
    start, actions = read_file(path, chess)
    assert (start, len(actions)) == (chess.start(), 7)
    start, actions = read_file(path, chess, 2)
    assert start.text.startswith("4k3")
    assert start.name(actions[0]) == "e2e4"
    with pytest.raises(InvalidValue, match="has 2 games of chess: there is no number 3"):
        read_file(path, chess, 3)


def test_files_that_hold_no_game_are_explained(four: pg.Game, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="cannot read a game from"):
        read_file(tmp_path / "none", four)
    path = tmp_path / "game.txt"
    path.write_text("game: paco_sako\nposition: x\n\nwhite e2\n", encoding="utf-8")
    with pytest.raises(InvalidText, match="it is a game of paco_sako, not of connect_four"):
        read_file(path, four)
    path.write_text("hello", encoding="utf-8")
    with pytest.raises(InvalidText, match=r"game\.txt: ply 1: 'h' is not legal"):
        read_file(path, four)
