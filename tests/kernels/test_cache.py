"""The compile cache: it is used, and it never runs old rules."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

import plyground as pg
from conftest import TINY
from plyground.errors import BrokenGame
from plyground.kernels import cache

PLAY = """
import sys, plyground as pg
game = pg.load(sys.argv[1])
batch = pg.Batch(game, 3)
batch.step([0, 1, 2])
print([str(state["place"]) for state in batch.next_states])
kernels = game.kernels()
print(sum(kernels.step_all.stats.cache_hits.values()))
"""


def _run(path: Path, folder: Path, before: str = "", **environment: str) -> tuple[list[str], str]:
    """Play in a fresh process; what it printed, and what it said while compiling."""
    done = subprocess.run(
        [sys.executable, "-c", before + PLAY, str(path)],
        env=os.environ | {"PLYGROUND_CACHE": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines(), done.stderr


def _written(place: Path) -> Path:
    """A game of two files: its step is taken from a module beside it."""
    shutil.rmtree(place / "__pycache__", ignore_errors=True)  # what it was before may have the same time
    helper = place / "stride.py"
    helper.write_text("from numba import njit\nSTRIDE = 1\n\n\n@njit\ndef stride():\n    return STRIDE\n")
    source = Path(TINY[1]).read_text()
    assert source.count("+= 1 if action == RIGHT") == 1
    source = source.replace("+= 1 if action == RIGHT", "+= stride.stride() if action == RIGHT")
    source = source.replace(
        "import numpy as np\n",
        f"import sys\nsys.path.insert(0, {str(place)!r})\nimport stride\nimport numpy as np\n",
    )
    path = place / "hops.py"
    path.write_text(source)
    return path


class Played(NamedTuple):
    printed: list[str]
    notice: str
    folder: Path  # with the kernels


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """What the first process that plays the game leaves."""
    place = tmp_path_factory.mktemp("hops")
    return Played(*_run(_written(place), place / "cache"), place / "cache")


@pytest.fixture
def played(first: Played, tmp_path: Path) -> Played:
    """The same, with a copy of the kernels."""
    return first._replace(folder=shutil.copytree(first.folder, tmp_path / "cache"))


@pytest.fixture
def hops(first: Played) -> Path:
    """The game, where the first process played it: a game's kernels belong to its path."""
    return _written(first.folder.parent)


def test_a_second_process_compiles_nothing_and_says_nothing(hops: Path, played: Played) -> None:
    assert played.notice.count("\n") == 1
    assert "compiling hops (rules), once for this machine" in played.notice
    second, silence = _run(hops, played.folder)
    assert played.printed == ["['3', '5', '4']", "0"]
    assert second == ["['3', '5', '4']", "1"]
    assert silence == ""


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("hops.py", "-1 if action == LEFT", "-2 if action == LEFT"),
        ("hops.py", 'state["length"] // 2\n    state["repeats"]', 'state["length"] // 2 - 1\n    state["repeats"]'),
        ("stride.py", "STRIDE = 1", "STRIDE = 2"),
        ("stride.py", "return STRIDE", "return STRIDE + 1"),
    ],
)
def test_an_edited_rule_is_seen_even_in_another_file(
    hops: Path, played: Played, file: str, right: str, wrong: str
) -> None:
    edited = hops.parent / file
    stamp, source = edited.stat(), edited.read_text()
    assert source.count(right) == 1
    edited.write_text(source.replace(right, wrong))
    os.utime(edited, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # even where the file's time does not tell
    after, _ = _run(hops, played.folder, PYTHONDONTWRITEBYTECODE="1")
    assert after[0] != played.printed[0]
    assert after[1] == "0"


def test_an_edited_rule_is_seen_within_one_process(hops: Path) -> None:
    def places() -> list[int]:
        batch = pg.Batch(pg.load(str(hops)), 2)
        batch.step([0, 1])
        return batch.next_states["place"].tolist()

    assert places() == [3, 5]
    hops.write_text(hops.read_text().replace("-1 if action == LEFT", "-2 if action == LEFT"))
    assert places() == [2, 5]


def test_checked_bounds_are_another_module(hops: Path, played: Played) -> None:
    checked, _ = _run(hops, played.folder, NUMBA_BOUNDSCHECK="1")
    assert checked[1] == "0", "kernels compiled without checks were taken for checked ones"


TABLE = np.arange(5)


@njit
def reads_table() -> int:
    return TABLE[2]


@njit(fastmath=True)
def sums(x: float) -> float:
    return x + x


def _digest(function: object) -> str:
    import hashlib

    digest = hashlib.sha256()
    cache._feed(digest, function, set())
    return digest.hexdigest()


def test_tables_options_closures_and_inner_functions_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _digest(reads_table)
    monkeypatch.setitem(globals(), "TABLE", np.array([0, 1, 9, 3, 4]))
    assert _digest(reads_table) != before
    assert _digest(sums) != _digest(njit(sums.py_func))

    def make(k: int):
        def inner() -> int:
            return (lambda: k)()

        return inner

    assert _digest(make(1)) != _digest(make(2))
    assert _digest(make(1)) == _digest(make(1))


class Size(IntEnum):
    STRIDE = 1


@njit
def reads_enum() -> int:
    return Size.STRIDE.value


def test_an_enumeration_counts_by_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _digest(reads_enum)
    monkeypatch.setitem(globals(), "Size", IntEnum("Size", {"STRIDE": 3}))
    assert _digest(reads_enum) != before
    monkeypatch.setitem(globals(), "Size", type("Size", (), {"STRIDE": 3}))
    with pytest.raises(BrokenGame, match="its changes could not be noticed"):
        _digest(reads_enum)


def test_a_function_is_bound_by_identity_not_by_name(tmp_path: Path) -> None:
    source = Path(TINY[1]).read_text()
    source += """

def make():
    @njit
    def write_line(state, seat, out):
        out[:] = 5
    return write_line


ENCODERS = (Encoder("line", 1, (LONGEST + 1,), np.float32, make(), "made by a function"),)
"""
    path = tmp_path / "made.py"
    path.write_text(source)
    with pytest.raises(BrokenGame, match="write_line must stand in its module"):
        pg.load(str(path)).start().encode("line")


def test_many_threads_may_ask_for_a_game_at_once(hops: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda seed: pg.Batch(pg.load(str(hops)), 4, seed), range(8)))
    assert len({id(batch.game.kernels()) for batch in batches}) == 1


def test_a_game_loaded_before_an_edit_keeps_its_rules(hops: Path) -> None:
    old = pg.load(str(hops))  # not compiled yet
    hops.write_text(hops.read_text().replace("-1 if action == LEFT", "-2 if action == LEFT"))
    new = pg.load(str(hops))
    places = [int(game.start().play("left").state["place"]) for game in (old, new)]
    assert places == [3, 2]


def test_a_global_that_cannot_be_followed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TABLE", {"a": object()})
    with pytest.raises(BrokenGame, match="its changes could not be noticed"):
        _digest(reads_table)


def test_where_nothing_can_be_kept_it_compiles_anew(hops: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    result, notice = _run(hops, blocked)
    assert result[0] == "['3', '5', '4']"
    assert "cannot keep compiled games in" in notice


READ_ONLY = """
from plyground import private_folder
usable = private_folder._problem
read_only = "Read-only file system"
private_folder._problem = lambda folder, ours: read_only if "PLACE" in str(folder) else usable(folder, ours)
"""


@pytest.mark.parametrize("damage", [b"", b"x"])
def test_what_is_compiled_on_a_disk_that_is_read_only_is_not_compiled_again(
    hops: Path, played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    (code,) = [path for path in played.folder.rglob("*.nbc") if "step_all" in path.name]
    code.write_bytes(code.read_bytes() + damage)
    monkeypatch.setattr(f"{__name__}.PLAY", READ_ONLY.replace("PLACE", played.folder.name) + PLAY)
    (tmp_path / "temporary").mkdir()
    for hits in ("0" if damage else "1", "1"):
        result, notice = _run(hops, played.folder, TMPDIR=str(tmp_path / "temporary"))
        assert result == ["['3', '5', '4']", hits]
        assert ("Read-only file system" in notice, "compiling" in notice) == (True, False)


def test_kernels_nobody_used_for_weeks_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    day, now = 86400, 1e9  # what time it is now does not matter
    for age in range(cache.MANY_KEPT + 4):
        used = tmp_path / f"plyground_hops_{age:02}" / "used"
        used.parent.mkdir()
        used.touch()
        os.utime(used, (now - age * 7 * day, now - age * 7 * day))
    (tmp_path / "plyground_other_99").mkdir()
    in_use = tmp_path / f"plyground_hops_{cache.MANY_KEPT + 1:02}"
    monkeypatch.setattr(cache, "_USED", {in_use})
    cache._forget(tmp_path, "plyground_hops_")
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"plyground_hops_{age:02}" for age in range(cache.MANY_KEPT)),  # some are kept whatever their age
        in_use.name,
        "plyground_other_99",
    }


def test_a_clock_that_jumps_removes_no_kernels(hops: Path, played: Played) -> None:
    jumps = "import time, random; right = time.time; time.time = lambda: right() + random.uniform(-1, 1) * 1e8\n"
    found, silence = _run(hops, played.folder, jumps)
    assert found == [played.printed[0], "1"]
    assert silence == ""
    (kernels,) = played.folder.glob("plyground_rules_hops_*")
    os.utime(kernels / "used", (1e8, 1e8))  # written by a file server whose clock is wrong
    assert _run(hops, played.folder, jumps)[0] == [played.printed[0], "1"]


def test_a_loop_over_rows_becomes_a_grid_stride_loop() -> None:
    """Only in kernels, and only the outermost: a body for one row may have loops of its own."""
    source = """
import numpy as np

@njit
def body(row, work):
    for k in range(4):
        row[k] = work[0]


@uncounted_loop
def all_rows(rows, work):
    own = np.empty(1, np.uint64)
    for i in range(len(rows)):
        for k in range(4):
            body(rows[i], work[0])
"""
    wanted = """
from numba import cuda
import numpy as np

@njit
def body(row, work):
    for k in range(4):
        row[k] = work[0]


@cuda.jit(cache=True)
def all_rows(rows, work):
    own = cuda.local.array(1, np.uint64)
    for i in range(cuda.grid(1), len(rows), cuda.gridsize(1)):
        for k in range(4):
            body(rows[i], work[cuda.grid(1)])
"""
    assert cache._with_strides(source) == wanted
