"""Tables on the server's disk: a file for each game, and the list of them."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import msgspec

from plyground.errors import InvalidValue, plain_os_errors, unknown
from plyground.kernels.private import cache_folder
from plyground.web.messages import TableInfo
from plyground.web.table import FORMAT, Saved

MOST = 1_000  # games that are kept; beyond that the oldest go
ID = re.compile(r"[0-9a-f]{16}")


class Index(msgspec.Struct):
    """What the list of games shows; the fields of `Saved` and the title."""

    saved: Saved
    title: str


def default_folder() -> Path:
    """Where games are kept: beside the compiled games, in the user's private folder."""
    return cache_folder() / "tables"


class Store:
    """The games of a folder; the list is read once and kept in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with plain_os_errors(f"keep games in {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
        self.infos: dict[str, TableInfo] = {}
        self.unwritten: dict[str, bytes] = {}
        self.lock = threading.Lock()  # files are written in a thread: renaming may wait for the disk
        for path in folder.glob("*.json"):
            if ID.fullmatch(path.stem) and (found := _read(path)) is not None:
                self.infos[path.stem] = _info(found)

    def read(self, name: str) -> Saved:
        """A game; an error where there is none or its file is damaged."""
        if name not in self.infos:
            raise unknown("game on this server", name, ())
        with self.lock:  # one that is being written is on disk then
            waiting = self.unwritten.get(name)
        found = _read(self._path(name)) if waiting is None else _decode(waiting, name)
        if found is None:
            raise InvalidValue(f"the file of the game {name} is damaged: delete the game")
        return found.saved

    def keep(self, saved: Saved, info: TableInfo) -> None:
        """Put a game on the list; `flush` writes it."""
        self.infos[saved.id] = info
        self.unwritten[saved.id] = msgspec.json.encode(Index(saved, info.title))
        if len(self.infos) > MOST:
            oldest = min(self.infos.values(), key=lambda each: each.changed)
            self.remove(oldest.id)

    def flush(self) -> None:
        """Write what has changed. A crash leaves a file as it was before, or as it is now; what could not be written
        waits for the next time, after the others."""
        with self.lock:
            for name in list(self.unwritten):
                data = self.unwritten.pop(name, None)
                if data is None:  # removed meanwhile
                    continue
                try:
                    self._write(self._path(name), data)
                except BaseException:
                    self.unwritten.setdefault(name, data)  # unless it has changed meanwhile
                    raise

    def _write(self, path: Path, data: bytes) -> None:
        aside = path.with_suffix(".partial")
        with plain_os_errors(f"keep the game in {path}"):
            aside.write_bytes(data)
            aside.replace(path)

    def remove(self, name: str) -> None:
        self.infos.pop(name, None)
        with self.lock, plain_os_errors(f"remove the game {name}"):
            self.unwritten.pop(name, None)
            self._path(name).unlink(missing_ok=True)

    def newest(self, count: int) -> list[TableInfo]:
        return sorted(self.infos.values(), key=lambda each: -each.changed)[:count]

    def _path(self, name: str) -> Path:
        if not ID.fullmatch(name):
            raise unknown("game on this server", name, ())
        return self.folder / f"{name}.json"


def _info(found: Index) -> TableInfo:
    saved = found.saved
    plies = len(saved.actions)
    return TableInfo(saved.id, saved.game, found.title, plies, saved.status, saved.over, saved.changed)


def _read(path: Path) -> Index | None:
    """A game's file; None where it cannot be read."""
    try:
        return _decode(path.read_bytes(), path.stem)
    except OSError:
        return None


def _decode(data: bytes, name: str) -> Index | None:
    """A kept game; None where it is damaged or another one."""
    try:
        found = msgspec.json.decode(data, type=Index)
    except msgspec.DecodeError:
        return None
    return found if found.saved.format == FORMAT and found.saved.id == name else None
