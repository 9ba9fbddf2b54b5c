"""Damaged files of kept games: the server starts, each costs its game alone, and a page is answered by a sentence.

A few games of each kind are played and kept. Each case changes one file: its bytes, or one value of its JSON. Then a
server's house is made of the folder, and a page opens the game, does all that a page can do with it, and deletes it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from plyground.agents.turns import Turn
from plyground.web import host, requests
from plyground.web.catalogue import YOU, Catalogue
from plyground.web.host import Place
from plyground.web.house import House
from plyground.web.learning import Runs
from plyground.web.page import Page
from plyground.web.requests import Clock
from plyground.web.store import Store
from plyground.web.thinking import Thought
from plyground.web.workers import Workers
from torture import MOST_FINDINGS, Deadline, Report
from torture.files import change_value, damage

KINDS: list[tuple[str, dict[str, str], list[str], bool]] = [
    ("connect_four", {}, [YOU, "level:1"], True),
    ("chess", {}, [YOU, YOU], True),
    ("chess", {}, ["random", "greedy"], False),
    ("paco_sako", {}, ["random", YOU], False),
    ("sequence", {}, [YOU, "random"], False),
    ("sequence", {"seats": "4", "rules": "boxed"}, ["random", "random", YOU, "random"], False),
]
"""game, settings, players, and whether there is a clock"""
PLIES = 24
UNKNOWN = "an error that it does not know"
NUMBERS: list[Any] = [
    0,
    -1,
    1,
    2,
    3,
    7,
    0.5,
    1e18,
    1e300,
    2**31,
    2**53,
    2**62,
    2**63 - 1,
    2**63,
    10**30,
    True,
    None,
    "",
]


class Idle(Workers):
    """Agents that never answer: what they would play is no matter here."""

    async def think(self, place: Place, agent: str, seed: int, turn: Turn | None = None) -> Thought:
        await asyncio.Event().wait()
        raise AssertionError


async def here(function: Callable[..., Any], *given: Any) -> Any:
    """In place of `asyncio.to_thread`: waking a thread takes longer than what it has to do."""
    return function(*given)


def house_of(folder: Path, catalogue: Catalogue) -> House:
    return House(catalogue, Store(folder), Idle(cores=1), Runs(folder / "runs", catalogue))


async def make_games(folder: Path, catalogue: Catalogue, rng: random.Random) -> list[bytes]:
    """The files of games of each kind: running, with moves taken back, resigned."""
    house, page = house_of(folder, catalogue), Page()
    for game, settings, players, clock in KINDS:
        for plies in (0, PLIES, PLIES):
            time = Clock(60.0, 1.0) if clock else None
            await house.handle(page, requests.NewGame(game=game, settings=settings, players=players, clock=time))
            (live,) = (house.tables.live[name] for name in page.tables)
            table = host.TABLES[live.saved.id]
            for ply in range(plies):
                action = 0 if table.over else rng.choice(table.position.legal())
                if table.agent_to_move:
                    table.reply(action)
                elif not table.over:
                    table.play(ply, action)
            await house.handle(page, requests.Pause(table=table.id, paused=True))
            if plies and rng.random() < 0.5:
                await house.handle(page, requests.Resign(table=table.id, revision=table.saved.revision))
            await house.handle(page, requests.Close(table=table.id))
    await house.tasks.close()
    house.tables.store.flush()
    return [path.read_bytes() for path in sorted(folder.glob("*.json"))]


def change(rng: random.Random, content: bytes) -> bytes:
    """Other bytes, another value anywhere, or another number."""
    choice = rng.random()
    if choice < 0.3:
        return damage(rng, content)
    whole = json.loads(content)
    if choice < 0.7:
        return json.dumps(change_value(rng, whole)).encode()
    saved = whole["saved"]
    numbers = [name for name, value in saved.items() if isinstance(value, int | float | list)]
    name = rng.choice(numbers)
    if isinstance(saved[name], list):
        others = [rng.choice(saved[name] or NUMBERS), rng.choice(NUMBERS), *NUMBERS[:4]]
        place = rng.randint(0, len(saved[name]))
        saved[name][place : place + rng.randint(0, 3)] = others[: rng.choice((0, 1, 1, 2, 2000))] * rng.choice(
            (1, 1, 2000)
        )
    else:
        saved[name] = rng.choice(NUMBERS)
    return json.dumps(whole).encode()


async def visit(folder: Path, catalogue: Catalogue, name: str, other: str) -> list[str]:
    """A server starts, and a page does with a game what it can; what goes wrong beyond a sentence."""
    house, page, found = house_of(folder, catalogue), Page(), list[str]()
    store = house.tables.store
    if {name, other} - {info.id for info in store.newest(9)}:
        found.append("a game is not in the list")
    store.read(other)  # an error where that one suffers too
    await house.handle(page, requests.Open(table=name))
    if name in page.tables:
        table = host.TABLES[name]
        for ply in {0, len(table.moves) // 2, len(table.moves)}:
            await house.handle(page, requests.Look(table=name, ply=ply))
            await house.handle(page, requests.CopyGame(table=name, ply=ply))
        for _ in range(2):
            await house.handle(page, requests.Pause(table=name, paused=True))
            await house.handle(page, requests.Undo(table=name, revision=table.saved.revision))
            choices = table.position_message(len(table.moves)).choices
            for choice in choices[:1]:
                play = requests.Play(
                    table=name, revision=table.saved.revision, ply=len(table.moves), action=choice.action
                )
                await house.handle(page, play)
            await house.handle(page, requests.Resign(table=name, revision=table.saved.revision))
        await house.handle(page, requests.Fork(table=name, ply=0))
        await house.handle(page, requests.Close(table=name))
        store.flush()
        store.read(name)  # what was played on can be read again
    for kept in set(store.infos) - {other}:
        await house.handle(page, requests.Delete(table=kept))
    if {path.stem for path in folder.glob("*.json")} != {other}:
        found.append("it cannot be deleted")
    await house.tasks.close()
    while not page.waiting.empty():
        text = page.waiting.get_nowait() or ""
        if UNKNOWN in text or ('"refused"' in text and len(text) > 2_000):
            found.append(text[:300])
    return found


async def _run(folder: Path, rng: random.Random, report: Report, deadline: Deadline) -> None:
    catalogue = Catalogue([], [], folder / "runs")
    whole = await make_games(folder / "whole", catalogue, rng)
    tables = folder / "tables"
    tables.mkdir()
    while not report.cases or (not deadline.over() and len(report.findings) < MOST_FINDINGS):
        content, beside = rng.choice(whole), rng.choice(whole)
        name, other = (json.loads(each)["saved"]["id"] for each in (content, beside))
        if name == other:
            continue
        changed = change(rng, content)
        (tables / f"{name}.json").write_bytes(changed)
        (tables / f"{other}.json").write_bytes(beside)
        try:
            found = await visit(tables, catalogue, name, other)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            found = [f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {str(error)[:200]}"]
        report.findings += [f"case {report.cases}: {each} from {changed[:2000]!r}" for each in found]
        for path in tables.iterdir():
            path.unlink()
        report.cases += 1


def run(seed: int, seconds: float) -> Report:
    """Change files and visit the games until the time is over."""
    deadline, report = Deadline(seconds), Report("store", 0, [], 0.0)
    no_sync = patch.object(os, "fsync", lambda _: None)  # no power is lost here
    with tempfile.TemporaryDirectory() as name, no_sync, patch.object(asyncio, "to_thread", here):
        asyncio.run(_run(Path(name), random.Random(seed), report, deadline))
    report.seconds = deadline.passed
    return report
