"""Opening books: lines of moves, positions and PGN files as start positions."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from plyground.agents.registry import make
from plyground.arena.match import openings, play_match
from plyground.arena.openings import pick_openings, read_openings
from plyground.errors import Error
from plyground.position import Position

LINES = """
# two openings
1. e4 c5 2. Nf3
e2e4 e7e5
rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1
"""
GAMES = """
[Event "?"]
[Result "1-0"]

1. e4 {best by test} e5 2. Qh5 (2. Nf3 Nc6 (2... d6)) Nc6 $1 3. Bc4 Nf6?? 4. Qxf7# 1-0

[Event "another"]

1. d4 d5 ; a comment
2. c4 *
"""


def read(tmp_path: Path, name: str, text: str, game: str = "chess", plies: int = 0) -> list[str]:
    (tmp_path / name).write_text(text)
    rules = pg.load(game)
    return [Position(rules, row[None].copy()).text for row in read_openings(tmp_path / name, rules, plies)]


def test_a_line_is_moves_or_a_position(tmp_path: Path) -> None:
    chess = pg.load("chess")
    wanted = [("e4", "c5", "Nf3"), ("e4", "e5"), ("d4",)]
    positions = []
    for moves in wanted:
        position = chess.start()
        for move in moves:
            position = position.play(move)
        positions.append(position.text)
    assert read(tmp_path, "book.txt", LINES) == positions
    four = pg.load("connect_four")
    assert read(tmp_path, "four.txt", "4453\n4 4\n", "connect_four") == [
        four.position(each).text for each in ("4453", "44")
    ]


def test_games_of_a_pgn_file_are_openings_as_far_as_they_are_asked_for(tmp_path: Path) -> None:
    found = read(tmp_path, "book.pgn", GAMES, plies=3)
    chess = pg.load("chess").start()
    assert found == [
        chess.play("e4").play("e5").play("Qh5").text,
        chess.play("d4").play("d5").play("c4").text,
    ]
    with pytest.raises(Error, match=r"game 1 of .*book.pgn: the game is over after .*--opening-plies takes fewer"):
        read(tmp_path, "book.pgn", GAMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e4 e5 Ke3", r"line 1 of .*: 'Ke3' is not legal"),
        ("\nnonsense", r"line 2 of .*"),
        ("# nothing\n", "has no openings of chess"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        read(tmp_path, "book.txt", text)
    for name in ("none.txt", "x" * 5000):
        with pytest.raises(Error, match="cannot read openings from") as caught:
            read_openings(tmp_path / name, pg.load("chess"))
        assert len(str(caught.value)) < 1200


def test_a_book_may_be_in_latin_1(tmp_path: Path) -> None:
    (tmp_path / "book.pgn").write_bytes('[White "Müller"]\n\n1. e4 e5 *\n'.encode("latin-1"))
    assert len(read_openings(tmp_path / "book.pgn", pg.load("chess"))) == 1


def test_a_match_begins_with_the_book_each_opening_from_both_sides(tmp_path: Path, connect_four: pg.Game) -> None:
    (tmp_path / "book.txt").write_text("444\n12\n")
    book = read_openings(tmp_path / "book.txt", connect_four)
    states, _, plies = openings(connect_four, 6, 3, None, book)
    assert sorted(int(np.bitwise_count(state["stones"]).sum()) for state in states) == [2, 2, 2, 3, 3, 3]
    assert not plies.any()
    assert len({pick_openings(book, 4, seed).tobytes() for seed in range(4)}) > 1
    random = make("random", connect_four)
    assert play_match(connect_four, random, random, 8, book=book).games == 8


@pytest.mark.parametrize("name", ["book.txt", "book.pgn"])
@pytest.mark.parametrize(
    "text",
    [
        *("1" * 60_000, "1." * 30_000, "{" * 60_000, "(" * 60_000, "(" * 30_000 + ")" * 30_000, "\n" * 60_000),
        *("[x" * 30_000, "[\n" * 30_000, "\n[x]" * 20_000, "[x]\n\n" * 12_000, "$" * 60_000, "; " * 30_000),
        "e.p" * 20_000,
    ],
    ids=lambda text: f"{text[:5]!r}",
)
def test_a_long_line_takes_no_minutes(tmp_path: Path, name: str, text: str) -> None:
    for end in ("", " e4", "\n1. e4"):
        (tmp_path / name).write_text(text + end)
        begun = time.process_time()
        with suppress(Error):
            read_openings(tmp_path / name, pg.load("chess"))
        assert time.process_time() - begun < 3.0


def test_braces_and_brackets_that_do_not_match_are_errors(tmp_path: Path) -> None:
    for text in ("1. e4 {unclosed e5", "1. e4 (e5", "1. e4 e5) 2. Nf3", "1. e4 ((d4) e5"):
        with pytest.raises(Error, match="game 1 of"):
            read(tmp_path, "book.pgn", text)
    nested = "1. e4 (1. d4 d5 (1... Nf6 (1... e6) 2. c4) 2. c4) (1. c4) e5 {a { b} *"
    assert read(tmp_path, "book.pgn", nested) == read(tmp_path, "book.txt", "e4 e5")
