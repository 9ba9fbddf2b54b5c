"""The proof `page`: it finds nothing but what is known, and it can find."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from conftest import JIT
from plyground.web.store import Store
from plyground.web.tables import Tables
from plyground.web.thinking import Thought
from plyground.web.workers import DIED, WorkerFailed, Workers
from served import run_async
from torture import Report, page

pytestmark = [pytest.mark.once, pytest.mark.skipif(not JIT, reason="too slow without the compiler")]


@pytest.fixture(scope="module")
def report() -> Report:
    return page.run(seed=0, seconds=4.0)


def test_long_games_on_the_page_end(report: Report) -> None:
    assert report.findings == []
    assert report.cases >= page.TOGETHER


def test_two_processes_that_play_a_turn_in_turn_end_it(report: Report) -> None:
    assert 1 < report.counts[page.SHARED] < page.ENDLESS


async def first(*_: Any) -> Thought:
    return Thought(0, None, 0.0)


async def illegal(*_: Any) -> Thought:
    return Thought(10**6, None, 0.0)


async def never(*_: Any) -> Thought:
    await asyncio.sleep(60)
    return Thought(0, None, 0.0)


async def dying(*_: Any) -> Thought:
    raise WorkerFailed(DIED)


@pytest.mark.parametrize(
    ("patches", "finding"),
    [
        ([(Workers, "think", illegal)], "random has failed: it has chosen the action 1000000, which is not legal"),
        ([(Workers, "think", dying)], DIED),
        ([(Workers, "think", never), (page, "PATIENCE", 0.1)], "nothing has happened for 0 s"),
        ([(Workers, "think", first), (page, "MOST_ACTIONS", 0)], "a turn has 1 actions"),
        ([(Tables, "_continue", lambda self, live: None)], "an agent is to act, and nobody thinks"),  # pyright: ignore
    ],
    ids=["illegal", "dying", "waiting", "endless turn", "forgotten"],
)
def test_it_finds(patches: list[tuple[Any, str, Any]], finding: str, tmp_path: Path) -> None:
    (found,) = run_async(findings(tmp_path, patches))
    assert finding in found


async def findings(folder: Path, patches: list[tuple[Any, str, Any]]) -> list[str]:
    tally = page.Tally()

    async def ready(*_: Any) -> None: ...

    async with page.house_in(folder) as house:
        with mock.patch.multiple(page, prepare=ready, DISTURBED=0.0):
            patched = [mock.patch.object(*patch) for patch in patches]
            for patch in patched:
                patch.start()
            try:
                await page.play_case(house, tally, "0", set(), game="connect_four", players=["random", "random"])
            finally:
                for patch in patched:
                    patch.stop()
    return tally.findings


def test_it_finds_a_game_that_comes_back_with_fewer_moves(tmp_path: Path) -> None:
    read = Store.read

    def forgetful(store: Store, name: str) -> Any:
        saved = read(store, name)
        saved.actions.pop()
        return saved

    async def work() -> None:
        async with page.house_in(tmp_path) as house:
            visitor = page.Visitor(house, page.Tally(), random.Random(0))
            await visitor.send(page.requests.NewGame(game="chess", players=["you", "you"], text="1. e4 e5"))
            await visitor.come_back()
            with mock.patch.object(Store, "read", forgetful):
                await visitor.come_back()

    with pytest.raises(page.Stuck, match="a game came back with other moves"):
        run_async(work())
