"""Settings: checked, and refused with a suggestion."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyground.errors import Error
from plyground.runs.settings import build, differences, profile, read_toml, to_toml


@dataclass(frozen=True)
class Example:
    game: str = "x"
    batch: int = 3
    rate: float = 0.5
    double: bool = False
    words: tuple[str, ...] = ()
    loss: Literal["huber", "mse"] = "huber"


def test_a_table_becomes_settings_and_comes_back() -> None:
    example = build(Example, {"rate": 1, "words": ["a", "b"], "loss": "mse"}, "here")
    assert example == Example(rate=1.0, words=("a", "b"), loss="mse")
    assert build(Example, tomllib.loads(to_toml(asdict(example))), "here") == example


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_subnormal=False),
    st.lists(TEXTS),
)


@given(st.dictionaries(st.from_regex("[a-z_]{1,9}", fullmatch=True), VALUES))
def test_what_is_written_is_read(table: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(table)) == table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"bach": 3}, "did you mean 'batch'"),
        ({"batch": 3.5}, "batch in here is of type int, not 3.5"),
        ({"batch": True}, "of type int, not True"),
        ({"double": 1}, "of type bool"),
        ({"words": "a"}, "words in here is a list"),
        ({"words": [1]}, "of type str"),
        ({"loss": "l1"}, "one of huber, mse"),
    ],
)
def test_what_does_not_fit_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        build(Example, table, "here")


def test_files_and_profiles(tmp_path: Path) -> None:
    with pytest.raises(Error, match="no profile"):
        profile("nothing")
    with pytest.raises(Error, match="no file"):
        profile(str(tmp_path / "mine.toml"))
    (tmp_path / "mine.toml").write_text("batch = ")
    with pytest.raises(Error, match="is not TOML"):
        read_toml(tmp_path / "mine.toml")
    (tmp_path / "mine.toml").write_text("batch = 4")
    assert profile(str(tmp_path / "mine.toml")) == {"batch": 4}


def test_differences_name_both_values() -> None:
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == ["b: 3 instead of 2", "c: 4 instead of 'nothing'"]


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 3000 + "]" * 3000, "x = " + "9" * 5000, "a." * 3000 + "b = 1", "\xff", "x = 1e999999999999"]
)
def test_a_file_that_python_cannot_hold_is_one_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode("latin-1"))
    try:
        found = read_toml(path)
    except Error as error:
        assert "is not TOML" in str(error)  # noqa: PT017
    else:
        assert text.startswith(("a.", "x = 1e")), found


def test_a_folder_is_no_toml_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / ("x" * 3000)):
        with pytest.raises(Error, match="no file"):
            read_toml(path)
