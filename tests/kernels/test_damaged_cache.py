"""Cached machine code: damaged files and those of others are never executed, but compiled anew."""

from __future__ import annotations

import errno
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import JIT
from plyground.game import module_of_file
from plyground.kernels import damaged_cache
from plyground.kernels.cache import _run, _write, fingerprint

pytestmark = [pytest.mark.compiled, pytest.mark.once, pytest.mark.skipif(not JIT, reason="the compiler is off")]
SOURCE = """
from numba import njit

@njit(cache=True)
def double(x):
    return x + x
"""


def load(folder: Path) -> Any:
    """The module as a new process would get it."""
    sys.modules.pop("plyground_doubles", None)
    _run("plyground_doubles", _write(folder / "kernels.py", SOURCE), SOURCE)
    return sys.modules["plyground_doubles"]


def hits(folder: Path) -> int:
    """How much of a call came from the cache; its result is always right."""
    double = load(folder).double
    assert double(3) == 6
    return sum(double.stats.cache_hits.values())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    before = os.umask(0o002)  # files of a group, if nothing is done about it
    try:
        assert hits(tmp_path) == 0
    finally:
        os.umask(before)
    assert hits(tmp_path) == 1
    return tmp_path


def cached(folder: Path, ending: str) -> Path:
    (found,) = (folder / "__pycache__").glob(f"*{ending}")
    return found


FILE = """
from numba import njit

@njit(cache=True)
def double(x):
    return x + x

def made():
    return njit(cache=True)(lambda x: x + 1)

HOLDS = (made(),)
"""


def test_a_game_file_does_not_use_numbas_own_cache(tmp_path: Path) -> None:
    """Nobody checks what lies in __pycache__ beside it, and numba executes it."""
    (tmp_path / "game.py").write_text(FILE)
    module = module_of_file(str(tmp_path / "game.py"), "game file")
    fingerprint(f"from {module.__name__} import HOLDS")  # as for kernels that use it
    assert module.double(3) == 6
    assert module.HOLDS[0](3) == 4
    assert not list(tmp_path.rglob("*.nb*"))


def test_two_processes_that_compile_for_different_types_at_once_do_not_share_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither has seen the other's index, and the first writes its code last, over nothing of the second's."""
    first, second = load(tmp_path).double, load(tmp_path).double
    file, other = first._cache._cache_file, second._cache._cache_file
    save = file._save_data

    def save_late(name: str, data: Any) -> None:
        monkeypatch.setattr(other, "_load_index", dict)
        assert second(1.5) == 3.0
        save(name, data)

    monkeypatch.setattr(file, "_save_data", save_late)
    assert first(3) == 6
    again = load(tmp_path).double
    assert (again(1.5), again(3)) == (3.0, 6)
    assert sum(again.stats.cache_hits.values()) == 1


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "flipped": lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
    "rubbish": lambda content: b"rubbish" * 100,
    "longer": lambda content: content + b"x",
}


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_anew_and_replaced(folder: Path, ending: str, damage: str) -> None:
    path = cached(folder, ending)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert hits(folder) == 0
    assert hits(folder) == 1


TWO = """
from numba import njit

@njit(cache=True)
def double(x):
    return x + x

@njit(cache=True)
def triple(x):
    return x + x + x
"""


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_valid_file_of_another_function_is_compiled_anew_and_replaced(tmp_path: Path, ending: str) -> None:
    def call() -> tuple[int, int, int]:
        sys.modules.pop("plyground_two", None)
        _run("plyground_two", _write(tmp_path / "kernels.py", TWO), TWO)
        module = sys.modules["plyground_two"]
        found = module.double(3), module.triple(3)
        return *found, sum(sum(each.stats.cache_hits.values()) for each in (module.double, module.triple))

    assert call() == (6, 9, 0)
    assert call() == (6, 9, 2)
    one, other = sorted((tmp_path / "__pycache__").glob(f"*{ending}"))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert call() == (6, 9, 0)
    assert call() == (6, 9, 2)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(__file__).with_name("exploded"),)


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_file_that_others_can_write_is_not_executed(folder: Path, ending: str) -> None:
    path, bomb = cached(folder, ending), pickle.dumps(Bomb())
    path.write_bytes(bomb + damaged_cache._sum(path, bomb))
    path.chmod(0o666)
    assert hits(folder) == 0
    assert not Path(__file__).with_name("exploded").exists()
    assert hits(folder) == 1, "it was replaced"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_of_somebody_else_is_not_executed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert hits(folder) == 0


def test_a_source_file_that_was_changed_is_not_executed(folder: Path) -> None:
    (folder / "kernels.py").write_text("raise SystemExit")
    assert load(folder).double(2) == 4
    assert (folder / "kernels.py").read_text() == SOURCE


def test_a_full_disk_costs_only_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    damaged_cache.warn.cache_clear()
    monkeypatch.setattr(os, "fchmod", full)
    assert hits(tmp_path) == 0
    assert "compiled code cannot be kept: No space left on device" in caplog.text
