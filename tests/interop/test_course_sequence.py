"""The course's framework, spoken by our rules: its cases, its golden games, its errors."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

import plyground as pg
from conftest import JIT, TESTS
from plyground.interop.course_sequence import CourseSequence

DATA = TESTS / "data" / "sequence"
CASES: list[dict[str, Any]] = json.loads((DATA / "cases.json").read_text())
GOLDEN: list[dict[str, Any]] = json.loads((DATA / "golden_games.json").read_text())


def _action(action: dict[str, Any]) -> dict[str, Any]:
    """JSON has no tuples."""
    coords = action["coords"]
    return action | {"coords": None if coords is None else tuple(coords)}


def _locked(course: CourseSequence, mark: str) -> list[list[int]]:
    return [[y, x] for y, row in enumerate(course.rows()) for x, cell in enumerate(row) if cell == mark]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['title']}")
def test_case(case: dict[str, Any]) -> None:
    course, expected, action = CourseSequence.from_case(case), case["expect"], _action(case["action"])
    assert (action in course.legal_actions()) == expected["legal"]
    if not expected["legal"]:
        with pytest.raises(pg.Error):
            course.apply(action)
        return
    agent, score, deck = course.to_move, sum(course.scores), course.deck_size
    course.apply(action)
    assert {
        "gain": sum(course.scores) - score,
        "game_over": course.over,
        "next_agent": course.to_move,
        "hand_size": len(course.hands[agent]),
        "display_size": len(course.display),
        "deck_drawn": deck - course.deck_size,
        "trade_used": course.trade_used,
        "locked_red": _locked(course, "X"),
        "locked_blue": _locked(course, "O"),
    }.items() <= expected.items()


@pytest.mark.parametrize("golden", GOLDEN if JIT else GOLDEN[:1], ids=lambda game: f"{game['players']}-{game['seed']}")
def test_golden_game(golden: dict[str, Any]) -> None:
    course, seed = CourseSequence(golden["players"], golden["seed"]), golden["seed"]
    assert {"display": course.display, "hands": course.hands} == golden["initial"]
    digest, played, listed = hashlib.sha256(), 0, 0
    while not course.over:
        actions = course.legal_actions()
        action = actions[(7919 * played + 104729 * seed) % len(actions)]
        keys = ("type", "play_card", "draft_card", "coords")
        digest.update(json.dumps([course.to_move, *(action[key] for key in keys)]).encode())
        course.apply(action)
        played, listed = played + 1, listed + len(actions)
    assert (played, listed) == (golden["actions"], golden["sum_legal"])
    assert (course.scores, len(course.display)) == (golden["scores"], golden["display_left"])
    assert course.rows() == golden["final_rows"]
    assert digest.hexdigest() == golden["action_sha256"]


def _case(**changes: Any) -> dict[str, Any]:
    """Red to move on an empty board with six spades."""
    plain = next(case for case in CASES if case["id"] == "T03")
    return {**plain, **changes}


def test_a_teams_total_is_the_sum_of_its_seats() -> None:
    hand = ["jd", "3s", "4s", "5s", "6s", "7s"]
    red = [[3, 1], [3, 2], [3, 3], [3, 4]]
    course = CourseSequence.from_case(_case(players=4, to_move=2, hand=hand, red=red, team_sequences_before={"0": 1}))
    course.apply({"play_card": "jd", "draft_card": "4c", "type": "place", "coords": (3, 5)})
    assert course.scores == [1, 0, 1, 0]
    assert course.over
    assert course.position.outcome == pg.Outcome.FIRST_WINS


def test_equal_cards_are_listed_twice() -> None:
    course = CourseSequence.from_case(_case(hand=["2s", "2s", "4s", "5s", "6s", "7s"]))
    twos = [action for action in course.legal_actions() if action["play_card"] == "2s"]
    assert len(twos) == 2 * 2 * 5
    course = CourseSequence.from_case(_case(display=["2c", "2c", "4c", "5c", "6c"]))
    assert len(course.legal_actions()) == 6 * 2 * 5


def test_a_wild_jack_offers_480_actions_and_two_of_them_960() -> None:
    for jacks, count in ((["jd", "3s"], 480), (["jd", "jc"], 960), (["jd", "jd"], 960)):
        course = CourseSequence.from_case(_case(hand=[*jacks, "4s", "5s", "6s", "7s"]))
        assert sum(action["play_card"][0] == "j" for action in course.legal_actions()) == count


def test_where_the_framework_offers_nothing_we_offer_a_pass() -> None:
    hand = ["jh", "js", "jh", "js", "2s", "3s"]
    taken = {"red": [[0, 1], [8, 6]], "blue_locked": [[0, 2], [8, 5]], "trade_used": True}
    course = CourseSequence.from_case(_case(hand=hand, team_sequences_before={"1": 1}, **taken))
    nothing = {"play_card": None, "draft_card": None, "type": "pass", "coords": None}
    assert course.legal_actions() == [nothing]
    course.apply(nothing)
    assert course.to_move == 1


GOOD = {"play_card": "2s", "draft_card": "4c", "type": "place", "coords": (8, 6)}
REFUSED = [
    ({key: GOOD[key] for key in ("play_card", "draft_card", "type")}, "the key 'coords' is missing"),
    (GOOD | {"coords": [8, 6]}, r"coords is a tuple .row, column. or None, not \[8, 6\]"),
    (GOOD | {"play_card": "1s"}, "play_card is no card: '1s'"),
    (GOOD | {"draft_card": ["4c"]}, r"draft_card is no card: \['4c'\]"),
    (GOOD | {"type": "put"}, "type is place, remove, trade or pass, not 'put'"),
    (GOOD | {"x": 1}, "there is no key 'x'"),
    (GOOD | {"coords": (8, 5)}, "is not legal for agent 0, who holds 2s 3s 4s 5s 6s 7s with 2c 3c 4c 5c 6c on display"),
    ("place 2s b7", "an action is a dictionary with the keys play_card, draft_card, type, coords"),
]


@pytest.mark.parametrize(("action", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_is_no_action_is_refused_with_its_reason(action: Any, message: str) -> None:
    with pytest.raises(pg.Error, match=message):
        CourseSequence.from_case(_case()).apply(action)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hand": ["2s", "3s", "4s", "5s", "6s", "1s"]}, "no card '1s'"),
        ({"hand": ["2c", "2c", "4s", "5s", "6s", "7s"]}, "three copies of 2c"),
        ({"red": [[0, 0]]}, r"no chip can lie at \(0, 0\): it is a corner"),
        ({"blue_locked": [[3, 10]]}, "off the board"),
        ({"players": 3}, "seats cannot be '3'"),
        ({"to_move": 2}, "to_move is 0 to 1, not 2"),
    ],
)
def test_what_is_no_case_is_refused_with_its_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pg.Error, match=message):
        CourseSequence.from_case(_case(**changes))
    with pytest.raises(pg.Error, match="the case has no to_move"):
        CourseSequence.from_case({key: value for key, value in _case().items() if key not in ("hand", "to_move")})


WRONG: list[tuple[str, Any]] = [
    *(("players", value) for value in (3, "2", 2.0, None, -2, 10**9)),
    *(("to_move", value) for value in (7, -1, "0", None)),
    *(("red", value) for value in (3, [3], [[1]], [[1, 2, 3]], [["a", 1]], [[0, 0]], [[99, 1]], [[2**62, 1]])),
    *(("hand", value) for value in (3, ["zz"], [3], ["2d"] * 3, ["2d", "3d", "4d", "5d", "6d", "7d", "8d"])),
    *(("display", value) for value in (None, ["2d", "3d", "4d", "5d", "6d", "7d"], {"2d": 1})),
    *(("team_sequences_before", value) for value in ([1], {"9": 1}, {"x": 1}, {"0": 300}, {"0": -1}, {"0": "1"})),
    *((name, 3) for name in ("trade_used", "deck_empty")),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_case_of_other_types_is_one_error(name: str, value: Any) -> None:
    with pytest.raises(pg.Error):
        CourseSequence.from_case({**CASES[0], name: value})
    with pytest.raises(pg.Error, match=f"the case has no {name}"):
        CourseSequence.from_case({key: item for key, item in CASES[0].items() if key != name})


@pytest.mark.parametrize("coords", [(1,), (1, 2, 3), ("1", 2), (1.0, 2), ([1], 2), 3, [1, 2], (None, None)])
def test_coordinates_are_two_whole_numbers(coords: Any) -> None:
    course = CourseSequence(seed=1)
    with pytest.raises(pg.InvalidValue, match="coords is a tuple"):
        course.apply({**course.legal_actions()[0], "coords": coords})
