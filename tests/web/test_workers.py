"""Worker processes: limits, cancelling, replacing."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import plyground as pg
from plyground.errors import Error
from plyground.web import thinking
from plyground.web.host import place_of
from plyground.web.worker import Job
from plyground.web.workers import Lane, WorkerFailed, Workers
from served import run_async

pytestmark = [pytest.mark.compiled, pytest.mark.once]
START = pg.load("connect_four").start()


async def answers(lane: Lane, job: Job, limit: float = 60.0) -> list[Any]:
    return [each async for each in lane.run(job, limit)]


def think(number: int, agent: str = "random") -> Job:
    return Job(number, "think", place_of(START), [agent, number])


def test_workers_think_fail_in_words_exceed_limits_and_are_replaced() -> None:
    """One test for all: a process takes a second to start."""

    async def work() -> None:
        workers = Workers(cores=2)
        lane = workers.lanes[""].slow
        try:
            await check_answers(workers)
            await check_errors(lane)
            await check_death(lane)
            await check_limit(lane)
            await check_cancelling(workers)
            pids = [slot.process.process for slot in lane.slots if slot.process]
        finally:
            await workers.close()
        assert all(process.returncode is not None for process in pids), "a stopped server leaves no process behind"

    run_async(work())


async def check_answers(workers: Workers) -> None:
    one, again = [await workers.think(place_of(START), "level:2", 5) for _ in range(2)]
    assert one.action == again.action, "the same seed, the same move, in either lane"
    assert (START.game.full, "level:2") in workers.seconds
    several = await asyncio.gather(*(workers.think(place_of(START), "level:2", seed) for seed in range(40)))
    assert {thought.action for thought in several} <= set(range(7))


async def check_errors(lane: Lane) -> None:
    with pytest.raises(Error, match="no agent"):
        await answers(lane, think(1001, "no_such_agent"))
    assert lane.free.qsize() == len(lane.slots), "its worker goes on"


async def check_death(lane: Lane) -> None:
    for slot in lane.slots:
        if slot.process:
            slot.process.process.kill()
            await slot.process.process.wait()
    assert len(await answers(lane, think(1002))) == 1


async def check_limit(lane: Lane) -> None:
    begun = time.monotonic()
    with pytest.raises(WorkerFailed, match=r"within 0\.5 s"):
        await answers(lane, think(1003, "minimax:time=30"), 0.5)
    assert time.monotonic() - begun < 10
    assert lane.free.qsize() == len(lane.slots)


async def check_cancelling(workers: Workers) -> None:
    """An analysis that is no longer wanted ends by itself, and its worker is used again."""
    lane = workers.lanes[""].analysing
    stream = workers.stream(thinking.analyse, place_of(START), "search:time=30")
    found = await anext(stream)
    assert found.analysis.moves
    assert lane.free.empty()
    process = lane.slots[0].process
    await stream.aclose()
    begun = time.monotonic()
    assert len(await answers(lane, think(1004))) == 1
    assert time.monotonic() - begun < 10
    assert lane.slots[0].process is process, "it was asked to stop, not ended"


def test_a_thought_is_an_action_and_its_time() -> None:
    found = thinking.think(START, "random", 1)
    assert found.action in START.legal()
    assert found.seconds > 0.0
