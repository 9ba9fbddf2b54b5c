"""Hints and analyses without a server: how many there are at a time, and how long they last."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any, cast

import pytest

import plyground as pg
from plyground.web import host, requests
from plyground.web.catalogue import Catalogue
from plyground.web.house import House
from plyground.web.page import Page
from plyground.web.store import Store
from plyground.web.table import FORMAT, Saved
from plyground.web.tables import Live
from served import run_async

pytestmark = [pytest.mark.compiled, pytest.mark.once]
NAME = "0" * 16


class Busy:
    """Stands in for workers that never answer."""

    def __init__(self) -> None:
        self.asked = self.working = 0

    async def ask(self, *arguments: Any) -> None:
        self.asked += 1
        self.working += 1
        try:
            await asyncio.sleep(60.0)
        finally:
            self.working -= 1


async def at_a_table(folder: Path, workers: Any) -> tuple[House, Page]:
    """A server whose one page looks at a game of Connect Four between two people."""
    page, house = Page(), House(Catalogue(), Store(folder), workers, cast(Any, None))
    saved = Saved(FORMAT, NAME, "connect_four", {}, ["you", "you"], ["You", "You"], 7, "", [])
    game = pg.load("connect_four")
    live = Live(game, host.change(game, saved, "", {}, False), [None, None])
    house.tables.live[NAME] = live
    live.pages.add(page)
    page.tables.add(NAME)
    return house, page


def test_an_analysis_that_is_replaced_before_it_begins_leaves_nothing_behind(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    async def ask() -> None:
        house, page = await at_a_table(tmp_path, Busy())
        for number in (1, 2):
            await house.study.analyse(page, requests.Analyse(request=number, table=NAME, ply=0))
        await house.leave(page)
        await asyncio.sleep(0.01)

    run_async(ask())
    gc.collect()
    assert not [each for each in recwarn if "never awaited" in str(each.message)]


def test_a_page_has_one_hint_at_a_time_and_none_when_it_is_gone(tmp_path: Path) -> None:
    async def ask() -> tuple[list[int], list[Any]]:
        workers, working = Busy(), list[int]()
        house, page = await at_a_table(tmp_path, workers)
        for number in (1, 2, 3):
            house.study.hint(page, requests.Hint(request=number, table=NAME))
            await asyncio.sleep(0.01)
            working.append(workers.working)
        sent = [json.loads(page.waiting.get_nowait() or "") for _ in range(page.waiting.qsize())]
        await house.leave(page)
        await asyncio.sleep(0.01)
        return [*working, workers.working], sent

    working, sent = run_async(ask())
    assert working == [1, 1, 1, 0]
    assert [(each["type"], each["request"]) for each in sent] == [("refused", 1), ("refused", 2)]
