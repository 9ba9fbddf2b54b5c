"""Sequence against its naive twin, its texts, and the facts of its board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import plyground as pg
from conftest import JIT
from naive.sequence import BOARD, Table, detect
from plyground.games.interface import RUNNING
from plyground.games.sequence import cards, rules
from plyground.games.sequence.text import rows

VARIANTS = [
    "sequence",
    "sequence:seats=4",
    "sequence:rules=boxed",
    "sequence:rules=boxed,seats=4",
    "sequence:compat_scores=true",
]
EMPTY = "#________#/" + "__________/" * 8 + "#________#"
REST = "2s3s4s5s6s7s8s9stsqsksas2h3h4h5h6h7h8h9hthqhkhah2d3d4d5d6d7d8d9dtdqdkdad2c3c4c5c6c7c8c9ctcqckcacjdjcjhjs"


# ---- the board ----


def test_the_board_has_48_cards_twice_four_corners_and_no_jack() -> None:
    names = cards.LAYOUT.split()
    counts = Counter(names)
    assert counts.pop("jk") == 4
    assert len(counts) == 48
    assert set(counts.values()) == {2}
    assert not any(name[0] == "j" for name in counts)
    assert names == [name for row in BOARD for name in row]


def test_there_are_192_windows_12_with_a_corner() -> None:
    windows = [set(window) for window in cards.WINDOWS.tolist()]
    assert len(windows) == 192
    assert sum(bool(window & set(cards.CORNERS)) for window in windows) == 12
    through = [int((cards.WINDOWS_AT[cell] >= 0).sum()) for cell in range(100)]
    assert [through[cell] for cell in cards.CORNERS] == [3] * 4
    assert [through[cell] for cell in cards.HEARTS] == [20] * 4
    assert [cards.CARDS[cards.CARD_AT[cell]] for cell in cards.HEARTS] == ["5h", "4h", "2h", "3h"]


def test_every_action_number_has_its_own_name() -> None:
    names = {cards.move_name(move) for move in range(cards.MOVES)}
    assert len(names) == cards.MOVES == 528
    assert cards.ACTIONS == 5 * 528 + 2
    assert cards.cell_name(61) == "b7"
    assert {"place 2s b1", "place jd b7", "remove d4 with js", "trade 2s"} <= names


# ---- the naive twin ----


def _table(position: pg.Position) -> Table:
    state, game = position.state, position.game.settings
    hands = [[cards.CARDS[c] for c in hand if c >= 0] for hand in state["hands"][: int(state["seats"])]]
    display, deck = ([cards.CARDS[c] for c in state[pile] if c >= 0] for pile in ("display", "deck"))
    return Table(
        game["rules"] == "boxed", int(state["seats"]), bool(game["compat_scores"]), hands, list(display), list(deck)
    )


def _same(position: pg.Position, table: Table) -> None:
    state = position.state
    assert rows(state) == table.rows()
    assert [[cards.CARDS[c] for c in hand if c >= 0] for hand in state["hands"][: table.seats]] == table.hands
    assert [cards.CARDS[c] for c in state["display"] if c >= 0] == table.display
    assert [cards.CARDS[c] for c in state["discards"] if c >= 0] == table.discards
    assert state["sequences"][: table.seats].tolist() == table.scores
    assert (int(state["turn"]), bool(state["traded"])) == (table.turn, table.traded)
    assert str(position.outcome) == table.outcome()


@pytest.mark.parametrize("word", VARIANTS)
def test_random_games_agree_with_the_naive_twin(word: str) -> None:
    game, chance = pg.load(word), np.random.default_rng(4)
    for seed in range(40 if JIT else 1):
        position = game.start(seed)
        table = _table(position)
        while not position.over:
            names = position.names()
            assert set(names) == table.legal()
            name = names[chance.integers(len(names))]
            shuffles = int(position.state["reshuffles"])
            position = position.play(name)
            if position.state["reshuffles"] > shuffles:
                drawn = position.state["hands"][table.turn, position.state["held"][table.turn] - 1]
                table.next_deck = [cards.CARDS[c] for c in (*position.state["deck"], drawn) if c >= 0]
            table.play(name)
            _same(position, table)
        assert table.legal() == set() == set(position.names())


def _play_out(
    game: pg.Game, games: int, seed: int
) -> Iterator[tuple[NDArray[np.void], NDArray[np.int32], NDArray[np.void]]]:
    """All states of random games, ply by ply: (states before, actions, states after), running rows only."""
    kernels, batch = game.kernels(), pg.Batch(game, games, seed)
    states, rngs, scratch = batch.states, batch.rngs, np.empty(game.rules.MAX_LEGAL, np.int32)
    while (running := np.flatnonzero(states["outcome"] == RUNNING)).size:
        part, luck, actions = states[running], rngs[running], np.empty(len(running), np.int32)
        kernels.random_actions(part, luck, actions, game.work(), scratch)
        before = part.copy()
        kernels.play_all(part, actions, luck, game.work())
        states[running], rngs[running] = part, luck
        yield before, actions, part


@pytest.mark.slow
@pytest.mark.compiled
def test_sequences_of_ten_thousand_random_games_agree_with_the_naive_twin() -> None:
    found = 0
    for before, actions, after in _play_out(pg.load("sequence"), 10_000, seed=8):
        for row in np.flatnonzero((actions < cards.DECLINE) & (actions % cards.MOVES < 3 * cards.SQUARES)):
            state, owner = before[row], int(before[row]["turn"])
            chips = [list(line) for line in rows(state)]
            y, x = divmod(int(cards.CELL_OF[actions[row] % cards.MOVES % cards.SQUARES]), 10)
            chips[y][x] = "rb"[owner % 2]
            gain = detect(chips, y, x, "rb"[owner % 2], hearts=True, compat=False)
            assert after[row]["sequences"][owner] - state["sequences"][owner] == gain
            assert ["".join(line) for line in chips] == rows(after[row])
            found += gain
    assert found > 15_000


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("word", "red", "blue", "tie", "no_cards", "median", "answers"),
    [
        ("sequence", 272, 253, 75, 138, 80, 2.5),
        ("sequence:seats=4", 225, 208, 167, 356, 77, 2.6),
    ],
)
def test_random_games_end_as_the_courses_own_program_ends_them(
    word: str, red: int, blue: int, tie: int, no_cards: int, median: int, answers: float
) -> None:
    """Counts of 600 games of that program, which lists equal actions twice; 10,000 of ours lie within three errors."""
    games, sizes, asked = 10_000, Counter[int](), 0
    results: Counter[str] = Counter()
    for before, actions, after in _play_out(pg.load(word), games, seed=5):
        question = (actions == cards.DECLINE) | ((actions % cards.MOVES >= cards.TRADES) & (actions < cards.DECLINE))
        asked += question.sum()
        assert (actions != cards.PASS).all()
        over = after[after["outcome"] != RUNNING]
        results.update(map(str, map(pg.Outcome, over["outcome"])))
        results["no cards"] += int((over["display_size"] == 0).sum())
        sizes.update((over["discards_size"]).tolist())
        assert len(before) == len(after)
    for name, count in (("FIRST_WINS", red), ("SECOND_WINS", blue), ("DRAW", tie), ("no cards", no_cards)):
        share = count / 600
        assert abs(results[name] / games - share) < 3 * (share * (1 - share) / 600) ** 0.5, name
    assert abs(np.median(list(sizes.elements())) - median) <= 4
    assert abs(asked / games - answers) < 0.2


# ---- single rules ----


def _text(board: str = EMPTY, hands: str = "", display: str = "2c3c4c5c6c", **more: str) -> str:
    """A state's text in which every card is there twice: what is not named lies in the deck (or `rest`)."""
    rest = more.pop("rest", "deck")
    named = Counter(card for word in (hands, display) for card in _split(word))
    left = Counter(2 * _split(REST))
    left.subtract(named)
    assert min(left.values()) >= 0
    parts = {"turn": "0", "hands": hands, "display": display, rest: "".join((+left).elements()), **more}
    return " ".join([board, *(f"{key}={value}" for key, value in parts.items())])


def _split(word: str) -> list[str]:
    bare = word.replace("+", "").replace("'", "").replace(",", "")
    return [bare[k : k + 2] for k in range(0, len(bare), 2)]


def _board(**marks: str) -> str:
    """An empty board with marks: `r="b4 c4"`."""
    grid = [list(row) for row in EMPTY.split("/")]
    for mark, names in marks.items():
        for name in names.split():
            grid[int(name[1:]) - 1]["abcdefghij".index(name[0])] = mark
    return "/".join("".join(row) for row in grid)


def _load(word: str, text: str) -> pg.Position:
    """A position that need not be reachable: chips without the cards they cost."""
    game = pg.load(word)
    state = game.blank.copy()
    rules.parse(text, state[0])
    return pg.Position(game, state)


HANDS = "2s3s4s5s6s7s,2h3h4h5h6h7h"


def test_a_new_game_has_the_right_number_of_cards() -> None:
    for word, held, display, deck in (
        ("sequence", 6, 5, 87),
        ("sequence:seats=4", 6, 5, 75),
        ("sequence:rules=boxed", 7, 0, 90),
        ("sequence:rules=boxed,seats=4", 6, 0, 80),
    ):
        state = pg.load(word).start(3).state
        assert state["held"][: int(state["seats"])].tolist() == [held] * int(state["seats"])
        assert (state["display_size"], state["deck_size"]) == (display, deck)


def test_no_legal_action_is_a_pass_and_a_round_of_passes_ends_the_game() -> None:
    board = _board(r="b1 g9", O="c1 f9 j2 j3 j4")
    text = _text(board, "jhjsjhjs2s3s,2s3s2h2h3h3h", traded="1", sequences="0,1")
    position = _load("sequence", text)
    assert position.names() == ["pass"]
    position = position.play("pass")
    assert (position.to_move, position.over) == (1, False)
    assert int(position.state["passes"]) == 1
    last = _load("sequence", _text(board, "jhjsjhjs2s3s,2s3s2h2h3h3h", traded="1", sequences="0,1", passes="1"))
    last = last.play("pass")
    assert (last.outcome, last.reason) == (pg.Outcome.SECOND_WINS, "nobody can move")


def test_removing_makes_a_dead_card_live_again() -> None:
    position = _load("sequence", _text(_board(b="b1 g9"), "2sjh4s5s6s7s,2h3h4h5h6h7h"))
    assert "decline" in position.names()
    position = position.play("decline").play("remove b1 with jh take 2c")
    assert "trade 2s take 3c" not in position.names()
    assert position.state["cells"][1] == cards.EMPTY


CLEAN = {
    "nine at once": (_board(r="a4 b4 c4 d4 f4 g4 h4 i4"), "place jd e4", 2, 3),
    "two lines that share": (_board(X="c3 d3 e3 f3 g3", r="c4 c5 c6 d6 e5 f4"), "place jd c7", 2, 1),
    "heart and a line": (_board(r="e5 f5 e6 d6 g6 h6"), "place jd f6", 2, 3),
    "ten on the edge": (_board(X="f1 g1 h1 i1", r="b1 c1 d1"), "place jd e1", 1, 1),
    "eight": (_board(r="a4 b4 c4 d4 f4 g4 h4"), "place jd e4", 1, 1),
}


@pytest.mark.parametrize("case", CLEAN)
@pytest.mark.parametrize("compat", [False, True])
def test_scores_are_clean_or_those_of_the_courses_program(case: str, compat: bool) -> None:
    board, name, clean, course = CLEAN[case]
    before = "1" if "X" in board else "0"
    text = _text(board, "jd3s4s5s6s7s,2h3h4h5h6h7h", sequences=f"{before},0")
    position = _load(f"sequence:compat_scores={str(compat).lower()}", text).play(f"{name} take 4c")
    assert int(position.state["sequences"][0]) - int(before) == (course if compat else clean)


def test_a_long_run_locks_its_first_five() -> None:
    board = _board(r="a4 b4 c4 d4 f4 g4 h4")
    position = _load("sequence", _text(board, "jd3s4s5s6s7s,2h3h4h5h6h7h")).play("place jd e4 take 4c")
    assert rows(position.state)[3] == "XXXXXrrr__"


def test_hearts_win_by_the_courses_rules_only() -> None:
    board = _board(r="e5 f5 e6")
    course = _load("sequence", _text(board, "3h3s4s5s6s7s,2h4h5h6h7h8h")).play("place 3h f6 take 4c")
    assert (course.outcome, course.reason) == (pg.Outcome.FIRST_WINS, "the heart block")
    text = _text(board, "3h3s4s5s6s7s8s,2h4h5h6h7h8h9h", "")
    boxed = _load("sequence:rules=boxed", text).play("place 3h f6")
    assert boxed.outcome == pg.Outcome.RUNNING


def test_an_empty_boxed_deck_is_made_from_the_discards() -> None:
    text = _text(EMPTY, "2s3s4s5s6s7s8s,2h3h4h5h6h7h8h", "", rest="discards")
    position = _load("sequence:rules=boxed", text).play("place 2s b1")
    assert int(position.state["reshuffles"]) == 1
    assert int(position.state["held"][0]) == 7
    assert int(position.state["deck_size"]) == 104 - 14 + 1 - 1
    assert (position.state["drawn"][:, :6] == cards.OPEN).all(axis=1).tolist()[:2] == [True, True]


def test_a_boxed_exchange_is_optional_and_comes_once() -> None:
    text = _text(_board(b="b1 g9 c1 f9"), "2s3s4s5s6s7s8s,2h3h4h5h6h7h8h", "")
    position = _load("sequence:rules=boxed", text)
    names = position.names()
    assert {"trade 2s", "trade 3s", "place 4s d1"} <= set(names)
    assert "decline" not in names
    position = position.play("trade 2s")
    assert (position.to_move, any(name.startswith("trade") for name in position.names())) == (0, False)


def test_the_last_face_up_card_ends_the_game_even_by_a_trade() -> None:
    text = _text(_board(b="b1 g9"), HANDS, "4c", rest="discards")
    position = _load("sequence", text).play("trade 2s take 4c")
    assert (position.outcome, position.reason) == (pg.Outcome.DRAW, "no cards left to take")


# ---- texts ----


def test_a_text_reads_back_and_can_be_typed() -> None:
    game = pg.load("sequence")
    position = game.position(_text(EMPTY, HANDS))
    assert game.position(position.text) == position
    after = position.play("place 2s b1 take 4c")
    assert game.position(after.text) == after
    assert "hands=3s4s5s6s7s4c+,2h3h" in after.text
    assert "last=place-2s-b1-take-4c," in after.text


REFUSED = {
    "e4": "ten rows of ten cells, not 'e4'",
    EMPTY.replace("#", "r", 1): "'r' at a1: the corner holds only '#'",
    EMPTY.replace("_", "#", 1): "'#' at b1: a cell is '_', 'r', 'b', 'X' or 'O'",
    f"{EMPTY} hands=2s1s,": "no card '1s' in hands=2s1s",
    f"{EMPTY} hands=2s????,": "this is a seat's view",
    f"{EMPTY} deck=87": "this is a seat's view, not a whole state",
    f"{EMPTY} hands=2s": "has 1 parts for 2 seats",
    f"{EMPTY} hands=2s2s3s3s4s4s5s,": "hands holds at most 6 cards, not 7",
    f"{EMPTY} turn=2": "turn is a number from 0 to 1, not '2'",
    f"{EMPTY} trun=0": "did you mean 'turn'",
    f"{EMPTY} turn": "cannot read 'turn'",
    f"{EMPTY} last=place-2s-a1,": "no action 'place-2s-a1'",
    _text(EMPTY, HANDS).replace("deck=2s", "deck=3s"): "3 copies of 3s .there are 2.; missing cards: 2s",
    _text(EMPTY, "2s3s4s,2h3h4h5h6h7h"): "seat 0 holds 3 cards, not 6",
    _text(_board(r="b1"), HANDS): "1 chips on the board, but only 0 cards were played",
    _text(_board(X="b1"), HANDS, rest="discards"): "red has 0 sequences and some locked chips",
    "x" * 5000: "at most 3000 characters, not 5000",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: REFUSED[text][:30])
def test_what_is_no_position_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(pg.InvalidText, match=REFUSED[text]) as caught:
        pg.load("sequence").position(text)
    assert len(str(caught.value)) < 600


PIECES = st.sampled_from(["2s", "jd", "+", "'", ",", "??", "zz", "12", "#", "_" * 10, "/", "=", "place-2s-b1"])
WORDS = st.sampled_from(["turn", "hands", "display", "deck", "discards", "sequences", "last", "traded", "passes", "x"])


@settings(max_examples=200 if JIT else 20, deadline=None)
@given(st.lists(st.tuples(WORDS, st.lists(PIECES, max_size=8)), max_size=6), st.booleans(), st.text(max_size=20))
def test_any_text_is_a_position_or_one_declared_error(
    words: list[tuple[str, list[str]]], board: bool, other: str
) -> None:
    text = " ".join([EMPTY if board else other, *(f"{key}={''.join(parts)}" for key, parts in words)])
    game = pg.load("sequence")
    try:
        position = game.position(text)
    except pg.InvalidText:
        return
    assert game.position(position.text) == position


def test_the_picture_shows_chips_hand_display_and_the_last_move() -> None:
    position = pg.load("sequence").position(_text(EMPTY, HANDS)).play("place 2s b1 take 4c")
    seen = position.game.rules.observe(position.state, 1)
    assert "[2s●]" in seen
    assert "face up: 2c 3c 5c 6c" in seen
    assert "blue, seat 1 (you) to move: 2h 3h 4h 5h 6h 7h" in seen
    assert "red, seat 0: 4c ?? ?? ?? ?? ??   last: place 2s b1 take 4c" in seen
    assert "3s 4s 5s 6s 7s 4c" in str(position)
