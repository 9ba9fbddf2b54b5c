"""Where the time goes, by label."""

from __future__ import annotations

import time

import pytest

from plyground.backend.clock import Clock, timed


@timed("rules")
def inner() -> None:
    time.sleep(0.02)


@timed("replay")
def outer() -> str:
    time.sleep(0.01)
    inner()
    return "result"


def test_a_nested_functions_time_is_taken_from_the_outer_one() -> None:
    clock = Clock("cpu")
    with clock:
        time.sleep(0.005)
        assert outer() == "result"
    assert clock.seconds.keys() == {"network", "replay", "rules"}
    assert clock.seconds["rules"] == pytest.approx(0.02, abs=0.012)
    assert clock.seconds["replay"] == pytest.approx(0.01, abs=0.008)
    assert 0.005 <= clock.seconds["network"] < 0.02


def test_time_outside_the_block_is_not_counted() -> None:
    clock = Clock("cpu")
    for _ in range(2):
        time.sleep(0.01)
        inner()
        with clock:
            pass
    assert clock.seconds.keys() == {"network"}
    assert clock.seconds["network"] < 0.005


def test_a_function_that_raises_gives_its_time_back() -> None:
    @timed("rules")
    def fails() -> None:
        raise ValueError("refused")

    clock = Clock("cpu")
    with clock:
        with pytest.raises(ValueError, match="refused"):
            fails()
        inner()
        time.sleep(0.02)
    assert clock.seconds["network"] >= 0.02
