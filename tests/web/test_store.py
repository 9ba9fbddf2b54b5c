"""Games on the server's disk."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plyground.errors import Error
from plyground.runs import files
from plyground.web import store as module
from plyground.web.store import Store
from plyground.web.table import FORMAT, Saved

A, B = "a" * 16, "b" * 16


def saved(name: str, changed: float = 0.0, actions: int = 2, over: bool = False) -> tuple[Saved, str]:
    game = Saved(FORMAT, name, "chess", {}, ["you", "random"], ["You", "random"], 1, "", [3] * actions, changed=changed)
    game.over, game.status = over, "White to move"
    return game, "Chess"


def kept(folder: Path, *names: str) -> Store:
    """A folder with games, the last one the newest."""
    store = Store(folder)
    for number, name in enumerate(names):
        store.keep(*saved(name, float(number)))
    store.flush()
    return store


@contextmanager
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> Generator[threading.Event]:
    """A disk that writes when the event is set."""
    write, ready = files.replace, threading.Event()

    def waiting(path: Path, content: bytes) -> None:
        ready.wait(20.0)
        write(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(files, "replace", waiting)
        yield ready
        ready.set()


def test_games_are_there_after_a_restart(tmp_path: Path) -> None:
    kept(tmp_path, A, B)
    again = Store(tmp_path)
    assert [info.id[0] for info in again.newest(5)] == ["b", "a"]
    assert again.read(A).actions == [3, 3]


def test_a_game_is_read_as_it_is_now_even_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    with slow_disk(monkeypatch):
        store.keep(*saved(A))
        assert store.read(A).id == A


# ---- written before it is shown ----


def test_a_game_is_on_disk_before_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 60.0)
    store = Store(tmp_path)

    async def play() -> None:
        for plies in range(30):
            store.keep(*saved(A, float(plies), plies))
            await store.written([A, B])
            assert len(Store(tmp_path).read(A).actions) == plies

    asyncio.run(play())
    store.flush()
    assert store.changes == {} == store.jobs


def test_changes_that_come_while_the_disk_works_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes, store, replace = list[int](), Store(tmp_path), files.replace

    def counting(path: Path, content: bytes) -> None:
        replace(path, content)
        writes.append(len(json.loads(content)["saved"]["actions"]))

    monkeypatch.setattr(files, "replace", counting)
    with slow_disk(monkeypatch) as ready:
        store.keep(*saved(A, 1.0, 1))
        while not store.changes[A].begun:
            time.sleep(0.001)
        for plies in range(2, 50):
            store.keep(*saved(A, float(plies), plies))
        ready.set()
        store.flush()
    assert writes == [1, 49]


def test_a_slow_disk_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)

    async def seconds() -> float:
        begun = time.monotonic()
        await store.written([A])
        return time.monotonic() - begun

    with slow_disk(monkeypatch):
        store.keep(*saved(A))
        assert module.PATIENCE * 0.8 < asyncio.run(seconds()) < module.PATIENCE + 5
        assert asyncio.run(seconds()) < module.PATIENCE / 2, "nor does it hold up each message anew"


def test_a_game_that_could_not_be_written_waits_for_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(files, "replace", fail)
        store.keep(*saved(A))
        asyncio.run(store.written([A]))
        with pytest.raises(Error, match=r"cannot keep the game in .*: No space left on device"):
            store.flush()
        assert store.read(A).actions == [3, 3]
    store.flush()
    assert Store(tmp_path).read(A).actions == [3, 3]
    assert not store.changes


def fail(*arguments: object) -> None:
    raise OSError(28, "No space left on device")


def test_what_a_killed_server_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    kept(tmp_path, A)
    for name in (f".{B}.json.partial", f"{B}.partial", "notes.partial", ".notes"):
        (tmp_path / name).write_text("{")
    Store(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".notes", f"{A}.json", "notes.partial"]


def test_a_removed_game_stays_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    with slow_disk(monkeypatch) as ready:
        store.keep(*saved(A))
        threading.Timer(0.1, ready.set).start()
        store.remove(A)  # also while it is being written
    store.flush()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Error, match="no game"):
        store.read(A)


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 16, "a" * 15, "a" * 16 + "/.."])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(Error):
        Store(tmp_path).read(name)
    with pytest.raises(Error):
        Store(tmp_path).remove(name)


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_games_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        for folder in (tmp_path / "new" / "tables", shared):
            kept(folder, A)
            assert mode(folder / f"{A}.json") == 0o600
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == mode(tmp_path / "new" / "tables") == 0o700
    assert mode(shared) == 0o755, "a folder that was there keeps its mode"
    (shared / f"{A}.json").chmod(0o640)
    kept(shared, A)
    assert mode(shared / f"{A}.json") == 0o640, "so does a file"


# ---- damaged files ----

ODD: dict[str, Any] = {
    "outcome": [7, -1, 2.5, None],
    "actions": [[-1], [2**70], ["4"], [3] * 2_001, None],
    "seed": [-1, 2**64, 0.5],
    "players": [[], ["you"] * 17, "you"],
    "names": [[]],
    "clocks": [[1.0, 2.0, 3.0], [1e300, 1.0]],
    "clock_history": [[[1.0]], [[1.0] * 3], [[1.0, 1.0]] * 2_002],
    "speed": [-1.0, 1e9],
    "revision": [-1, 2**60],
    "changed": [1e300],
    "text": ["x" * 400_001],
    "format": [99],
    "id": ["b" * 16],
    "unknown": [1],
}


def damaged_contents() -> dict[str, bytes]:
    whole = msgspec.json.encode(module.Index(saved(A)[0], "Chess"))
    found = {
        "empty": b"",
        "cut": whole[:50],
        "no UTF-8": whole.replace(b"random", b"rand\xffm"),
        "deep": b"[" * 100_000,
        "not a number": whole.replace(b'"seed":1', b'"seed":NaN'),
        "infinite": whole.replace(b'"speed":0.0', b'"speed":1e999'),
        "huge": b" " * module.LARGEST + whole,
    }
    for field, values in ODD.items():
        for number, value in enumerate(values):
            other = json.loads(whole)
            other["saved"][field] = value
            found[f"{field} {number}"] = json.dumps(other).encode()
    return found


@pytest.mark.parametrize("kind", damaged_contents())
def test_a_damaged_file_costs_its_game_alone(tmp_path: Path, kind: str) -> None:
    kept(tmp_path, A, B)
    (tmp_path / f"{A}.json").write_bytes(damaged_contents()[kind])
    store = Store(tmp_path)
    first, other = store.newest(5)
    assert (first.id, first.title, first.status) == (A, module.DAMAGED, "delete it")
    assert other.id == B
    with pytest.raises(Error, match=f"the file of the game {A} is damaged: delete the game"):
        store.read(A)
    store.remove(A)
    assert [path.stem for path in tmp_path.iterdir()] == [B]
    assert [info.id for info in Store(tmp_path).newest(5)] == [B]


def test_a_game_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    game = saved(A)[0]
    (tmp_path / f"{A}.json").write_bytes(msgspec.json.encode({"saved": game, "title": "Chess"}))
    assert Store(tmp_path).read(A) == game


def test_damaged_files_do_not_take_the_list(tmp_path: Path) -> None:
    kept(tmp_path, *(f"{number:016x}" for number in range(30)))
    for number in range(15):
        (tmp_path / f"{number:016x}.json").write_text("{")
    names = [info.title for info in Store(tmp_path).newest(20)]
    assert names == [module.DAMAGED] * module.DAMAGED_LISTED + ["Chess"] * 10


# ---- room, and clocks that are wrong ----


def test_the_order_of_games_is_that_of_their_changes_whatever_the_clock_says(tmp_path: Path) -> None:
    for number in range(3):  # a clock that goes back by an hour before each restart
        store = Store(tmp_path)
        store.keep(*saved(f"{number:016x}", 9e9 - 3600.0 * number))
        store.flush()
    assert [int(info.id) for info in Store(tmp_path).newest(9)] == [2, 1, 0]


def test_the_order_survives_a_file_with_the_largest_number(tmp_path: Path) -> None:
    index = module.Index(saved(A)[0], "Chess", module.LAST)
    (tmp_path / f"{A}.json").write_bytes(msgspec.json.encode(index))
    kept(tmp_path, B)
    assert {info.id for info in Store(tmp_path).newest(9)} == {A, B}
    assert Store(tmp_path).read(B).id == B


def test_a_game_that_is_only_opened_keeps_its_place(tmp_path: Path) -> None:
    store = kept(tmp_path, A, B)
    store.keep(*saved(A, 0.0))
    assert [info.id for info in store.newest(9)] == [B, A]


def test_room_is_made_by_the_oldest_game_that_is_over_or_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    store = Store(tmp_path)
    games = {"0": (2, False), "1": (2, True), "2": (0, False), "3": (2, True), "4": (2, False)}
    for name, (actions, over) in games.items():
        store.keep(*saved(name * 16, 9e9 - int(name), actions, over))  # the clock goes back
    gone = [store.make_room({"1" * 16})]  # somebody looks at that one
    store.keep(*saved("5" * 16, 0.0, 0))
    gone += [store.make_room(())]
    store.keep(*saved("6" * 16))
    gone += [store.make_room(())]
    store.keep(*saved("7" * 16))
    assert [info.id[0] for info in gone if info] == ["2", "1", "3"]
    assert [info.id[0] for info in store.newest(9)] == ["7", "6", "5", "4", "0"]
    assert store.make_room(()) is not None  # 5, which is empty
    store.keep(*saved("8" * 16))
    with pytest.raises(Error, match="5 unfinished games are kept here: delete one"):
        store.make_room(())
    store.flush()
    assert {path.stem[0] for path in tmp_path.iterdir()} == set("04678")
