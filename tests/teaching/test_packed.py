"""Packed datasets: mapped as they are, checked where another has written them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plyground as pg
from collected import FOUR, collected
from plyground.teaching import packed
from plyground.teaching.dataset import map_packed, read_all
from plyground.teaching.lines import Lines
from plyground.teaching.packed import BLOCK, MAGIC, header

pytestmark = pytest.mark.compiled
GAME = pg.load("connect_four")
LINES, CHESS = Lines(GAME), pg.load("chess")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("packed") / "a.packed"
    collected(FOUR, found)
    return found


@pytest.fixture
def records(path: Path) -> np.ndarray:
    return np.array(map_packed(path, LINES))


def written(path: Path, records: np.ndarray) -> Path:
    path.write_bytes(header(GAME, records.dtype) + records.tobytes())
    return path


def test_records_are_mapped_and_checked_once(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    check = Lines.check
    monkeypatch.setattr(Lines, "check", lambda self, records: (calls.append(len(records)), check(self, records))[1])
    found = map_packed(path, LINES)
    assert isinstance(found, np.memmap)
    assert not calls, "this user has written it"
    found["value"] = 0.25  # in memory alone
    assert (map_packed(path, LINES)["value"] != 0.25).any()
    other = written(tmp_path / "b.packed", found)
    shown: list[tuple[int, int]] = []
    map_packed(other, LINES, report=lambda *done: shown.append(done))
    assert sum(calls) == len(found)
    assert shown[-1] == (len(found), len(found))
    map_packed(other, LINES)
    assert sum(calls) == len(found), "and then it is known"


FORGED: dict[str, Any] = {
    "no action": ("top", -1),
    "an action beyond": ("top", 10**6),
    "an action below": ("top", -(10**6)),
    "no probability": ("policy", 0.0),
    "a huge probability": ("policy", 1e30),
    "a probability that is none": ("policy", np.nan),
    "a huge value": ("value", 2.0),
    "a value that is none": ("value", np.nan),
    "a ply below": ("ply", -1),
    "a move beyond": ("move", 2**31 - 1),
    "a move below": ("move", -1),
    "stones beyond the board": ("state", "stones"),
    "no side": ("state", "to_move"),
    "a game that is over": ("state", "outcome"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_is_refused_or_left_out(tmp_path: Path, records: np.ndarray, name: str) -> None:
    column, value = FORGED[name]
    if column == "state":
        records["state"][value][3] = 2**63 if value == "stones" else 3
    else:
        records[column][3] = value
    alone = records[[*dict.fromkeys(["state", "top" if column == "policy" else column, column])]]
    assert np.flatnonzero(~LINES.check(alone)).tolist() == [3], "whatever other columns there are"
    forged = written(tmp_path / "b.packed", records)
    with pytest.raises(pg.InvalidValue, match=r"b.packed, position 4: no position that runs.*--bad-lines skip"):
        read_all(forged, LINES)
    assert read_all(forged, LINES, "skip").tobytes() == np.delete(records, 3).tobytes()
    assert json.loads((tmp_path / "b.packed.rejected").read_text())["line"] == 4


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_bytes_are_right_only_if_their_line_is(records: np.ndarray, data: st.DataObject) -> None:
    one = records[:1].copy()
    places = st.integers(0, one.itemsize - 1)
    for place, value in data.draw(st.dictionaries(places, st.integers(0, 255), max_size=3)).items():
        one.view(np.uint8)[place] = value
    if LINES.check(one)[0]:
        again, faults = LINES.read([(1, LINES.write(one)[0])])
        assert not faults
        assert again["state"] == one["state"]


def test_a_torn_end_is_located(tmp_path: Path, records: np.ndarray) -> None:
    torn = written(tmp_path / "b.packed", records)
    torn.write_bytes(torn.read_bytes()[:-5])
    with pytest.raises(pg.InvalidValue, match=rf"position {len(records)}: the file ends within it"):
        read_all(torn, LINES)
    assert len(read_all(torn, LINES, "skip")) == len(records) - 1


def test_columns_are_what_a_writer_says(tmp_path: Path, records: np.ndarray) -> None:
    own = np.zeros(len(records), [("state", GAME.rules.HEAD), ("value", "<f4"), ("result", "i1"), ("quiet", "?")])
    own["state"], own["value"], own["result"] = records["state"], records["value"], -1
    path = written(tmp_path / "b.packed", own)
    found = map_packed(path, LINES, needed=("state", "value", "quiet"))
    assert found.tobytes() == own.tobytes()
    assert found.dtype == own.dtype
    with pytest.raises(pg.InvalidValue, match="has no column key, game, top, policy, ply, which is needed here"):
        read_all(path, LINES)


def _header(**changes: Any) -> bytes:
    text = header(GAME, LINES.dtype)
    content = {**json.loads(text[len(MAGIC) + 8 :]), **changes}
    return (text[: len(MAGIC) + 8] + json.dumps(content).encode()).ljust(BLOCK)


STATE = ["state", f"|V{GAME.rules.HEAD.itemsize}", []]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (MAGIC, "damaged header"),
        (MAGIC + b"-000001\n", "damaged header"),
        (MAGIC + b"9999999\n{}", "damaged header"),
        (MAGIC + b"   4096\n" + b"[" * 5000, "damaged header"),
        (_header()[:-1], "damaged header"),
        (_header(columns=[]), "damaged header"),
        (_header(columns=[STATE, ["x", "O", []]]), "damaged header.*the column 'x' holds object"),
        (_header(columns=[STATE, ["x", "<f4", [-1]]]), "damaged header"),
        (_header(columns=[STATE, ["x", "<f4", [2**40]]]), "damaged header"),
        (_header(columns=[STATE, ["x", [["y", "O"]], []]]), "damaged header"),
        (_header(columns=[STATE, STATE]), "damaged header"),
        (_header(columns=[STATE, ["top", "<f8", []]]), "the column top is"),
        (_header(state=[]), "laid out otherwise than connect_four is now: name its game"),
        (_header(rules="other"), "holds no examples"),
        (header(CHESS, Lines(CHESS).dtype), "damaged header.*not the positions of connect_four"),
    ],
)
def test_a_damaged_header_is_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "b.packed"
    path.write_bytes(content)
    with pytest.raises(pg.InvalidValue, match=message) as found:
        read_all(path, LINES)
    assert len(str(found.value)) < 500


def test_a_mark_that_others_can_write_counts_for_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packed._is_known(path)
    monkeypatch.setattr(packed, "cache_folder", lambda: tmp_path)
    packed.remember(path)
    assert packed._is_known(path)
    (tmp_path / "positions").chmod(0o777)
    assert not packed._is_known(path)
