"""Values in the lines of a dataset: exactly what Python reads, or left to it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plyground.teaching import scan


def bytes_of(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8).copy()


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions without the compiler, which would take longer than the tests."""
    for name, function in list(vars(scan).items()):
        monkeypatch.setattr(scan, name, getattr(function, "py_func", function))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.floats(-1, 1, allow_subnormal=False)
    | st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 6))
    | st.integers(-5, 5)
)
def test_a_number_is_what_python_reads_or_left_to_it(value: float) -> None:
    text = json.dumps(value)
    found, at = scan.read_float(bytes_of(f"{text}, "), 0)
    assert at in (len(text), -1)
    assert at == -1 or found == float(text)


@pytest.mark.parametrize("text", ["0.25", "9.2e-05", "1", "-0.403125", "1e-06", "0.0"])
def test_usual_numbers_are_read(text: str) -> None:
    assert scan.read_float(bytes_of(f"{text}}}"), 0) == (float(text), len(text))


@pytest.mark.parametrize("text", ["", "-", ".5", "1.", "01", "1e5", "NaN", "1e-", "0.1234567890123456789", "9" * 40])
def test_others_are_left_to_python(text: str) -> None:
    found = scan.read_float(bytes_of(f"{text}}}"), 0)[1]
    assert found in (-1, *range(len(text)))  # not all of it


def test_lists_and_texts_end_where_they_end() -> None:
    out = np.zeros(4, np.int32)
    assert scan.read_list(bytes_of("5, 17, 0]x"), 0, out) == 8
    assert out.tolist() == [5, 17, 0, -1]
    for wrong in ("5,17]", "5, ]", "]", "5, 6, 7, 8, 9]", "5 6]", "05]", "-5]", "99999999999]"):
        assert scan.read_list(bytes_of(wrong), 0, out) == -1, wrong
    place = np.zeros(2, np.int64)
    assert scan.read_text(bytes_of('ab c"d'), 0, place) == 4
    assert place.tolist() == [0, 4]
    assert scan.read_text(bytes_of('a\\"b"'), 0, place) == -1
    assert scan.read_text(bytes_of('aé"'), 0, place) == -1


def test_a_policy_names_the_actions_of_top_k_in_their_order() -> None:
    top, out = np.array([7, 30, -1, -1], np.int32), np.zeros(4)
    assert scan.read_policy(bytes_of('"7": 0.75, "30": 0.25}'), 0, top, out) == 21
    assert out.tolist() == [0.75, 0.25, 0.0, 0.0]
    for wrong in ('"30": 0.25, "7": 0.75}', '"7": 1.0}', '"7": 0.5, "30": 0.25, "31": 0.25}', '"7":0.75, "30": 0.25}'):
        assert scan.read_policy(bytes_of(wrong), 0, top, out) == -1, wrong


def test_valid_actions_are_exactly_the_legal_ones() -> None:
    legal = np.array([3, 8, 100, 101, -1], np.int32)
    numbers = np.array([3, 8, 8, 8, -1], np.int32)  # three actions share a number
    for valid, right in (([3, 8], True), ([3], False), ([3, 8, 9], False), ([8, 3], False), ([3, 3, 8], False)):
        assert scan.same_actions(np.array([*valid, -1], np.int32), legal, numbers) == right, valid
    assert scan.top_is_right(np.array([8, 3, -1], np.int32), np.array([3, 8, -1], np.int32))
    assert not scan.top_is_right(np.array([8, 8], np.int32), np.array([3, 8], np.int32))
    assert not scan.top_is_right(np.array([8, 4], np.int32), np.array([3, 8], np.int32))
