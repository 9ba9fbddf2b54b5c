"""Long games through the page's own tables and workers, without a browser: each ends by its rules or by a limit, while
workers are killed, pages leave and come back, moves are taken back, agents are stopped and sent on."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from plyground.web import requests, workers
from plyground.web.catalogue import YOU, Catalogue, seats_of
from plyground.web.host import place_of
from plyground.web.house import House
from plyground.web.learning import Runs
from plyground.web.page import Page
from plyground.web.store import Store
from plyground.web.thinking import think
from plyground.web.workers import ANSWERING, DIED, WorkerFailed, Workers
from served import run_async
from torture import Deadline, Report

ROOT = Path(__file__).parents[2]
FILES = ("examples/three_in_a_row.py", *(f"tests/tiny_games/{name}.py" for name in ("duel", "hops", "race")))
GAMES: list[tuple[str, dict[str, str]]] = [
    ("connect_four", {}),
    ("chess", {}),
    ("paco_sako", {}),
    ("paco_sako", {}),
    ("paco_sako", {"castling": "clean"}),
    ("sequence", {}),
    ("sequence", {"rules": "boxed", "seats": "4"}),
    *((Path(file).stem, {}) for file in FILES),
]
"""Paco Ŝako more often: its turns have several actions"""
ADDED = ("minimax:nodes=200", "minimax:nodes=2000", "search:sims=20", "minimax:nodes=5000")
SMALL = ("random", "greedy", "level:1", "level:2", "level:3", "level:4", "added:0", "added:1", "added:2")
LARGE = ("level:5", "level:6", "level:7", "level:8", "level:9")
OFTEN = 0.9  # share of small agents
TOGETHER = 3  # games at once
MOST_PLIES, MOST_ACTIONS = 500, 100  # of a game, and of one turn
MOST_UNDONE = 6  # times that moves of a game are taken back
PATIENCE = 200.0  # seconds until a table on which nothing happens is a finding
NOTICED = 2.0  # seconds within which a busy server notices that a process has died
DISTURBED = 0.15  # of the steps of a game
CIRCLE = "5k1r/ppp5/2n2a2/4pa1p/QjPbd2P/4E3/PPKT2P1/R4I2^b4B w 14 - - -"  # White may go round for ever
CIRCLING, ENDLESS = (
    "added:3",
    60,
)  # the agent that does if another process has begun its turn, and actions that prove it
SHARED = "actions of one turn by two processes"


@dataclass
class Tally:
    """What has been tried and found."""

    counts: Counter[str] = field(default_factory=Counter[str])
    findings: list[str] = field(default_factory=list[str])
    kills: list[float] = field(default_factory=list[float])
    """when processes were killed, by this proof or by the server"""


class Stuck(Exception):
    """A game in which something is wrong: it is left as it is."""


class Visitor:
    """A page without a socket that has one game open."""

    def __init__(self, house: House, tally: Tally, rng: random.Random) -> None:
        self.house, self.tally, self.rng = house, tally, rng
        self.table: dict[str, Any] = {}
        self.position: dict[str, Any] = {}
        self.opened = ""
        self.changed = time.monotonic()  # when the game went on last
        self.enter()

    def enter(self) -> None:
        self.page = Page()
        assert self.house.enter(self.page)

    async def send(self, request: Any) -> None:
        await self.house.handle(self.page, request)
        self.read()

    async def change(self, kind: Any, **fields: Any) -> None:
        await self.send(kind(table=self.opened, revision=self.table["revision"], **fields))

    def read(self) -> bool:
        """Read what the page was sent; whether its game has changed."""
        before = self.table
        while not self.page.waiting.empty():
            text = self.page.waiting.get_nowait()
            if text is None:
                raise Stuck("the page was disconnected")
            message = json.loads(text)
            if message["type"] == "table":
                if message["revision"] != self.table.get("revision"):
                    self.changed = time.monotonic()
                self.table = message
            elif message["type"] == "position":
                self.position = message
            elif message["type"] == "opened":
                self.opened = message["table"]
            elif message["type"] == "refused":
                raise Stuck(f"refused: {message['text']}")
            elif message["type"] == "failed":
                self._failed(message["text"])
        return self.table is not before

    def _failed(self, text: str) -> None:
        """An agent whose process was killed, and the next one that tried too, may say so: the game is paused then."""
        if DIED not in text or sum(at >= self.changed - NOTICED for at in self.tally.kills) < 2:
            raise Stuck(text)
        self.tally.counts["given up after kills"] += 1

    # ---- a game ----

    async def play(self, game: str, settings: dict[str, str], players: list[str], start: str = "") -> None:
        await self.send(requests.NewGame(game=game, settings=settings, players=players, text=start))
        await self.send(requests.Speed(table=self.opened, seconds=0.0))
        undone = 0
        while not self.table["over"] and len(self.table["moves"]) < MOST_PLIES:
            self.check_turn()
            if self.rng.random() < DISTURBED:
                undone += await self.disturb(undone < MOST_UNDONE)
            elif self.table["yours"]:
                action = self.rng.choice(self.position["choices"])["action"]
                await self.change(requests.Play, ply=len(self.table["moves"]), action=action)
            elif self.table["paused"]:
                await self.send(requests.Pause(table=self.opened, paused=False))
            else:
                await self.wait()

    def check_turn(self) -> None:
        """No turn without an end, and an agent that is to act thinks."""
        turns = Counter(move["turn"] for move in self.table["moves"])
        longest = max(turns.values(), default=0)
        self.tally.counts["longest turn"] = max(self.tally.counts["longest turn"], longest)
        if longest > MOST_ACTIONS:
            raise Stuck(f"a turn has {longest} actions")
        live = self.house.tables.live[self.opened]
        due = live.now.agent and not live.saved.paused
        if due and (live.thinker is None or live.thinker.done()):
            raise Stuck("an agent is to act, and nobody thinks")

    async def wait(self) -> None:
        """Until the game goes on."""
        until = time.monotonic() + PATIENCE
        while not self.read():
            self.check_turn()
            if time.monotonic() > until:
                raise Stuck(f"nothing has happened for {PATIENCE:.0f} s")
            await asyncio.sleep(0.001)

    # ---- disturbances ----

    async def disturb(self, may_undo: bool) -> int:
        """Something that happens on a page; the number of undone moves."""
        what = self.rng.choice(("kill", "leave", "undo", "put down", "pause", "speed", "delay"))
        if what == "kill":
            self.kill(self.rng.random() < 0.2)
        elif what == "leave":
            await self.come_back()
        elif what == "undo" and may_undo and self._has_played():
            await self.take_back("moves taken back", None)
            return 1
        elif what == "put down" and self.position.get("begun") and not self.table["over"]:
            await self.take_back("put down", self.position["begun"]["ply"])
        elif what == "pause":
            await self.send(requests.Pause(table=self.opened, paused=True))
            await asyncio.sleep(self.rng.choice((0.0, 0.05)))
            self.read()
            if not self.table["paused"]:
                raise Stuck("a game that was stopped goes on")
            self.tally.counts["stops"] += 1
            await self.send(requests.Pause(table=self.opened, paused=False))
        elif what == "speed":
            await self.send(requests.Speed(table=self.opened, seconds=self.rng.choice((0.0, 0.01))))
        elif what == "delay":
            await asyncio.sleep(0.02)
            self.read()
        return 0

    def kill(self, everyone: bool) -> None:
        """Kill one of the processes that think, or all of them."""
        slots = thinking_slots(self.house)
        alive = [slot.process for slot in slots if slot.process and slot.process.alive]
        for process in alive if everyone else alive and [self.rng.choice(alive)]:
            with suppress(ProcessLookupError):  # another game was quicker
                os.kill(process.process.pid, signal.SIGKILL)
            self.tally.kills.append(time.monotonic())
            self.tally.counts["kills"] += 1

    async def come_back(self) -> None:
        """The page is gone, and another one opens the game: from the disk, unless that is not written yet."""
        before = self._played()
        await self.house.leave(self.page)
        if self.rng.random() < 0.5:
            await asyncio.to_thread(self.house.tables.store.flush)
        await asyncio.sleep(self.rng.choice((0.0, 0.02)))
        self.enter()
        await self.send(requests.Open(table=self.opened))
        if self._played()[: len(before)] != before:
            raise Stuck(f"a game came back with other moves: {before} became {self._played()}")
        self.tally.counts["returns"] += 1

    def _has_played(self) -> bool:
        return any(self.table["players"][move["seat"]]["id"] == YOU for move in self.table["moves"])

    def _played(self) -> list[int]:
        return list(self.house.tables.live[self.opened].saved.actions)

    async def take_back(self, name: str, ply: int | None) -> None:
        before = len(self.table["moves"])
        await self.change(requests.Undo, ply=ply)
        if len(self.table["moves"]) >= before or not self.table["yours"]:
            raise Stuck(f"{before} moves became {len(self.table['moves'])} by undo")
        self.tally.counts[name] += 1


def thinking_slots(house: House) -> list[workers.Slot]:
    """The places of processes in which agents think, each once."""
    lanes = [lane for found in house.workers.lanes.values() for lane in (found.quick, found.slow)]
    return list(dict.fromkeys(slot for lane in lanes for slot in lane.slots))


# ---- many games ----


@asynccontextmanager
async def house_in(folder: Path) -> AsyncIterator[House]:
    """All of a server but its socket; at the end no table and no process may be left."""
    catalogue = Catalogue([str(ROOT / file) for file in FILES], ADDED, folder / "runs")
    house = House(catalogue, Store(folder / "tables"), Workers(cores=2), Runs(folder / "runs", catalogue))
    try:
        yield house
    finally:
        await house.close()


async def prepare(house: House, game: str, settings: dict[str, str], players: list[str], known: set[Any]) -> None:
    """Let agents compile before they are judged: a first time may take minutes."""
    loaded = await house.tables.ready(game, settings)
    for spec in {house.catalogue.choice(game, loaded, player).spec() for player in players if player != YOU}:
        while (loaded.full, spec) not in known:
            job = house.workers._job(think, place_of(loaded.start(0)), spec, 0)
            with suppress(WorkerFailed):  # another game has killed it
                await house.workers._one(house.workers.of(loaded.full).slow, job, ANSWERING)
                known.add((loaded.full, spec))


def draw_case(house: House, rng: random.Random) -> tuple[str, dict[str, str], list[str]]:
    """A game, its settings and who plays it; in two games of three a person does."""
    game, settings = rng.choice(GAMES)
    loaded = house.catalogue.load(game, settings)
    there = {each for each in house.catalogue.opponents(game, loaded) if not each.startswith("added")}
    sorts = {each.partition(":")[0] for each in there}
    there |= {f"added:{number}" for number, spec in enumerate(ADDED) if spec.partition(":")[0] in sorts}
    seats, chosen = seats_of(loaded), list[str]()
    while len(chosen) < seats:
        found = rng.choice(SMALL if rng.random() < OFTEN else LARGE)
        chosen += [found] * (found in there)
    if rng.random() < 2 / 3:
        chosen[rng.randrange(seats)] = YOU
    return game, settings, chosen


async def play_case(house: House, tally: Tally, seed: str, known: set[Any], start: str = "", **fixed: Any) -> None:
    """One game; a finding says what it was."""
    rng = random.Random(seed)
    game, settings, players = (fixed["game"], {}, fixed["players"]) if fixed else draw_case(house, rng)
    visitor = None
    try:
        await prepare(house, game, settings, players, known)
        visitor = Visitor(house, tally, rng)
        await visitor.play(game, settings, players, start)
        visitor.check_turn()
        tally.counts["ended by the rules" if visitor.table["over"] else f"ended after {MOST_PLIES} plies"] += 1
    except Exception as error:
        at = len(visitor.table.get("moves", [])) if visitor else 0
        sort = "" if isinstance(error, Stuck) else f"{type(error).__name__}: "
        tally.findings.append(f"{game} {settings} {players}, case {seed}, ply {at}: {sort}{error}")
    finally:
        tally.counts["games"] += 1
        if visitor is not None:
            tally.counts["plies"] += len(visitor.table.get("moves", []))
            tally.counts["turns"] += visitor.table["moves"][-1]["turn"] if visitor.table.get("moves") else 0
            await house.leave(visitor.page)


@contextmanager
def ends_noted(tally: Tally) -> Iterator[None]:
    """Count the processes that the server itself ends: a cancelled job had not ended within GRACE, or one took too
    long. All jobs that wait in such a process die with it, also those of other games."""
    end = workers.Process.end

    async def noted(process: workers.Process) -> None:
        tally.kills.append(time.monotonic())
        tally.counts["ended by the server"] += 1
        await end(process)

    with mock.patch.object(workers.Process, "end", noted):
        yield


async def longest_of_circling(house: House) -> int:
    """Actions of one turn, ENDLESS at most, in which two processes play the same agent by turns, as one that thinks for
    long does on the page."""
    visitor = Visitor(house, Tally(), random.Random(0))
    await prepare(house, "paco_sako", {}, [CIRCLING], set())
    with mock.patch.object(workers, "QUICK", 0.0):  # no agent is quick: all share the processes of the slow lane
        await visitor.send(requests.NewGame(game="paco_sako", players=[CIRCLING] * 2, text=CIRCLE))
        await visitor.send(requests.Speed(table=visitor.opened, seconds=0.0))
        while not visitor.table["over"] and {move["turn"] for move in visitor.table["moves"]} <= {1}:
            if len(visitor.table["moves"]) >= ENDLESS:
                break
            await visitor.wait()
        await house.leave(visitor.page)
    return sum(move["turn"] == 1 for move in visitor.table["moves"])


async def prove(seed: int, seconds: float) -> Tally:
    tally, deadline, known = Tally(), Deadline(seconds), set[Any]()
    random.seed(seed)  # the server draws the seeds of agents from it
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        async with house_in(Path(folder)) as house:
            numbers = iter(range(10**9))

            async def play_on() -> None:
                first = True
                while first or not deadline.over():
                    first = False
                    await play_case(house, tally, f"{seed}/{next(numbers)}", known)

            with ends_noted(tally):
                await asyncio.gather(*(play_on() for _ in range(TOGETHER)))
            tally.counts[SHARED] = await longest_of_circling(house)
            if tally.counts[SHARED] >= ENDLESS:
                tally.findings.append(f"two processes do not end a turn in {ENDLESS} actions")
            if house.tables.live:
                tally.findings.append(f"tables without a page stay in memory: {sorted(house.tables.live)}")
            lanes = [lane for found in house.workers.lanes.values() for lane in found.all()]
            processes = [slot.process for lane in lanes for slot in lane.slots if slot.process]
        tally.findings += [f"a process is left: {each}" for each in processes if each.process.returncode is None]
        tally.findings += [f"a task of the server has failed: {each}" for each in house.tasks.failures]
    return tally


def run(seed: int, seconds: float) -> Report:
    """TOGETHER games at once until the time is over, and one turn that two processes share."""
    deadline = Deadline(seconds)
    tally = run_async(prove(seed, seconds))
    return Report("page", tally.counts["games"], tally.findings, deadline.passed, dict(tally.counts))
