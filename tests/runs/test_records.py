"""Typed reading: a value has its declared type, or one sentence names the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from plyground.errors import Error
from plyground.runs.files import DamagedFile
from plyground.runs.records import fit, parse_json, read_json


class Inner(TypedDict):
    size: int


class Outer(TypedDict):
    name: str
    share: float
    inner: dict[str, Inner]
    maybe: NotRequired[float | None]


GOOD = {"name": "x", "share": 1, "inner": {"a": {"size": 3}}, "other": [None]}


def test_what_fits_is_kept_and_whole_numbers_become_floats() -> None:
    found = fit(GOOD, Outer, "it")
    assert found == GOOD
    assert type(found["share"]) is float
    assert fit({**GOOD, "maybe": None}, Outer, "it")["maybe"] is None
    assert fit([1, 2], tuple[int, ...], "it") == (1, 2)
    assert fit("a", Literal["a", "b"], "it") == "a"
    assert fit({"x": object}, Any, "it") == {"x": object}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": 3}, "name of it is of type str, not 3"),
        ({"share": "1"}, "share of it is of type float, not '1'"),
        ({"share": True}, "share of it is of type float, not True"),
        ({"share": 10**400}, "share of it is a number below"),
        ({"inner": [1]}, "inner of it is a table of names and values"),
        ({"inner": {"a": {"size": 2.0}}}, "size of a of inner of it is of type int"),
        ({"inner": {"a": {}}}, "a of inner of it has no size"),
        ({"inner": {"a": {"size": 2**63}}}, "size of a of inner of it is a whole number below"),
        ({"inner": {"a": {"size": True}}}, "size of a of inner of it is of type int"),
        ({"maybe": "x"}, "maybe of it is of type float"),
        ({"name": 10**5000}, "name of it is of type str, not an int of many digits"),
        ({"name": "a\0b"}, "name of it holds a NUL character, which no text here has"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], why: str) -> None:
    with pytest.raises(Error, match=why):
        fit({**GOOD, **change}, Outer, "it")


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000, b"9" * 5000, b"[]", b"null"])
def test_what_is_no_json_object_is_a_damaged_file(text: bytes) -> None:
    with pytest.raises(DamagedFile, match="here cannot be read"):
        parse_json(text, Outer, "here")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", tmp_path / ("x" * 5000)):
        with pytest.raises(DamagedFile, match="cannot read"):
            read_json(path, Outer)
