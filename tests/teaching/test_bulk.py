"""Lines in bulk: the same records as one by one, and nothing accepted that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.lines import Lines

pytestmark = pytest.mark.compiled
CHESS = pg.load("chess")
LINES, ONE_BY_ONE = Lines(CHESS), Lines(CHESS)
ONE_BY_ONE.bulk = None
GOOD = (
    b'{"fen": "4k3/7P/8/8/8/8/8/4K3 w - - 0 1", "side": "w", "best_action": 3583, "top_k": [3583, 261], '
    b'"teacher_policy": {"3583": 0.75, "261": 0.25}, "value": 0.5, "valid_actions": [259, 261, 267, 268, 269, 3583], '
    b'"move": "h7h8q", "game_id": "0-7", "ply": 4, "ts": "2026-11-15T08:00:00+00:00"}\n'
)


def accepted(*texts: bytes) -> np.ndarray:
    """[N] which lines are read in bulk."""
    assert LINES.bulk is not None
    kept = np.zeros(len(texts), np.bool_)
    LINES.bulk.read(texts, np.zeros(len(texts), LINES.dtype), kept)
    return kept


def test_what_is_collected_is_read_in_bulk_and_as_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    collect(Collect(games=8, depth=1, quiescence=1, threads=1, opening_plies=60, seed=4), path, lambda *_: None)
    texts = path.read_bytes().splitlines(keepends=True)
    promotions = [json.loads(line)["move"] for line in texts if len(json.loads(line)["move"]) == 5]
    assert len(texts) > 200
    assert promotions, "the hardest lines are among them"
    assert accepted(*texts).all()
    lines = list(enumerate(texts, start=1))
    assert LINES.read(lines)[0].tobytes() == ONE_BY_ONE.read(lines)[0].tobytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"4k3/7P", b"4k3/6P1"),
        (b'"side": "w"', b'"side": "b"'),
        (b'"best_action": 3583', b'"best_action": 261'),
        (b"[3583, 261]", b"[3583, 3583]"),
        (b"0.75", b"0.85"),
        (b"0.75", b"-0.75"),
        (b'"value": 0.5', b'"value": 1.5'),
        (b"[259, ", b"["),
        (b"h7h8q", b"h7h8"),
        (b'"ply": 4', b'"ply": 4, "ply": 5'),
        (b"}\n", b"} \n"),
        (b"}\n", b""),
    ],
)
def test_a_wrong_or_unusual_line_is_left_to_the_other_reader(before: bytes, after: bytes) -> None:
    assert accepted(GOOD, GOOD.replace(before, after), GOOD).tolist() == [True, False, True]


def test_faults_keep_the_numbers_of_their_lines() -> None:
    found, faults = LINES.read([(11, GOOD), (12, b"{}\n"), (13, GOOD), (14, b"\xff\n")])
    assert len(found) == 2
    assert [fault.line for fault in faults] == [12, 14]


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 2), st.binary(max_size=2) | st.sampled_from([b"1", b'"', b" "]))
def test_a_changed_line_is_accepted_only_if_it_is_right(start: int, removed: int, middle: bytes) -> None:
    changed = GOOD[:start] + middle + GOOD[start + removed :]
    if b"\n" in changed[:-1] or not accepted(changed)[0]:
        return
    found, faults = ONE_BY_ONE.read([(1, changed)])
    assert not faults
    assert LINES.read([(1, changed)])[0].tobytes() == found.tobytes()
