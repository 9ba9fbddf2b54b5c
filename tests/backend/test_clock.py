"""Where the time goes, by label."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plyground.backend.clock import Clock, timed


@pytest.fixture
def sleep(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets the clock's time pass, and nothing else does."""
    now = [0.0]
    monkeypatch.setattr("plyground.backend.clock.time.perf_counter", lambda: now[0])

    def pass_time(seconds: float) -> None:
        now[0] += seconds

    return pass_time


def test_a_nested_functions_time_is_taken_from_the_outer_one(sleep: Callable[[float], None]) -> None:
    @timed("rules")
    def inner() -> None:
        sleep(2)

    @timed("replay")
    def outer() -> str:
        sleep(1)
        inner()
        sleep(4)
        return "result"

    clock = Clock("cpu")
    with clock:
        sleep(8)
        assert outer() == "result"
        sleep(16)
    assert clock.seconds == {"network": 24, "replay": 5, "rules": 2}


def test_a_function_within_one_of_the_same_label_is_not_counted_twice(sleep: Callable[[float], None]) -> None:
    @timed("rules")
    def inner() -> None:
        sleep(2)

    @timed("rules")
    def outer() -> None:
        sleep(1)
        inner()
        sleep(4)

    clock = Clock("cpu")
    with clock:
        outer()
        sleep(8)
    assert clock.seconds == {"network": 8, "rules": 7}


def test_time_outside_the_block_is_not_counted(sleep: Callable[[float], None]) -> None:
    inner, clock = timed("rules")(lambda: sleep(1)), Clock("cpu")
    for _ in range(2):
        sleep(10)
        inner()
        with clock:
            sleep(3)
    assert clock.seconds == {"network": 6}


def test_a_function_that_raises_gives_its_time_back(sleep: Callable[[float], None]) -> None:
    @timed("rules")
    def fails() -> None:
        sleep(1)
        raise ValueError("refused")

    clock = Clock("cpu")
    with clock:
        with pytest.raises(ValueError, match="refused"):
            fails()
        sleep(2)
    assert clock.seconds == {"network": 2, "rules": 1}
