"""Lines of a dataset: what is written is read back, and whatever is wrong is named."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from plyground.agents.teacher import make_teacher
from plyground.teaching.lines import LONGEST_LINE, Lines

pytestmark = pytest.mark.compiled
CHESS = pg.load("chess")
LINES = Lines(CHESS)


def written(game: pg.Game = CHESS, text: str = "startpos", **changes: Any) -> dict[str, Any]:
    """A good line as an object."""
    position, lines = game.position(text), Lines(game)
    found = make_teacher(game, depth=1, quiescence=0).lessons(position.states, 3, 1.0)
    record, width = np.zeros(1, lines.dtype), found.top.shape[1]
    record["state"], record["ply"], record["game_id"], record["time"] = (
        game.heads(position.states),
        4,
        "0-7",
        1794729600,
    )
    record["top"] = -1
    record["top"][:, :width], record["policy"][:, :width] = found.top, found.policy
    record["value"], record["move"] = found.values, found.moves[:, 0]
    return {**json.loads(lines.write(record)[0]), **changes}


GOOD: dict[str, Any] = {  # what `written` gives, so that nothing is compiled where this file is only collected
    "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "side": "w",
    "best_action": 82,
    "top_k": [82, 405, 796],
    "teacher_policy": {"82": 0.3454715542019302, "405": 0.3454715542019302, "796": 0.30905689159613964},
    "value": 0.07063197026022305,
    "valid_actions": [
        *(80, 82, 405, 407, 528, 536, 593, 601, 658, 666, 723, 731, 788, 796, 853, 861, 918, 926, 983, 991),
    ],
    "move": "b1c3",
    "game_id": "0-7",
    "ply": 4,
    "ts": "2026-11-15T08:00:00+00:00",
}
NUMBERS = ("teacher_policy", "value")


def read(line: dict[str, Any] | bytes) -> tuple[np.ndarray, list[str]]:
    text = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
    found, faults = LINES.read([(1, text)])
    return found, [fault.reason for fault in faults]


def test_a_line_has_exactly_the_fields_of_the_format() -> None:
    names = "fen side best_action top_k teacher_policy value valid_actions move game_id ply ts"
    found = written()
    assert list(found) == names.split()
    assert {**found, **{name: GOOD[name] for name in NUMBERS}} == GOOD
    for name in NUMBERS:
        assert found[name] == pytest.approx(GOOD[name], abs=1e-6)
    other = written(pg.load("connect_four"), "4453")
    assert list(other) == ["position", *names.split()[1:]]


def test_what_is_written_is_read_back() -> None:
    found, faults = read(GOOD)
    assert not faults
    record = found[0]
    assert record["top"][0] == GOOD["best_action"]
    assert record["top"][:4].tolist() == [*GOOD["top_k"], -1]
    assert record["policy"][:3] == pytest.approx(list(GOOD["teacher_policy"].values()))
    assert record["value"] == pytest.approx(GOOD["value"])
    assert CHESS.rules.text(record["state"]) == GOOD["fen"]


def test_neither_clocks_nor_notation_make_another_position_but_the_side_does() -> None:
    text = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    line = written(text=text)
    others = [f"  {text}", text.replace("- 0 1", "e3 0 1"), text.replace(" 0 1", ""), text.replace("b KQ", "b  KQ")]
    others.append(text.replace("0 1", "6 9"))
    assert len({int(read({**line, "fen": each})[0][0]["key"]) for each in (text, *others)}) == 1
    assert read(written(text=text.replace(" b ", " w ")))[0][0]["key"] != read(line)[0][0]["key"]


def test_a_promotion_is_read_in_4096_actions() -> None:
    line = written(text="7k/P7/8/8/8/8/8/K7 w - - 0 1")
    assert line["move"] == "a7a8q"
    assert line["best_action"] == 48 * 64 + 56
    assert max(line["valid_actions"]) < 4096
    rook = {**line, "move": "a7a8r"}
    assert not read(rook)[1], "another piece goes by the same number"
    assert "which is a7a8q or a7a8n or a7a8b or a7a8r" in read({**line, "move": "a1a2"})[1][0]


CUT = json.dumps(GOOD).encode()[:200]
ILLEGAL = {**GOOD, "best_action": 0, "top_k": [0, *GOOD["top_k"][1:]]}
WRONG: dict[str, tuple[dict[str, Any] | bytes, str]] = {
    "cut": (CUT, "cut or not JSON"),
    "empty": (b"\n", "cut or not JSON"),
    "not JSON": (b"fen=start", "cut or not JSON"),
    "not an object": (b"[1, 2]", "not an object but"),
    "not UTF-8": (b'{"fen": "\xff"}', "not UTF-8"),
    "too deep": (b"[" * 20_000, "cut or not JSON"),
    "twice": (json.dumps(GOOD)[:-1].encode() + b', "ply": 3}', "occurs twice"),
    "unknown": ({**GOOD, "extra": 1}, "the field 'extra' is unknown"),
    "missing": ({k: v for k, v in GOOD.items() if k != "value"}, "the field 'value' is missing"),
    "illegal": (ILLEGAL, "not legal"),
    "not the first": ({**GOOD, "best_action": GOOD["top_k"][1]}, "is not the first of top_k"),
    "wrong move": ({**GOOD, "move": "e2e5"}, "move 'e2e5' is not best_action"),
    "sum": ({**GOOD, "teacher_policy": {str(a): 0.5 for a in GOOD["top_k"]}}, "sums to 1.5"),
    "other actions": ({**GOOD, "teacher_policy": {"1": 1.0}}, "exactly the actions of top_k"),
    "negative": ({**GOOD, "teacher_policy": {"1": 2.0, "2": -1.0}}, "a probability for each action"),
    "NaN": (json.dumps({**GOOD, "value": math.nan}).encode(), "NaN is not a number"),
    "infinite": (json.dumps({**GOOD, "value": math.inf}).encode(), "Infinity is not a number"),
    "out of range": ({**GOOD, "value": 1.5}, "a number from -1 to 1"),
    "huge": ({**GOOD, "ply": 10**400}, "ply is a whole number"),
    "a bool": ({**GOOD, "best_action": True}, "best_action is a whole number"),
    "two kings": ({**GOOD, "fen": "kk6/8/8/8/8/8/8/K7 w - - 0 1"}, "cannot be: Black has 2 kings"),
    "no FEN": ({**GOOD, "fen": "hello"}, "a FEN has 6 fields"),
    "side": ({**GOOD, "side": "b"}, "side is 'w' there"),
    "over": ({**GOOD, "fen": "7k/8/8/8/8/8/8/K7 w - - 0 1"}, "the game is over"),
    "valid": ({**GOOD, "valid_actions": GOOD["valid_actions"][1:]}, "valid_actions are not the legal ones"),
    "long": (json.dumps({**GOOD, "ts": "x" * LONGEST_LINE}).encode(), "longer than 65536 bytes"),
    "many": ({**GOOD, "top_k": list(range(17))}, "a list of 1 to 16 actions"),
    "code": ({**GOOD, "move": "__import__('os').system('true')"}, "is not best_action"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_refused_with_the_reason(name: str) -> None:
    line, message = WRONG[name]
    found, faults = read(line)
    assert not len(found)
    assert len(faults) == 1
    assert message in faults[0]
    assert len(faults[0]) < 500


def test_good_lines_among_wrong_ones_are_read() -> None:
    good = json.dumps(GOOD).encode()
    found, faults = LINES.read(list(enumerate([good, CUT, json.dumps(ILLEGAL).encode(), good], start=11)))
    assert (len(found), [fault.line for fault in faults]) == (2, [12, 13])


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_subnormal=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(list(GOOD)), JUNK)
def test_any_value_in_any_field_is_read_or_refused(name: str, value: Any) -> None:
    found, faults = read({**GOOD, name: value})
    assert len(found) + len(faults) == 1


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 400))
def test_any_bytes_are_read_or_refused(middle: bytes, start: int, end: int) -> None:
    good = json.dumps(GOOD).encode()
    found, faults = read(good[:start] + middle + good[end:])
    assert len(found) + len(faults) == 1
