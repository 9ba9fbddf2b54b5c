"""PGN: games that read back, real-world spellings, and errors that say where."""

from __future__ import annotations

import io
import random

import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from plyground.games.chess import pgn

SCHOLAR = """\
[Event "A lesson"]
[Site "?"]
[White "Someone \\"Quick\\" \\\\ Sly"]
[Result "1-0"]

1. e4 {the king's pawn (of course)} e5 2.Qh5!? $2 (2. Nf3 Nc6 (2... Nf6 3. Nxe5) 3. Bb5 ; a note ) here
3... a6) 2... Nc6
% an escaped line
3. Bc4 Nf6?? 4. Qxf7# 1-0
"""


def test_comments_variations_and_signs_are_skipped() -> None:
    (record,) = pgn.read(SCHOLAR)
    assert record.tags["White"] == 'Someone "Quick" \\ Sly'
    assert record.result == "1-0"
    names = [position.text for position in record.positions()]
    assert len(names) == 8
    last = list(record.positions())[-1]
    assert (last.outcome, last.reason) == (pg.Outcome.FIRST_WINS, "checkmate")


def test_several_games_with_and_without_results_and_tags() -> None:
    text = '\ufeff1. d4 d5 1/2-1/2\n\n[Event "b"]\n1.e4\n[Event "c"]\n\n*\n1 f4 e5 2 g4 Qh4# 0-1 e4'
    records = pgn.read(text)
    assert [len(record.actions) for record in records] == [2, 1, 0, 4, 1]
    assert [record.result for record in records] == ["1/2-1/2", "*", "*", "0-1", "*"]
    assert pgn.read("") == []


def test_a_game_may_begin_elsewhere() -> None:
    fen = "4k3/P7/8/8/8/8/8/4K3 b - - 3 40"
    text = f'[SetUp "1"]\n[FEN "{fen}"]\n\n40... Kd7 41. a8=Q *'
    (record,) = pgn.read(text)
    written = pgn.write(record)
    assert f'[FEN "{fen}"]' in written
    assert "40... Kd7 41. a8=Q *" in written
    assert pgn.read(written)[0].actions == record.actions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1. e4 e5 2. Nf3 Nc6 3. Bb6 a6",
            r"game 1 of the PGN, move 3. Bb6: 'Bb6' is not legal in 'r1bqkbnr/pppp1ppp/2n5",
        ),
        ("1. e4 *\n1. d4 d5 2. c4 exd4 *", r"game 2 of the PGN, move 2... exd4: 'exd4' is not legal"),
        ("1. e4 e5 2. Nf3 (2. f4", "a variation is not closed"),
        ("1. e4 ) e5", "a variation ends that never began, at character 6"),
        ("1. e4 {never closed", "cannot read '{never closed'"),
        ("1. e4 <b>", "cannot read '<b>'"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n*', "game 1 of the PGN begins from an impossible position: .*0 kings"),
        ("1. f3 e5 2. g4 Qh4# 3. a3", "game 1 of the PGN, move 3. a3: the game is over"),
        ("1. d3 a6 2. Nf3 a5 3. Nd2", "move 3. Nd2: 'Nd2' is ambiguous in .*; it may mean: Nbd2, Nfd2"),
    ],
)
def test_what_is_wrong_is_said_with_move_and_position(text: str, message: str) -> None:
    with pytest.raises(pg.InvalidText, match=message) as caught:
        pgn.read(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 900


def test_games_go_on_after_an_unclaimed_repetition() -> None:
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 3 + "e4"
    (record,) = pgn.read(shuffle)
    assert len(record.actions) == 13
    assert record.note == ""


def test_moves_after_a_draw_by_counting_are_left_out_and_said() -> None:
    """People play on where nobody notices a fifth occurrence; the rules end the game there."""
    shuffle = "Nf3 Nf6 Ng1 Ng8 "
    (record,) = pgn.read(shuffle * 6 + "e4 e5 1-0")
    last = list(record.positions())[-1]
    assert (len(record.actions), last.reason) == (16, "fifth occurrence")
    assert record.note == "a draw (fifth occurrence) before 9. Nf3: 10 moves from there on left out"
    assert (record.result, pgn.write(record).split()[-1]) == ("1-0", "1/2-1/2")
    (record,) = pgn.read(shuffle * 2 + "e4", pg.load("chess"))
    assert record.note == "a draw (third occurrence) before 5. e4: one move from there on left out"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('[Result "1-0"]\n\n1. e4', "1-0"),
        ('[Result "0-1"]\n\n1. e4\n[Event "next"]\n*', "0-1"),
        ('[Result "1/2-1/2"]\n\n1. e4 *', "1/2-1/2"),
        ('[Result "1-0"]\n\n1. e4 0-1', "0-1"),
        ('[Result "won"]\n\n1. e4', "*"),
    ],
)
def test_the_result_of_the_tag_counts_where_none_ends_the_moves(text: str, result: str) -> None:
    record = pgn.read(text)[0]
    assert record.result == result
    written = pgn.write(record)
    assert f'[Result "{result}"]' in written
    assert written.split()[-1] == result


def test_en_passant_may_be_written_behind_the_move() -> None:
    moves = "1. e4 a6 2. e5 d5 3. exd6"
    plain = pgn.read(moves)[0].actions
    for spelling in ("e.p.", " e.p.", "e.p.!?", "ep"):
        assert pgn.read(f"{moves}{spelling} c5")[0].actions[:-1] == plain


@pytest.mark.parametrize("variant", ["Standard", "standard", "Chess", "From Position", ""])
def test_chess_by_its_usual_names_is_read(variant: str) -> None:
    assert len(pgn.read(f'[Variant "{variant}"]\n\n1. e4 *')[0].actions) == 1


def test_tags_are_known_in_any_case() -> None:
    with pytest.raises(pg.InvalidText, match="is of the variant 'Atomic', which is not read"):
        pgn.read('[variant "Atomic"]\n\n1. e4 *')
    (record,) = pgn.read('[fen "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]\n[RESULT "1-0"]\n[opening "x"]\n\n1. O-O')
    assert (record.start.text, record.result) == ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "1-0")
    assert record.tags["opening"] == "x"


@pytest.mark.parametrize("variant", ["Atomic", "Chess960", "Three-check"])
def test_other_variants_are_refused(variant: str) -> None:
    with pytest.raises(pg.InvalidText, match=f"game 2 of the PGN is of the variant '{variant}', which is not read; ch"):
        pgn.read(f'1. d4 *\n\n[Variant "{variant}"]\n\n1. e4 *')


def test_written_games_are_read_alike_by_python_chess_and_by_us() -> None:
    rng, game = random.Random(6), pg.load("chess")
    for _ in range(12):
        position = game.start()
        record = pgn.Record(position, [], {"White": 'a "b"', "Round": "3"})
        while not position.over and len(record.actions) < 300:
            record.actions.append(rng.choice(position.legal()))
            position = position.play(record.actions[-1])
        written = pgn.write(record)
        assert max(map(len, written.splitlines())) <= 80
        theirs = chess.pgn.read_game(io.StringIO(written))
        assert theirs is not None
        assert not theirs.errors
        assert theirs.end().board().fen(en_passant="legal") == position.text
        if position.over:
            assert theirs.headers["Result"] == {1: "1/2-1/2", 2: "1-0", 3: "0-1"}[position.outcome]
        (ours,) = pgn.read(written, game)
        assert ours.actions == record.actions
        assert ours.tags["White"] == 'a "b"'
        (again,) = pgn.read(str(theirs), game)
        assert again.actions == record.actions


PIECES = st.sampled_from(
    [
        "1.",
        "e4",
        "e5",
        "Nf3",
        "(",
        ")",
        "{",
        "}",
        "{x}",
        ";",
        "\n",
        "%",
        "[",
        "]",
        '[A "b"]',
        '"',
        "1-0",
        "*",
        "$1",
        "0-0",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map(" ".join)))
def test_any_text_is_a_list_of_games_or_one_declared_error(text: str) -> None:
    try:
        records = pgn.read(text)
    except pg.InvalidText:
        return
    for record in records:
        (again,) = pgn.read(pgn.write(record))
        assert again.actions == record.actions
