"""Tables on the server's disk: a file for each game, and the list of them.

A game is on disk before a page is shown its change: `keep` lets a thread write it at once, and what is sent to a page
waits for `written`. Each file is written aside, synced and renamed, as checkpoints are.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Container, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from plyground.errors import InvalidValue, counted, plain_os_errors, shorten, unknown
from plyground.private_folder import cache_folder, make_folder
from plyground.runs import files
from plyground.web.messages import TableInfo
from plyground.web.requests import Text
from plyground.web.table import FORMAT, Saved

MOST = 1_000  # games that are kept
WRITERS = 4  # files that are written at once: 300 games take 80 ms so, 260 ms one after the other
PATIENCE = 0.25  # seconds that a page waits for a slow disk; then it is shown what is not on disk yet
LARGEST = 2**24  # bytes of a file
LAST = 2**53  # the largest number of a change
WORDS = 300  # characters of a title or a status in the list
DAMAGED, DAMAGED_LISTED = "A game whose file is damaged", 10
ID = re.compile(r"[0-9a-f]{16}")
LEFT = re.compile(r"\.?[0-9a-f]{16}(\.json)?\.partial")  # a file that a killed server was writing


class Index(msgspec.Struct):
    """A file: the game, and what the list of games needs beside."""

    saved: Saved
    title: Text
    order: Annotated[int, Meta(ge=0, le=LAST)] = 0
    """greater than those of all games that had changed before: the clock may be wrong"""


class Change:
    """What is to be written of a game."""

    def __init__(self, data: bytes) -> None:
        self.data, self.begun, self.since = data, False, time.monotonic()
        self.tried = Future[None]()  # done when it is on disk, or the disk has refused it

    def settle(self) -> None:
        if not self.tried.done():
            self.tried.set_result(None)


def default_folder() -> Path:
    """Where games are kept: beside the compiled games, in the user's private folder."""
    return cache_folder() / "tables"


class Store:
    """The games of a folder; the list is read once and kept in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.infos: dict[str, TableInfo] = {}  # those of damaged files name no game
        self.orders: dict[str, int] = {}
        self.changes: dict[str, Change] = {}  # the newest of each game that is not on disk
        self.jobs: dict[str, Future[None]] = {}  # games that are being written
        self.lock = threading.Lock()  # for these two; nobody holds it while the disk works
        self.writers = ThreadPoolExecutor(WRITERS, "games")
        with plain_os_errors(f"keep games in {folder}"):
            make_folder(folder)
            for path in folder.iterdir():
                if LEFT.fullmatch(path.name):
                    path.unlink(missing_ok=True)
                elif path.suffix == ".json" and ID.fullmatch(name := path.stem):
                    try:
                        found = _decode(_content(path), name)
                        self.infos[name], self.orders[name] = _info(found.saved, found.title), found.order
                    except InvalidValue:
                        self.infos[name] = TableInfo(name, "", DAMAGED, 0, "delete it", True, 0.0)
        self.last = max(self.orders.values(), default=0)

    def read(self, name: str) -> Saved:
        """A game; an error where there is none or its file is damaged."""
        if name not in self.infos:
            raise unknown("game on this server", name, ())
        with self.lock:
            change = self.changes.get(name)
        return _decode(change.data if change else _content(self._path(name)), name).saved

    # ---- writing ----

    def keep(self, saved: Saved, title: str) -> None:
        """Put a game on the list and have it written; `written` waits for that."""
        name, before = saved.id, self.infos.get(saved.id)
        self.infos[name] = _info(saved, title)
        if before is None or before.changed != saved.changed:
            self.last = self.orders[name] = min(self.last + 1, LAST)
        data = msgspec.json.encode(Index(saved, title, self.orders.get(name, 0)))
        with self.lock:
            change = self.changes.get(name)
            if change is not None and not change.begun:
                change.data = data
            else:
                self.changes[name] = Change(data)
            self._begin(name)

    def _begin(self, name: str) -> None:
        if name not in self.jobs:
            self.jobs[name] = self.writers.submit(self._write, name)

    def _write(self, name: str) -> None:
        """Write a game until its file is as the game is. What the disk refuses waits for `flush`."""
        while True:
            with self.lock:
                change = self.changes.get(name)
                if change is None:
                    del self.jobs[name]
                    return
                change.begun = True
            try:
                with plain_os_errors(f"keep the game in {self._path(name)}"):
                    files.replace(self._path(name), change.data)
                    change.settle()  # no kill takes it back; a power loss may, until the folder is synced
                    files.sync_folder(self.folder)
            except BaseException:
                with self.lock:
                    change.begun = False
                    del self.jobs[name]
                raise
            else:
                with self.lock:
                    if self.changes.get(name) is change:
                        del self.changes[name]
            finally:
                change.settle()

    async def written(self, names: Iterable[str]) -> None:
        """Wait until games are on disk as they are now. A disk that refuses them or is too slow holds up nobody."""
        with self.lock:
            waiting = [found for name in names if (found := self.changes.get(name)) and not found.tried.done()]
        left = min((each.since for each in waiting), default=0.0) + PATIENCE - time.monotonic()
        if waiting and left > 0:
            await asyncio.wait([asyncio.wrap_future(each.tried) for each in waiting], timeout=left)

    def flush(self) -> None:
        """Wait until all games are on disk, and try those again that could not be written; an error for the first that
        cannot. A crash leaves a file as it was before, or as it is now."""
        with self.lock:
            for name in self.changes:
                self._begin(name)
            jobs = list(self.jobs.values())
        wait(jobs)
        for job in jobs:
            job.result()

    # ---- room ----

    def make_room(self, in_use: Container[str]) -> TableInfo | None:
        """Before a new game: where MOST games are kept, remove the oldest one that is over or empty and not in use. An
        error where there is none: an unfinished game is never removed."""
        games = [each for each in self.infos.values() if each.game]
        if len(games) < MOST:
            return None
        spare = [each for each in games if (each.over or not each.plies) and each.id not in in_use]
        if not spare:
            raise InvalidValue(f"{counted(len(games), 'unfinished game')} are kept here: delete one")
        oldest = min(spare, key=self._age)
        self.remove(oldest.id)
        return oldest

    def remove(self, name: str) -> None:
        with self.lock:
            self.changes.pop(name, None)
            job = self.jobs.get(name)
        if job is not None:
            wait([job])
        with plain_os_errors(f"remove the game {name}"):
            self._path(name).unlink(missing_ok=True)
            files.sync_folder(self.folder)
        self.infos.pop(name, None)
        self.orders.pop(name, None)

    def newest(self, count: int) -> list[TableInfo]:
        """The games that have changed last; before them some damaged ones, which a person can only delete."""
        damaged = [each for each in self.infos.values() if not each.game][: min(DAMAGED_LISTED, count)]
        games = sorted((each for each in self.infos.values() if each.game), key=self._age, reverse=True)
        return [*damaged, *games[: count - len(damaged)]]

    def _age(self, info: TableInfo) -> tuple[int, float]:
        """Greater for games that have changed later; the time decides between those of earlier versions alone."""
        return self.orders.get(info.id, 0), info.changed

    def _path(self, name: str) -> Path:
        if not ID.fullmatch(name):
            raise unknown("game on this server", name, ())
        return self.folder / f"{name}.json"


_decoder = msgspec.json.Decoder(Index)


def _info(saved: Saved, title: str) -> TableInfo:
    """A game's row of the list. Every page is sent the list, and a game of a person's own may write long words."""
    short, plies, status = shorten(title, WORDS), len(saved.actions), shorten(saved.status, WORDS)
    return TableInfo(saved.id, saved.game, short, plies, status, saved.over, saved.changed)


def _content(path: Path) -> bytes:
    """A file's content; nothing where it cannot be read or is none of ours."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST)
    except OSError:
        return b""


def _decode(data: bytes, name: str) -> Index:
    """A kept game; an error where it is damaged or another one."""
    try:
        found = _decoder.decode(data)
        if found.saved.format == FORMAT and found.saved.id == name:
            return found
    except (ValueError, RecursionError):  # msgspec's errors are such, and those of bytes that are no UTF-8
        pass
    raise InvalidValue(f"the file of the game {name} is damaged: delete the game")
