"""Sequence against its naive twin, its texts, and the facts of its board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import plyground as pg
from conftest import JIT
from plyground.games.interface import RUNNING
from plyground.games.sequence import cards
from plyground.games.sequence.text import parse, rows
from sequence_texts import EMPTY, HANDS, board_of, text_of
from torture.games import Comparison

VARIANTS = [
    "sequence",
    "sequence:seats=4",
    "sequence:rules=boxed",
    "sequence:rules=boxed,seats=4",
    "sequence:compat_scores=true",
]


# ---- the naive twin ----


@pytest.mark.parametrize("word", VARIANTS)
def test_random_games_agree_with_the_naive_twin(word: str) -> None:
    games = 40 if JIT else 1
    comparison = Comparison(word, 4, games)
    assert comparison.play(lambda: comparison.games >= games) == []


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


def _load(word: str, text: str) -> pg.Position:
    """A position that need not be reachable: chips without the cards they cost."""
    game = pg.load(word)
    state = game.blank.copy()
    parse(text, state[0])
    return pg.Position(game, state)


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
    board = board_of(r="b1 g9", O="c1 f9 j2 j3 j4")
    text = text_of(board, "jhjsjhjs2s3s,2s3s2h2h3h3h", traded="1", sequences="0,1")
    position = _load("sequence", text)
    assert position.names() == ["pass"]
    position = position.play("pass")
    assert (position.to_move, position.over) == (1, False)
    assert int(position.state["passes"]) == 1
    last = _load("sequence", text_of(board, "jhjsjhjs2s3s,2s3s2h2h3h3h", traded="1", sequences="0,1", passes="1"))
    last = last.play("pass")
    assert (last.outcome, last.reason) == (pg.Outcome.SECOND_WINS, "nobody can move")


def test_removing_makes_a_dead_card_live_again() -> None:
    position = _load("sequence", text_of(board_of(b="b1 g9"), "2sjh4s5s6s7s,2h3h4h5h6h7h"))
    assert "decline" in position.names()
    position = position.play("decline").play("remove b1 with jh take 2c")
    assert "trade 2s take 3c" not in position.names()
    assert position.state["cells"][1] == cards.EMPTY


CLEAN = {
    "nine at once": (board_of(r="a4 b4 c4 d4 f4 g4 h4 i4"), "place jd e4", 2, 3),
    "two lines that share": (board_of(X="c3 d3 e3 f3 g3", r="c4 c5 c6 d6 e5 f4"), "place jd c7", 2, 1),
    "heart and a line": (board_of(r="e5 f5 e6 d6 g6 h6"), "place jd f6", 2, 3),
    "ten on the edge": (board_of(X="f1 g1 h1 i1", r="b1 c1 d1"), "place jd e1", 1, 1),
    "eight": (board_of(r="a4 b4 c4 d4 f4 g4 h4"), "place jd e4", 1, 1),
}


@pytest.mark.parametrize("case", CLEAN)
@pytest.mark.parametrize("compat", [False, True])
def test_scores_are_clean_or_those_of_the_courses_program(case: str, compat: bool) -> None:
    board, name, clean, course = CLEAN[case]
    before = "1" if "X" in board else "0"
    text = text_of(board, "jd3s4s5s6s7s,2h3h4h5h6h7h", sequences=f"{before},0")
    position = _load(f"sequence:compat_scores={str(compat).lower()}", text).play(f"{name} take 4c")
    assert int(position.state["sequences"][0]) - int(before) == (course if compat else clean)


def test_a_long_run_locks_its_first_five() -> None:
    board = board_of(r="a4 b4 c4 d4 f4 g4 h4")
    position = _load("sequence", text_of(board, "jd3s4s5s6s7s,2h3h4h5h6h7h")).play("place jd e4 take 4c")
    assert rows(position.state)[3] == "XXXXXrrr__"


def test_hearts_win_by_the_courses_rules_only() -> None:
    board = board_of(r="e5 f5 e6")
    course = _load("sequence", text_of(board, "3h3s4s5s6s7s,2h4h5h6h7h8h")).play("place 3h f6 take 4c")
    assert (course.outcome, course.reason) == (pg.Outcome.FIRST_WINS, "the heart block")
    text = text_of(board, "3h3s4s5s6s7s8s,2h4h5h6h7h8h9h", "")
    boxed = _load("sequence:rules=boxed", text).play("place 3h f6")
    assert boxed.outcome == pg.Outcome.RUNNING


def test_an_empty_boxed_deck_is_made_from_the_discards() -> None:
    text = text_of(EMPTY, "2s3s4s5s6s7s8s,2h3h4h5h6h7h8h", "", rest="discards")
    position = _load("sequence:rules=boxed", text).play("place 2s b1")
    assert int(position.state["reshuffles"]) == 1
    assert int(position.state["held"][0]) == 7
    assert int(position.state["deck_size"]) == 104 - 14 + 1 - 1
    assert (position.state["drawn"][:, :6] == cards.OPEN).all(axis=1).tolist()[:2] == [True, True]


def test_a_boxed_exchange_is_optional_and_comes_once() -> None:
    text = text_of(board_of(b="b1 g9 c1 f9"), "2s3s4s5s6s7s8s,2h3h4h5h6h7h8h", "")
    position = _load("sequence:rules=boxed", text)
    names = position.names()
    assert {"trade 2s", "trade 3s", "place 4s d1"} <= set(names)
    assert "decline" not in names
    position = position.play("trade 2s")
    assert (position.to_move, any(name.startswith("trade") for name in position.names())) == (0, False)


def test_the_last_face_up_card_ends_the_game_even_by_a_trade() -> None:
    text = text_of(board_of(b="b1 g9"), HANDS, "4c", rest="discards")
    position = _load("sequence", text).play("trade 2s take 4c")
    assert (position.outcome, position.reason) == (pg.Outcome.DRAW, "no cards left to take")
