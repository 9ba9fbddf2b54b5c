"""Sequence's patterns: the lines of the documentation, a naive twin with strings, and the scores."""

from __future__ import annotations

import re

import numpy as np
import pytest

import plyground as pg
from compiled import Compiled
from conftest import JIT, ROOT
from plyground.agents.registry import make
from plyground.checks import laws
from plyground.games.rng import seeds
from plyground.games.sequence import cards
from plyground.games.sequence import patterns as module
from plyground.games.sequence.patterns import DEFAULT_VALUES, STATE_VECTOR, Pattern
from plyground.games.sequence.text import parse, rows

patterns = Compiled(module)
EMPTY = "#________#/" + "__________/" * 8 + "#________#"
MARKS = {"o": cards.RED, "x": cards.BLUE, "X": cards.LOCKED_RED, "O": cards.LOCKED_BLUE, "_": cards.EMPTY}


def _documented() -> list[tuple[str, str]]:
    page = (ROOT / "docs" / "rules" / "sequence.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `([A-Z_]+)` \| (`.+`) \| (\d+) \|$", page, re.MULTILINE)
    assert [name for name, _, _ in table] == [pattern.name for pattern in Pattern]
    assert all(patterns.VALUES[name] == int(value) for name, _, value in table)
    return [(name, line.replace("\\", "")) for name, lines, _ in table for line in re.findall(r"`([^`]+)`", lines)]


def _place(line: str, direction: int, colours: str = "ox") -> tuple[np.void, list[int]]:
    """A board with one line on it and the line's cells; edges and corners where the line has them."""
    if colours == "xo":
        line = line.translate(str.maketrans("oxX", "xoO"))
    cells = line.replace("|", "")
    length, corner = len(cells), "#" in line
    step = ((1, 0), (0, 1), (1, 1), (1, -1))[direction]
    lane = 0 if corner else 4 if direction < 2 or "|" in line else 2  # away from corners, unless there is one
    start = {0: (0, lane), 1: (lane, 0), 2: (0, lane), 3: (0, 9 - lane)}[direction]
    room = 10 - lane if direction >= 2 else 10
    first = room - length if line[-1] in "|#" else 0 if line[0] in "|#" else (room - length) // 2
    places = [10 * (start[0] + k * step[0]) + start[1] + k * step[1] for k in range(first, first + length)]
    state = pg.load("sequence").blank.copy()[0]
    parse(EMPTY, state)
    for place, mark in zip(places, cells, strict=True):
        if mark != "#":
            state["cells"][place] = MARKS[mark]
        else:
            assert place in cards.CORNERS
    return state, [
        place for place, mark in zip(places, cells, strict=True) if mark in ("o" if colours == "ox" else "x")
    ]


def _vector(state: np.void, side: int = 0) -> dict[str, int]:
    counts = pg.Position(pg.load("sequence"), np.array([state])).encode("features", side)
    return {name: int(count) for name, count in zip(STATE_VECTOR, counts, strict=True) if count}


def test_the_issues_lines_are_documented() -> None:
    lines = set(_documented())
    for name, line in (
        *(("LIVE_TWO", "_oo_"), ("SLEEP_TWO", "_oox"), ("LIVE_THREE", "_ooo_"), ("SLEEP_THREE", "xooo_")),
        *(("SLEEP_THREE", "_o_oo_"), ("LIVE_FOUR", "_oooo_"), ("CHONG_FOUR", "xoooo_"), ("CHONG_FOUR", "oo_oo")),
        ("LIVE_FIVE", "ooooo"),
    ):
        assert (name, line) in lines


def _placed() -> list[tuple[str, str, int]]:
    """Each line in every direction in which it fits; a long one would begin beside a corner on a diagonal."""
    every = [(name, line, direction) for name, line in _documented() for direction in (range(4) if JIT else [1])]
    return [each for each in every if each[2] < 2 or "#" in each[1] or len(each[1]) <= 6]


@pytest.mark.parametrize(("name", "line", "direction"), _placed())
def test_documented_lines(name: str, line: str, direction: int) -> None:
    """Each chip of the line looks around and finds the class; the board has one such pattern and no other."""
    for side, colours in ((0, "ox"), (1, "xo")):
        state, chips = _place(line, direction, colours)
        for cell in chips:
            assert Pattern(patterns.look(state, cell, direction, side)[6]).name == name, (cell, rows(state))
        own = {key: count for key, count in _vector(state, side).items() if not key.startswith("OPP_")}
        fives = line.count("XXXXX") if name != "LIVE_FIVE" else 0
        expected = {name: 1} if name in STATE_VECTOR else {}
        assert own == (expected | {"LIVE_FIVE": 1} if fives else expected), rows(state)
        theirs = _vector(state, 1 - side)
        assert {key: n for key, n in theirs.items() if key.startswith("OPP_")} == {
            f"OPP_{key}": n for key, n in own.items() if f"OPP_{key}" in STATE_VECTOR
        }


FACTS = {  # line with the cell looked at as `?`: chips in a row, gaps, before, behind, open before, open behind
    "_?ooo_": (4, 0, 0, 0, True, True),
    "_?_ooo_": (1, 1, 0, 3, True, True),
    "_oo_?x": (1, 1, 2, 0, True, False),
    "_o?_ox": (2, 1, 0, 1, True, False),
    "o_?_o": (1, 2, 1, 1, True, True),
    "|?oo_": (3, 0, 0, 0, False, True),
    "x?x": (1, 0, 0, 0, False, False),
    "_oo_o_?_": (1, 2, 2, 0, False, True),  # the document's example of two gaps, which only the last chip sees
    "_oo_?_o_": (1, 1, 2, 0, True, True),
}


@pytest.mark.parametrize("line", FACTS)
def test_the_facts_of_a_direction(line: str) -> None:
    state, chips = _place(line.replace("?", "o"), 1)
    cell = chips[line.replace("|", "").replace("_", "").replace("x", "").index("?")]
    state["cells"][cell] = cards.EMPTY
    assert patterns.look(state, cell, 1, 0)[:6] == FACTS[line]


def test_four_with_a_gap_and_both_ends_closed_still_wins_in_one_place() -> None:
    state, chips = _place("xoo_oox", 1)
    assert {Pattern(patterns.look(state, cell, 1, 0)[6]).name for cell in chips} == {"CHONG_FOUR"}


# ---- a naive twin ----


def _naive_vector(state: np.void, side: int) -> dict[str, int]:
    """The definition with strings: o own, X own locked, x other, # corner, | edge."""
    grid = [list(row) for row in rows(state)]
    own, lock = ("r", "X") if side == 0 else ("b", "O")
    lines = [[(y, x) for x in range(10)] for y in range(10)] + [[(y, x) for y in range(10)] for x in range(10)]
    lines += [[(y, y + d) for y in range(10) if 0 <= y + d < 10] for d in range(-5, 6)]
    lines += [[(y, s - y) for y in range(10) if 0 <= s - y < 10] for s in range(4, 15)]
    total: dict[str, int] = {}
    for line in lines:
        for prefix, mine, locked in (("", own, lock), ("OPP_", *{"rX": ("b", "O"), "bO": ("r", "X")}[own + lock])):
            text = (
                "|" + "".join({mine: "o", locked: "X", "_": "_", "#": "#"}.get(grid[y][x], "x") for y, x in line) + "|"
            )
            for name in _naive_groups(text):
                if prefix + name in STATE_VECTOR:
                    total[prefix + name] = total.get(prefix + name, 0) + 1
    return total


def _naive_groups(text: str) -> list[str]:
    found: list[str] = []
    lent: set[int] = {k for k, mark in enumerate(text) if mark == "X"}
    done: set[int] = set()
    for marks in ("X#", "oX#"):
        taken = set[int]() if marks == "X#" else lent | done
        for k in range(len(text) - 4):
            five = set(range(k, k + 5))
            if all(text[j] in marks for j in five) and len(five & (taken | done)) <= 1:
                found.append("LIVE_FIVE")
                done |= five
    lent |= done
    free = {k for k, mark in enumerate(text) if mark in "oX#"}
    while True:
        best: list[int] = []
        for k in range(len(text) - 4):
            five = range(k, k + 5)
            chips = [j for j in five if j in free]
            room = not set(text[k : k + 5]) & set("x|") and sum(j in lent for j in five) <= 1
            if room and len(chips) >= 2 and _gaps(chips) <= 2:
                better = not best or (len(chips), -_gaps(chips)) > (len(best), -_gaps(best))
                best = chips if better else best
        if not best:
            return found
        free -= set(best)
        live = _gaps(best) == 0 and text[best[0] - 1] == "_" == text[best[-1] + 1]
        found.append({2: "SLEEP_TWO", 3: "SLEEP_THREE", 4: "CHONG_FOUR"}[len(best)])
        if live:
            found[-1] = {2: "LIVE_TWO", 3: "LIVE_THREE", 4: "LIVE_FOUR"}[len(best)]


def _gaps(chips: list[int]) -> int:
    return chips[-1] - chips[0] + 1 - len(chips)


def test_the_state_vector_agrees_with_its_naive_twin() -> None:
    game, seen = pg.load("sequence"), set[str]()
    sample = laws.sample(game, 60 if JIT else 1, seed=12, most=400 if JIT else 8)
    for state in sample.after:
        for side in (0, 1):
            expected = _naive_vector(state, side)
            assert _vector(state, side) == expected, rows(state)
            seen |= set(expected)
    assert not JIT or seen == set(STATE_VECTOR)


# ---- scores and action vectors ----


def test_the_values_are_a_named_table_that_can_be_changed() -> None:
    changed = patterns.value_table(LIVE_TWO=50, OPP_CHONG_FOUR=7000)
    assert changed[0, Pattern["LIVE_TWO"]] == 50
    assert changed[1, Pattern["CHONG_FOUR"]] == 7000
    assert DEFAULT_VALUES[0, Pattern["LIVE_TWO"]] == 30
    with pytest.raises(pg.Error, match="did you mean 'LIVE_TWO'"):
        patterns.value_table(LIFE_TWO=1)


def test_placing_scores_what_it_makes_and_what_it_prevents() -> None:
    state, chips = _place("_ooo_", 1)
    behind = chips[-1] + 1  # _oooo_ along the row; alone in the three other directions
    values = patterns.VALUES
    assert patterns.place_score(state, behind, 0, DEFAULT_VALUES) == values["LIVE_FOUR"] + 3 * values["LIVE_ONE"]
    alone = 3 * values["LIVE_ONE"]  # beside red's chips, blue has no open end in the row
    assert patterns.place_score(state, behind, 1, DEFAULT_VALUES) == alone + values["OPP_LIVE_FOUR"]


def test_removing_scores_live_fours_only() -> None:
    for line, score in (("_oooo_", 10000), ("xoooo_", 0), ("_ooo_", 0)):
        state, chips = _place(line, 1)
        assert [patterns.remove_score(state, cell, 1, DEFAULT_VALUES) for cell in chips] == [score] * len(chips)


def test_a_card_is_worth_its_best_cell_and_a_dead_one_nothing() -> None:
    state, _ = _place("_oooo_", 1)  # d5 e5 f5 g5: 6h 5h 4h ah; c5 is a 7c and h5 a 9d
    numbers = cards.NUMBER_OF
    score = {
        name: patterns.card_score(state, numbers[name], 0, DEFAULT_VALUES) for name in ("7c", "9d", "2s", "jd", "jh")
    }
    assert score["7c"] == score["9d"] == score["jd"] == 15000 + 3
    assert score["2s"] < 10
    assert score["jh"] == 0
    assert patterns.card_score(state, numbers["js"], 1, DEFAULT_VALUES) == 10000
    for spot in cards.SPOTS[numbers["2s"]]:
        state["cells"][spot] = cards.BLUE
    assert patterns.card_score(state, numbers["2s"], 0, DEFAULT_VALUES) == 0
    state["display"][:3], state["display_size"] = [numbers["2s"], numbers["3d"], numbers["9d"]], 3
    assert patterns.best_slot(state, 0, DEFAULT_VALUES) == 2


@pytest.mark.compiled
def test_greedy_has_the_highest_total_score_of_the_moves_that_take_the_best_card() -> None:
    game = pg.load("sequence")
    agent = make("greedy", game)
    states = laws.sample(game, 10, seed=5, most=60).states
    for state, action in zip(states, agent.act(states, seeds(0, len(states))), strict=True):
        side, position = int(state["to_move"]), pg.Position(game, np.array([state]))
        slot = patterns.best_slot(state, side, DEFAULT_VALUES)
        taking = [each for each in position.legal() if each // cards.MOVES == slot]
        best = max(patterns.total_score(state, each, side, DEFAULT_VALUES) for each in taking)
        assert action in taking
        assert patterns.total_score(state, action, side, DEFAULT_VALUES) == best


def _action_vector(state: np.void, action: int) -> dict[str, int]:
    out = np.empty(len(patterns.ACTION_VECTOR), np.float32)
    patterns.action_vector(state, action, out)
    return {name: int(count) for name, count in zip(patterns.ACTION_VECTOR, out, strict=True) if count}


def test_the_action_vector_tells_what_an_action_does() -> None:
    state, chips = _place("_ooo_", 1)
    square = int(cards.SQUARE_OF[chips[-1] + 1])
    assert _action_vector(state, square) == {"LIVE_FOUR": 1}
    state["to_move"] = 1
    assert _action_vector(state, square + 2 * cards.MOVES) == {"OPP_LIVE_FOUR": 1}
    remove = cards.BY_JH * cards.SQUARES + int(cards.SQUARE_OF[chips[0]])
    assert _action_vector(state, remove) == {"OPP_LIVE_THREE": 1}
    assert _action_vector(state, cards.TRADES + 3) == {"TRADE": 1}
    assert _action_vector(state, cards.DECLINE) == _action_vector(state, cards.PASS) == {}
