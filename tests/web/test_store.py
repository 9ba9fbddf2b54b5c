"""Games on the server's disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyground.errors import Error
from plyground.web import store as module
from plyground.web.messages import TableInfo
from plyground.web.store import Store
from plyground.web.table import FORMAT, Saved


def saved(name: str, changed: float = 0.0) -> tuple[Saved, TableInfo]:
    game = Saved(FORMAT, name, "chess", {}, ["you", "random"], ["You", "random"], 1, "", [3, 4], changed=changed)
    return game, TableInfo(name, "chess", "Chess", 2, "White to move", False, changed)


def test_games_are_there_after_a_restart(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(*saved("a" * 16, 1.0))
    store.keep(*saved("b" * 16, 2.0))
    store.flush()
    again = Store(tmp_path)
    assert [info.id[0] for info in again.newest(5)] == ["b", "a"]
    assert again.read("a" * 16).actions == [3, 4]


def test_a_game_is_read_as_it_is_now_even_before_it_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(*saved("a" * 16))
    assert store.read("a" * 16).id == "a" * 16


def test_a_game_that_could_not_be_written_waits_for_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.keep(*saved("a" * 16))
    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", fail)
        with pytest.raises(Error, match="keep the game"):
            store.flush()
        assert store.read("a" * 16).actions == [3, 4]
    store.flush()
    assert Store(tmp_path).read("a" * 16).actions == [3, 4]
    assert not store.unwritten


def fail(*arguments: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_removed_game_stays_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(*saved("a" * 16))
    store.remove("a" * 16)
    store.flush()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Error, match="no game"):
        store.read("a" * 16)


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 16, "a" * 15, "a" * 16 + "/.."])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(Error):
        Store(tmp_path).read(name)
    with pytest.raises(Error):
        Store(tmp_path).remove(name)


def test_damaged_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / f"{'a' * 16}.json").write_text("{")
    (tmp_path / f"{'b' * 16}.json").write_text('{"saved": {"format": 99}}')
    (tmp_path / "notes.json").write_text("{}")
    assert Store(tmp_path).infos == {}


def test_beyond_the_limit_the_oldest_game_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    store = Store(tmp_path)
    for number in range(5):
        store.keep(*saved(f"{number:016x}", float(number)))
    store.flush()
    assert len(list(tmp_path.iterdir())) == 3
    assert [info.id[-1] for info in store.newest(9)] == ["4", "3", "2"]
