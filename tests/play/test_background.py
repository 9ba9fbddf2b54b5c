"""Steps in the background: their order, their results, their failures, and silence."""

from __future__ import annotations

import logging
import threading

import pytest
from numba import njit

from plyground.errors import InvalidValue
from plyground.play.background import Background, compiling


def test_steps_run_in_their_order_and_tell_how_far_they_are() -> None:
    gate, seen = threading.Event(), list[str]()

    def first() -> int:
        gate.wait(10)
        seen.append("first")
        return 1

    background = Background({"rules": first, "hints": lambda: seen.append("second")})
    assert background.progress == "rules, 1 of 2"
    assert compiling()
    assert not background.done("rules")
    gate.set()
    assert background.futures["rules"].result(10) == 1
    background.futures["hints"].result(10)
    assert seen == ["first", "second"]
    assert background.progress == ""
    background.thread.join(10)
    assert not compiling()


def test_reading_what_was_compiled_before_is_not_compiling() -> None:
    gate = threading.Event()
    background = Background({"rules": lambda: gate.wait(10)})
    assert background.progress
    assert not background.compiles(0.05)
    gate.set()
    background.thread.join(10)
    assert not background.compiles(10)


@pytest.mark.compiled
def test_compiling_is_told_from_its_beginning_to_the_last_step() -> None:
    gate = threading.Event()
    background = Background({"rules": lambda: njit(lambda: 1)(), "hints": lambda: gate.wait(10)})
    assert background.compiles(10)
    gate.set()
    background.thread.join(10)
    assert not background.compiles()


def test_a_failure_is_told_where_the_result_is_needed_and_stops_no_other_step() -> None:
    def fail() -> None:
        raise InvalidValue("no such run")

    background = Background({"agent": fail, "hints": lambda: 2})
    assert background.futures["hints"].result(10) == 2
    with pytest.raises(InvalidValue, match="no such run"):
        background.futures["agent"].result(10)


def test_after_the_end_no_step_begins() -> None:
    gate = threading.Event()
    background = Background({"rules": lambda: gate.wait(10), "hints": lambda: pytest.fail("it began")})
    background.end()
    gate.set()
    background.thread.join(10)
    assert not background.done("hints")


def test_notices_of_the_compiler_are_not_printed_but_warnings_and_those_of_others_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log, gate = logging.getLogger("plyground"), threading.Event()

    def step() -> None:
        log.info("compiling chess")
        log.warning("the rules have changed")
        gate.wait(10)

    background = Background({"rules": step})
    log.info("from elsewhere")
    gate.set()
    background.thread.join(10)
    log.info("afterwards")
    told = capsys.readouterr().err
    assert "compiling chess" not in told
    assert all(words in told for words in ("the rules have changed", "from elsewhere", "afterwards"))
