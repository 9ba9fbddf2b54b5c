"""Tasks that nobody waits for, and words for errors."""

from __future__ import annotations

import asyncio
import logging

import pytest

from plyground.errors import InvalidValue
from plyground.web.tasks import Tasks, sentence
from served import run_async


def test_tasks_end_with_the_server_and_failures_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ValueError("broken")

    async def work() -> None:
        tasks = Tasks()
        waiting = tasks.start(asyncio.sleep(60))
        tasks.start(fail())
        await asyncio.sleep(0)
        await tasks.close()
        assert waiting.cancelled()
        assert not tasks.running

    with caplog.at_level(logging.ERROR, "plyground"):
        run_async(work())
    assert "has failed" in caplog.text


def test_a_foreign_error_is_told_by_its_kind_alone(caplog: pytest.LogCaptureFixture) -> None:
    assert sentence(InvalidValue("a depth of 0")) == "a depth of 0"
    told = sentence(ValueError("the cards are qh kd"))
    assert "ValueError" in told
    assert "qh" not in told
    assert "qh" in caplog.text, "the server's terminal shows it"
